// Answers that are sent as they are read, in steps (contract 9.11): how many there are, and how each goes on.
import { Refusal } from '../contract/errors.ts';
import { NamesOfSteps } from '../queries/adjusted.ts';
import type { Answer, QueryRequest, StepPlace } from '../queries/query.ts';
import { httpLimits } from './limits.ts';
import { freeBody, ownAnswer } from './response.ts';
import { full } from './threads/query-queue.ts';

type Step = Answer & { readonly kind: 'answer' };

/** Reads a step. @throws QueueError */
type Read = (step: QueryRequest) => Promise<Answer>;

/** A streamed answer that has begun. */
export type StreamedAnswer = {
  readonly first: Step;
  /**
   * The bytes that follow those before; null at the end. @throws where the rest cannot be had: the answer
   * must not end as if it were whole
   */
  readonly rest: () => Promise<Uint8Array | null>;
  /** What the steps that were read until now have in all. */
  readonly sofar: () => Readonly<StepSum>;
};

/** What the steps of an answer have in all. */
class StepSum {
  rows = 0;
  /** Until when they are the answer to the same request, epoch milliseconds. */
  goodUntilMs = Number.POSITIVE_INFINITY;
  readonly adjusted = new NamesOfSteps();
  /** Those of the last step: after a last one without rows they say why there are none. */
  headers: Step['headers'] = {};

  add({ rows = 0, goodUntilMs = Number.NEGATIVE_INFINITY, adjusted, headers }: Step): void {
    this.rows += rows;
    this.headers = headers;
    if (adjusted !== undefined) this.adjusted.add(adjusted);
    this.goodUntilMs = Math.min(this.goodUntilMs, goodUntilMs);
  }
}

/** The streamed answers of one serving process. */
export class StreamedAnswers {
  /** Those that have begun, and have not been sent: how many each key has, by its id. */
  readonly #open = new Map<string | null, number>();

  /**
   * The answer to a request of a key, once its first step is read. Its place is free once `held` is released.
   * @throws Refusal, QueueError; where there are as many as may be, too
   */
  async begin(
    keyId: string | null,
    request: QueryRequest,
    read: Read,
    held: DisposableStack,
  ): Promise<StreamedAnswer> {
    held.defer(this.#take(keyId));
    const first = await stepOf(request, read);
    const sum = new StepSum();
    sum.add(first);
    const rest = stepsAfter(first.rest, request, read, sum, held);
    // Headers wait for the first row: an answer without any says in them why.
    let next = sum.rows === 0 ? await rest() : null;
    return {
      first: { ...first, headers: { ...sum.headers, ...first.headers } },
      rest: async () => {
        const piece = next ?? (await rest());
        next = null;
        return piece;
      },
      sofar: () => sum,
    };
  }

  /** Takes one of the places until the result is called, once. */
  #take(keyId: string | null): () => void {
    const { streamedAnswersMax, streamedAnswersPerKeyMax } = httpLimits;
    const own = this.#open.get(keyId) ?? 0;
    if (own >= streamedAnswersPerKeyMax) {
      const message = `${own} bulk answers of this key are not read yet: read them, then try again.`;
      throw new Refusal('unavailable', { message });
    }
    if (this.#open.values().reduce((sum, count) => sum + count, 0) >= streamedAnswersMax) throw full;
    this.#open.set(keyId, own + 1);
    return () => {
      const left = this.#open.get(keyId)! - 1;
      if (left === 0) this.#open.delete(keyId);
      else this.#open.set(keyId, left);
    };
  }
}

/** The steps after the first. Once one is asked for, the next is read while it is sent. */
function stepsAfter(
  place: StepPlace | undefined,
  request: QueryRequest,
  read: Read,
  sum: StepSum,
  held: DisposableStack,
): StreamedAnswer['rest'] {
  const begin = (from: StepPlace | undefined): Promise<Step> | null => {
    if (from === undefined) return null;
    const step = stepOf({ ...request, from }, read);
    // It is thrown where it is waited for, unless the caller has gone by then.
    step.catch(() => undefined);
    return step;
  };
  /** Undefined until the first of them is asked for; null behind the last. */
  let ahead: Promise<Step> | null | undefined;
  held.defer(() => void ahead?.then(freeBody, () => undefined));
  return async () => {
    // A step may have no row: that of a page of instruments without bars in the range.
    for (let coming = ahead === undefined ? begin(place) : ahead; coming !== null; coming = ahead) {
      const step = await coming;
      ahead = begin(step.rest);
      sum.add(step);
      if (step.body.length > 0) return step.body;
    }
    return null;
  };
}

async function stepOf(request: QueryRequest, read: Read): Promise<Step> {
  const answer = await read(request);
  if (answer.kind === 'refusal') throw new Refusal(answer.word, answer.facts);
  return ownAnswer(answer);
}
