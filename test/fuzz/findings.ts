// What a run of the fuzzer found, and how it tells of a wrong answer.

import { createHistogram } from 'node:perf_hooks';
import type { Known } from './answers.ts';
import { judge, type Reply } from './judge.ts';
import type { Trial } from './trial.ts';

/** How many answers there were of each class, and how long they took. */
export class Findings {
  readonly outcomes = new Map<string, number>();
  /** In microseconds; of one size, however many there are. */
  readonly #took = createHistogram();

  /** Counts an answer. @throws where it is wrong, with all that is needed to ask it again */
  note(
    sent: { readonly seed: number; readonly index: number; readonly trial: Trial },
    reply: Reply,
    tookMs: number,
    known: Known,
  ): void {
    this.#took.record(Math.max(1, Math.round(tookMs * 1_000)));
    try {
      const outcome = judge(reply, sent.trial, known);
      this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    } catch (error) {
      throw wrong(sent, reply, error as Error);
    }
  }

  /** The time below which this part of the answers came, 1 for all. */
  quantileMs(part: number): number {
    return this.#took.percentile(part * 100) / 1_000;
  }

  /** All of it in one line. */
  summary(): string {
    const good = this.outcomes.get('ok') ?? 0;
    const times = [0.5, 0.99, 1].map((part) => this.quantileMs(part).toFixed(1)).join(' / ');
    return `${this.#took.count} requests, ${good} good, ${this.outcomes.size} classes of answers, ${times} ms (half, 99 %, all)`;
  }
}

function wrong(
  { seed, index, trial }: { seed: number; index: number; trial: Trial },
  reply: Reply,
  error: Error,
): Error {
  const shown = { ...trial, target: trial.target.slice(0, 2_000), answer: reply.body.slice(0, 500) };
  const message = `request ${index} of seed ${seed}: ${error.message}\n${JSON.stringify(shown, null, 1)}`;
  return new Error(message, { cause: error });
}
