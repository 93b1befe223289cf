// What a request may end with instead of an answer.
import type { ErrorWord } from '../contract/index.ts';

/**
 * Why there is no answer: a word of the service's catalogue (contract 6.3), or one of the client's own.
 * `unreachable`: no answer came, or a part of one. `timed_out`: none came in time. `bad_answer`: what answers
 * is no Bourse. `ignored_parameter`: the service does not know a parameter, so its answer is to another
 * question.
 */
export type ErrorCode = ErrorWord | 'unreachable' | 'timed_out' | 'bad_answer' | 'ignored_parameter';

/** The known facts of an error beside its message. */
export type ErrorFacts = {
  readonly error: ErrorCode;
  readonly status?: number | undefined;
  readonly param?: string | undefined;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
};

/**
 * A request that failed; no text of it has the key. An abort is no such error: it rejects with the reason of
 * its signal.
 */
export class BourseError extends Error {
  override readonly name = 'BourseError';
  /** The word to decide by. */
  readonly error: ErrorCode;
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** The parameter at fault, as it is on the wire. */
  readonly param: string | undefined;
  /** What may help, such as symbols that are nearly the one that was asked for. */
  readonly hint: string | undefined;
  /** Names the request in the log of the service. */
  readonly requestId: string | undefined;
  /** Milliseconds after which to ask again, where the service told. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message);
    this.error = facts.error;
    this.status = facts.status;
    this.param = facts.param;
    this.hint = facts.hint;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}
