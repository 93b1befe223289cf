// What a run of the fuzzer found, and how it tells of a wrong answer.

import { createHistogram } from 'node:perf_hooks';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { dataEndpoints } from '../../src/contract/index.ts';
import type { AnyName, Known } from './answers.ts';
import { judge, type Reply } from './judge.ts';
import type { Trial } from './trial.ts';

/** What kind of good answer a request asks for. */
const goodKind = ({ endpoint, format, texts }: Trial): string =>
  `${endpoint} ${format}${texts.next_page_key ? ' by page key' : ''}`;

/** How many answers there were of each class, and how long they took. */
export class Findings {
  readonly outcomes = new Map<string, number>();
  /** Good answers that held anything, by endpoint, format, and whether a page key had been sent. */
  readonly full = new Map<string, number>();
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
      this.#count(this.outcomes, outcome);
      if (outcome === 'ok') this.#count(this.full, goodKind(sent.trial));
    } catch (error) {
      throw wrong(sent, reply, error as Error);
    }
  }

  #count(counts: Map<string, number>, what: string): void {
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }

  /** What no good answer had that held anything: an endpoint, one of its formats, a page behind the first. */
  missing(): { readonly endpoint: AnyName; readonly kind: string }[] {
    const kinds = (Object.entries(dataEndpoints) as [AnyName, Endpoint][]).flatMap(
      ([endpoint, { parameters, isStreamed }]) =>
        [
          isStreamed ? 'arrow' : 'json',
          ...('format' in parameters ? ['csv'] : []),
          ...('next_page_key' in parameters ? ['json by page key'] : []),
        ].map((kind) => ({ endpoint, kind })),
    );
    return kinds.filter(({ endpoint, kind }) => !this.full.has(`${endpoint} ${kind}`));
  }

  /** The time below which this part of the answers came, 1 for all. */
  quantileMs(part: number): number {
    return this.#took.percentile(part * 100) / 1_000;
  }

  /** All of it in one line. */
  summary(): string {
    const good = (this.outcomes.get('ok') ?? 0) + (this.outcomes.get('ok, empty') ?? 0);
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
