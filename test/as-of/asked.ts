// A store filled by the imports, and what the query runner answers of it as of a moment.
import assert from 'node:assert/strict';
import { after } from 'node:test';
import type { ErrorFacts } from '../../src/contract/errors.ts';
import type { PriceBasis } from '../../src/contract/file-words.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import type { Answer, StepPlace } from '../../src/queries/query.ts';
import { matchRoute, parseRequest, readQuery } from '../../src/serve/route.ts';
import { openStore } from '../../src/store/engines.ts';
import type { Store } from '../../src/store/store.ts';
import { type FileRow, type Filling, fillStore } from '../importing.ts';
import { TestFolder } from '../stores.ts';

export type { FileRow, Filling };

/** The result of an answer: lists have `data`. */
type Result = {
  readonly count?: number;
  readonly data?: readonly Readonly<Record<string, unknown>>[];
  readonly next_page_key?: string | null;
  readonly [field: string]: unknown;
};

const folder = new TestFolder();
const opened = new Set<Store>();
let stores = 0;
after(async () => {
  for (const store of opened) await store.close();
  folder.close();
});

/** One store, asked as a service whose clock stands still. */
export class Asked {
  readonly #runner: QueryRunner;
  readonly nowMs: number;

  readonly #store: Store;

  private constructor(store: Store, nowMs: number) {
    this.#store = store;
    this.#runner = new QueryRunner(store, new Uint8Array(32).fill(7));
    this.nowMs = nowMs;
  }

  /** A store that is filled at a moment, complete through it, or as far as its files tell. */
  static async filled(
    nowMs: number,
    fillings: readonly Filling[],
    { basis = 'raw', isComplete = true }: { basis?: PriceBasis; isComplete?: boolean } = {},
  ): Promise<Asked> {
    const url = folder.storeUrl(`as-of-${stores++}`);
    await fillStore(url, folder.folder, nowMs, fillings, isComplete ? nowMs : null, basis);
    const store = await openStore(url, 'read');
    opened.add(store);
    return new Asked(store, nowMs);
  }

  /** The same store, asked at another moment. */
  at(nowMs: number): Asked {
    return new Asked(this.#store, nowMs);
  }

  async close(): Promise<void> {
    opened.delete(this.#store);
    await this.#store.close();
  }

  /**
   * The answer to path and query, without the beginning `/api/v2/`; with the moment of the caller's key where
   * it has one; of a streamed answer one step.
   */
  async ask(written: string, pinned?: string, from?: StepPlace): Promise<Answer> {
    const [path, query = ''] = `/api/v2/${written}`.split('?') as [string, string?];
    const match = matchRoute(path);
    assert.ok(match, written);
    const { query: sent } = readQuery(query, () => true);
    const pin = pinned === undefined ? {} : { pinnedMs: Date.parse(pinned) };
    const parameters = parseRequest(match, sent);
    const endpoint = match.route.name;
    const step = from === undefined ? pin : { ...pin, from };
    const request = { endpoint, parameters, nowMs: this.nowMs, wrapCsv: false, ...step };
    return this.#runner.run(request);
  }

  /** The whole text of a streamed answer, or the refusal of one of its steps. */
  async stream(written: string, pinned?: string): Promise<string | Answer> {
    let text = '';
    let from: StepPlace | undefined;
    do {
      const step = await this.ask(written, pinned, from);
      if (step.kind === 'refusal') return step;
      text += Buffer.from(step.body).toString();
      from = step.rest;
    } while (from !== undefined);
    return text;
  }

  /** The result of an answer, and its headers. Fails for a refusal. */
  async result(written: string, pinned?: string): Promise<Result & { readonly headers: Headers }> {
    const answer = await this.ask(written, pinned);
    if (answer.kind !== 'answer') assert.fail(`${written}: ${answer.facts.message}`);
    const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: Result };
    return { ...result, headers: answer.headers };
  }

  /** The refusal of a request. Fails for an answer. */
  async refusal(written: string, pinned?: string): Promise<ErrorFacts & { readonly word: string }> {
    const answer = await this.ask(written, pinned).catch((error: unknown) => {
      const { word, facts } = error as { word: string; facts: ErrorFacts };
      return { kind: 'refusal', word, facts } as const;
    });
    if (answer.kind !== 'refusal') assert.fail(`${written} was not refused`);
    return { word: answer.word, ...answer.facts };
  }
}

type Headers = Readonly<Record<string, string>>;
