// Files as vendors write them, imported in this process as the command line does it, and the bars that are
// then served.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { historicalBars } from '../../src/contract/bars.ts';
import { parseParameters } from '../../src/contract/endpoint.ts';
import type { PriceBasis } from '../../src/contract/file-words.ts';
import { importFile, requestOf } from '../../src/imports/load/importers.ts';
import type { ImportReport } from '../../src/imports/load/run.ts';
import type { Told } from '../../src/imports/map/cell-forms.ts';
import { chooseMapping } from '../../src/imports/map/choose-mapping.ts';
import { openSources } from '../../src/imports/read/source.ts';
import { findZone } from '../../src/market/calendar/zone.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { openStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { openToWrite } from '../stores.ts';

/** What is said of a file on the command line. */
export type Flags = {
  readonly dataset?: string;
  readonly preset?: string;
  readonly map?: string;
  readonly told?: Told;
  readonly zone?: string;
  readonly prices?: PriceBasis;
  readonly fields?: Readonly<Record<string, string>>;
};

/**
 * A bar as it is served: its datetime, from DAY on its label date, then open, high, low, close, volume, vwap.
 */
export type ServedBar = readonly [datetime: string, ...values: (number | null)[]];

type Page = { readonly data: readonly Readonly<Record<string, string | number | null>>[] };

const values = ['open', 'high', 'low', 'close', 'volume', 'vwap'];

/** A store of its own for each file. */
export class Vendor {
  readonly shop = new Workshop();
  #stores = 0;
  url = '';

  /** Imports a file of this name and content into a new store, or the one before it. @throws FileProblem */
  async import(
    name: string,
    content: string | Buffer,
    flags: Flags = {},
    isNew = true,
  ): Promise<ImportReport> {
    const path = this.shop.path(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (isNew) this.url = this.shop.storeUrl(String(++this.#stores));
    const { dataset = 'bars', preset, map, told, zone, prices, fields = {} } = flags;
    const store = await openToWrite(this.url);
    try {
      const choose = chooseMapping(dataset, preset, map, told);
      let report: ImportReport | null = null;
      for await (const file of openSources(path, process.stdin, choose)) {
        if (file instanceof Error) throw file;
        try {
          const said = { zone: zone === undefined ? undefined : findZone(zone)!, prices };
          report = await importFile(store, dataset, {
            ...requestOf(file, said),
            flags: new Map(Object.entries(fields)),
            source: null,
            dryRun: false,
            nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
          });
        } finally {
          await file.close();
        }
      }
      return report!;
    } finally {
      await store.close();
    }
  }

  /** The message that a file is refused with. */
  async refusal(name: string, content: string | Buffer, flags: Flags = {}): Promise<string> {
    try {
      await this.import(name, content, flags);
    } catch (error) {
      return (error as Error).message.replaceAll(`${this.shop.folder}/`, '');
    }
    throw new Error(`${name} was not refused`);
  }

  /** The bars that are served of a symbol, `stock/US:AAPL`. */
  async served(
    symbol: string,
    interval: string,
    more: Readonly<Record<string, string>> = {},
  ): Promise<ServedBar[]> {
    const [asset = '', ...names] = symbol.split('/');
    const name = names.join('/');
    const texts = {
      schema_asset: asset,
      country_symbol: name,
      interval,
      session: 'extended',
      session_date: 'true',
      from_date: '1990-01-01',
      to_date: '2030-01-01',
      limit: '1000',
      ...more,
    };
    const store = await openStore(this.url, 'read');
    try {
      const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
      const parameters = parseParameters(historicalBars, new Map(Object.entries(texts)));
      const nowMs = Date.parse('2030-01-01T00:00:00Z');
      const answer = await runner.run({ endpoint: 'historicalBars', parameters, nowMs, wrapCsv: false });
      assert.equal(answer.kind, 'answer', answer.kind === 'refusal' ? answer.facts.message : '');
      const { body } = answer as { body: Uint8Array };
      const { result } = JSON.parse(Buffer.from(body).toString()) as { result: Page };
      return result.data.map((bar) => [
        (interval.endsWith('M') ? bar.datetime : bar.session_date) as string,
        ...values.map((field) => bar[field] as number | null),
      ]);
    } finally {
      await store.close();
    }
  }

  close(): void {
    this.shop.close();
  }
}
