// Bars through the imports and the queries, in process: what is imported, and what every kind of request then
// gets.
import assert from 'node:assert/strict';
import { historicalBars, latestBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import { type FileRow, fillStore } from './importing.ts';
import { TestFolder } from './stores.ts';

/** A bar as it is served. */
export type ServedBar = {
  readonly exchange: string | null;
  readonly datetime: string;
  readonly close_datetime: string;
  readonly session_date: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
  readonly vwap: number | null;
};
type Page = { readonly next_page_key: string | null; readonly data: ServedBar[] };
type Raw = Readonly<Record<string, string>>;

/** The market that is asked about. */
export type Named = {
  readonly asset_schema: string;
  readonly country_iso_code: string;
  readonly symbol: string;
};

/** The bars of one instrument, in a store of their own or in one that a test has filled. */
export class AskedBars {
  readonly folder = new TestFolder();
  readonly url: string;
  readonly #named: Named;
  /** The moment of imports and requests. */
  nowMs = Date.parse('2030-01-01T00:00:00Z');
  #reader: Store | null = null;
  #runner: QueryRunner | null = null;

  constructor(named: Named, url?: string) {
    this.#named = named;
    this.url = url ?? this.folder.storeUrl();
  }

  /**
   * Imports rows of a dataset about the instrument; those of bars have at least `interval`, `datetime` and
   * their prices, and are complete until now unless only their last ones tell.
   */
  import(rows: readonly FileRow[], dataset = 'bars', isComplete = true): Promise<void> {
    const named = rows.map((row) => ({ ...this.#named, ...row }));
    const completeMs = isComplete ? this.nowMs : null;
    return fillStore(this.url, this.folder.folder, this.nowMs, [[dataset, named]], completeMs);
  }

  async #page(endpoint: 'historicalBars' | 'latestBars', raw: Raw): Promise<Page> {
    this.#reader ??= await openStore(this.url, 'read');
    this.#runner ??= new QueryRunner(this.#reader, new Uint8Array(32).fill(7));
    const { asset_schema, country_iso_code, symbol } = this.#named;
    const country_symbol = `${country_iso_code}:${symbol}`;
    const texts = new Map(
      Object.entries({ schema_asset: asset_schema, country_symbol, session_date: 'true', ...raw }),
    );
    const parameters =
      endpoint === 'latestBars' ? parseParameters(latestBars, texts) : parseParameters(historicalBars, texts);
    const answer = await this.#runner.run({ endpoint, parameters, nowMs: this.nowMs, wrapCsv: false });
    if (answer.kind !== 'answer') assert.fail(answer.facts.message);
    return (JSON.parse(Buffer.from(answer.body).toString()) as { result: Page }).result;
  }

  async latest(interval: string, raw: Raw = {}): Promise<ServedBar[]> {
    return (await this.#page('latestBars', { interval, ...raw })).data;
  }

  /** Every bar of a range, page by page; no page is empty but an only one (contract 4.2). */
  async history(interval: string, from: string, to: string, raw: Raw = {}): Promise<ServedBar[]> {
    const bars: ServedBar[] = [];
    let next_page_key = '';
    for (;;) {
      const asked = { interval, from_date: from, to_date: to, limit: '1000', next_page_key, ...raw };
      const page = await this.#page('historicalBars', asked);
      bars.push(...page.data);
      assert.ok(page.data.length > 0 || next_page_key === '', 'an empty page');
      if (page.next_page_key === null) return bars;
      next_page_key = page.next_page_key;
    }
  }

  async close(): Promise<void> {
    await this.#reader?.close();
    this.folder.close();
  }
}
