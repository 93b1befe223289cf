// Answers that are sent as they are read, in steps (contract 9.11): how many there are, and how each goes on.
import { Refusal } from '../contract/errors.ts';
import type { Answer, QueryRequest, StepPlace } from '../queries/query.ts';
import { httpLimits } from './limits.ts';
import { full } from './queue/query-queue.ts';
import { copyOf } from './response.ts';

type Step = Answer & { readonly kind: 'answer' };

type Submit = (request: QueryRequest, isGone: () => boolean) => Promise<Answer>;

/** A streamed answer that has begun. */
export type StreamedAnswer = {
  readonly first: Step;
  /** The bytes that follow those before; null at the end. @throws where the rest cannot be had: the answer must not end as if it were whole */
  readonly rest: () => Promise<Uint8Array | null>;
  /** The rows of the steps that were read until now, and until when they are the answer to the same request, epoch milliseconds. */
  readonly sofar: () => { readonly rows: number; readonly goodUntilMs: number };
  /** To be called once it has been sent, or never will be. */
  readonly release: () => void;
};

/** What the steps of an answer have in all. */
class StepSum {
  rows = 0;
  goodUntilMs = Number.POSITIVE_INFINITY;

  add({ rows = 0, goodUntilMs = Number.NEGATIVE_INFINITY }: Step): void {
    this.rows += rows;
    this.goodUntilMs = Math.min(this.goodUntilMs, goodUntilMs);
  }
}

/** The streamed answers of one serving process. */
export class StreamedAnswers {
  readonly #submit: Submit;
  /** Those that have begun, and have not been sent. */
  #open = 0;

  constructor(submit: Submit) {
    this.#submit = submit;
  }

  /** The answer to a request, once its first step is read. @throws Refusal, QueueError; `full` where there are as many as may be */
  async begin(request: QueryRequest, isGone: () => boolean): Promise<StreamedAnswer> {
    if (this.#open >= httpLimits.streamedAnswersMax) throw full;
    this.#open++;
    let isOpen = true;
    const release = (): void => {
      if (isOpen) this.#open--;
      isOpen = false;
    };
    try {
      const first = await this.#step(request, isGone);
      const sum = new StepSum();
      sum.add(first);
      return { first, rest: this.#stepsAfter(first.rest, request, isGone, sum), sofar: () => sum, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #stepsAfter(
    place: StepPlace | undefined,
    request: QueryRequest,
    isGone: () => boolean,
    sum: StepSum,
  ): StreamedAnswer['rest'] {
    let from = place;
    return async () => {
      // A step may have no row: that of a page of instruments without bars in the range.
      while (from !== undefined) {
        const step = await this.#step({ ...request, from }, isGone);
        sum.add(step);
        const { body, rest } = step;
        from = rest;
        if (body.length > 0) return body;
      }
      return null;
    };
  }

  async #step(request: QueryRequest, isGone: () => boolean): Promise<Step> {
    const answer = await this.#submit(request, isGone);
    if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
    return answer.release === undefined ? answer : copyOf(answer);
  }
}
