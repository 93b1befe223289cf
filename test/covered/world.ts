// A store to which files, deletions, undos and changes of calendars come at given moments, beside the journal
// of them.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { formatDay, parseInstant } from '../../src/base/instant.ts';
import { historicalBars } from '../../src/contract/bars.ts';
import { seriesCoverage } from '../../src/contract/coverage.ts';
import { type Endpoint, parseParameters } from '../../src/contract/endpoint.ts';
import { interval as intervalOf } from '../../src/contract/interval.ts';
import { writeGroup } from '../../src/imports/load/import-group.ts';
import { importFile, importInto } from '../../src/imports/load/importers.ts';
import type { ImportReport, ImportRequest } from '../../src/imports/load/run.ts';
import { zoneOf } from '../../src/market/calendar/zone.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { deleteBars } from '../../src/runs/delete-bars.ts';
import { undoRun } from '../../src/runs/undo-run.ts';
import { Calendars } from '../../src/series/calendars.ts';
import { runsOf } from '../../src/series/run-spans.ts';
import { asStored } from '../../src/series/series.ts';
import { lastFinished } from '../../src/series/unfinished.ts';
import { rowWith } from '../../src/store/all-rows.ts';
import { openStore } from '../../src/store/engines.ts';
import { series } from '../../src/store/schema/bars.ts';
import { instruments } from '../../src/store/schema/reference.ts';
import type { Store } from '../../src/store/store.ts';
import { opened } from '../importing.ts';
import { openToWrite, type TestFolder } from '../stores.ts';
import type { Deletion, Stored } from './facts.ts';
import {
  boundsOf,
  type Command,
  type Entry,
  type Holiday,
  iso,
  Journal,
  type MarketName,
  placeOf,
  type Terms,
  textOf,
} from './journal.ts';
import type { ServedBar } from './oracle.ts';

type BarRecord = Readonly<Record<'datetime' | 'close_datetime', string>> &
  Readonly<Record<'open' | 'high' | 'low' | 'close' | 'volume', number>>;

type ListRecord = Readonly<Record<'interval' | 'first_datetime' | 'last_datetime', string>> & {
  readonly bars: number;
};

/** A served bar as one line. */
export const lineOf = ({ openMs, closeMs, first, high, low, last, volume }: ServedBar): string =>
  `${iso(openMs).slice(0, 16)}..${iso(closeMs).slice(5, 16)} ${[first, high, low, last].join('/')} x${volume}`;

let worlds = 0;

/** Imports the files of one command at one moment: each is a run. The reports in order. */
async function importCommand(store: Store, requests: readonly ImportRequest[]): Promise<ImportReport[]> {
  const pending: { settle(): ImportReport }[] = [];
  await writeGroup(store, async (group) => {
    for (const request of requests) pending.push(await importInto(group, 'bars', request));
  });
  return pending.map((one) => one.settle());
}

export class World {
  readonly journal: Journal;
  readonly #folder: TestFolder;
  readonly #store: Store;
  readonly #reader: Store;
  readonly #runner: QueryRunner;
  readonly #number: number;
  readonly #runs = new Map<Entry, number>();

  private constructor(journal: Journal, folder: TestFolder, stores: [Store, Store], number: number) {
    this.journal = journal;
    this.#folder = folder;
    [this.#store, this.#reader] = stores;
    this.#number = number;
    this.#runner = new QueryRunner(this.#reader, new Uint8Array(32).fill(7));
  }

  static async open(folder: TestFolder, market: MarketName = 'stock'): Promise<World> {
    const number = ++worlds;
    const url = folder.storeUrl(`covered-${number}`);
    const store = await openToWrite(url);
    return new World(new Journal(market), folder, [store, await openStore(url, 'read')], number);
  }

  async close(): Promise<void> {
    await this.#store.close();
    await this.#reader.close();
  }

  get #flags(): Map<string, string> {
    const { schema, country } = placeOf[this.journal.market];
    return new Map([
      ['asset_schema', schema],
      ['country_iso_code', country],
    ]);
  }

  #path(name: string): string {
    return this.#folder.path(`covered-${this.#number}-${name}.csv`);
  }

  /** Imports files of bars as one command. */
  async import(command: Command): Promise<void> {
    const { startMs, interval, zone = null, fromMs = null, throughMs = null, symbol } = command;
    const flags = this.#flags.set('interval', interval);
    if (symbol !== undefined) flags.set('symbol', symbol);
    // `--complete-from` and `--complete-through`, in the names of the request.
    const said = { completeFromMs: fromMs, completeThroughMs: throughMs };
    const requests: ImportRequest[] = [];
    const ofCommand = { firstRun: null };
    for (const [at, bars] of command.files.entries()) {
      const path = this.#path(String(at));
      writeFileSync(path, textOf(command, bars));
      requests.push({
        ...said,
        command: ofCommand,
        ...{ file: await opened(path), flags, source: null, dryRun: false, basis: 'raw' },
        ...{ zone: zone === null ? null : zoneOf(zone), nowMs: () => startMs, openedMs: startMs },
      });
    }
    const reports = await importCommand(this.#store, requests);
    for (const { file } of requests) await file.close();
    const entries = this.journal.import(command);
    for (const [at, { runId, refused }] of reports.entries()) {
      assert.deepEqual(refused, []);
      this.#runs.set(entries[at]!, runId!);
    }
  }

  /** Deletes bars of a symbol between dates of the market, both included, or between instants. */
  async delete(symbol: string, interval: Stored | null, range: Deletion['range']): Promise<void> {
    const { schema: assetSchema, country } = placeOf[this.journal.market];
    const [from, to] = boundsOf(range);
    const { runId } = await deleteBars(this.#store, {
      ...{ assetSchema, country, symbol, words: symbol, dryRun: false },
      ...{ interval: interval === null ? null : intervalOf(interval), nowMs: Date.now },
      ...{ from: parseInstant(from)!, to: parseInstant(to)! },
    });
    const entry = this.journal.delete(symbol, interval, range);
    assert.equal(
      runId === null,
      entry === null,
      `bars are deleted where there are some:\n${this.journal.words}`,
    );
    if (entry !== null) this.#runs.set(entry, runId!);
  }

  /** Imports what becomes of a session of the market. */
  async holiday(holiday: Holiday): Promise<void> {
    const { day, template, closeMs } = holiday;
    const close = closeMs === null ? '' : iso(closeMs);
    const runId = await this.#rows('holidays', [
      'name,holiday_code,calendar_date,asset_name,symbol,session_template,close_timestamp',
      `A day,HOLIDAY_A_DAY,${formatDay(day)},${placeOf[this.journal.market].schema},*,${template},${close}`,
    ]);
    this.#runs.set(this.journal.holiday(holiday), runId);
  }

  /** Imports what is known of an instrument. */
  async terms(terms: Terms): Promise<void> {
    const { symbol, listing, delisting, isInactive } = terms;
    const dates = [listing, delisting].map((day) => (day === null ? '' : formatDay(day)));
    const runId = await this.#rows('instruments', [
      'symbol,status,listing_date,delisting_date',
      [symbol, isInactive ? 'inactive' : 'active', ...dates].join(),
    ]);
    this.#runs.set(this.journal.terms(terms), runId);
  }

  async #rows(dataset: string, lines: readonly string[]): Promise<number> {
    const path = this.#path(dataset);
    writeFileSync(path, `${lines.join('\n')}\n`);
    const file = await opened(path);
    const flags = this.#flags;
    if (dataset === 'holidays') flags.delete('asset_schema');
    const about = { file, flags, source: null, dryRun: false, zone: null, nowMs: Date.now } as const;
    const { runId, refused } = await importFile(this.#store, dataset, about);
    await file.close();
    assert.deepEqual(refused, []);
    return runId!;
  }

  /** Takes the live run of some place back, counted around, -1 the last one. */
  async undo(place: number): Promise<void> {
    const entry = this.journal.undo(place);
    if (entry === null) return;
    const runId = this.#runs.get(entry)!;
    const { rowsKept } = await undoRun(this.#store, { runId, dryRun: false, nowMs: Date.now });
    // An instrument that later bars need stays with what was said of it.
    if (entry.change.kind === 'terms' && rowsKept > 0) this.journal.leave(entry);
  }

  /** The bars that the service answers at a moment, as lines; none of a symbol that it does not know. */
  async bars(symbol: string, interval: string, isEth: boolean, nowMs: number): Promise<string[]> {
    const { schema, country } = placeOf[this.journal.market];
    const raw = {
      ...{ schema_asset: schema, country_symbol: `${country}:${symbol}`, interval },
      ...{ from_date: '2022-12-01', to_date: '2024-12-31', limit: '1000', is_eth: String(isEth) },
    };
    const data = await this.#records<BarRecord>('historicalBars', historicalBars, raw, nowMs);
    return data.map((bar) =>
      lineOf({
        ...{ openMs: Date.parse(bar.datetime), closeMs: Date.parse(bar.close_datetime) },
        ...{ first: bar.open, high: bar.high, low: bar.low, last: bar.close, volume: bar.volume },
      }),
    );
  }

  /**
   * The stored series of a symbol as the service lists them: interval, number of bars, opens of the first and
   * the last.
   */
  async listed(symbol: string): Promise<string[]> {
    const { schema } = placeOf[this.journal.market];
    const raw = { schema_asset: schema, query: symbol };
    const data = await this.#records<ListRecord>('seriesCoverage', seriesCoverage, raw, 0);
    return data.map((one) => `${one.interval} ${one.bars} ${one.first_datetime} ${one.last_datetime}`);
  }

  /** The last finished bar of each stored series of a symbol, as findings look for it: interval and key. */
  async lastFinished(symbol: string): Promise<string[]> {
    const { schema: asset_schema, country: country_iso_code } = placeOf[this.journal.market];
    return this.#reader.snapshot(async (reader) => {
      const instrument = await rowWith(reader, instruments, { asset_schema, country_iso_code, symbol });
      if (instrument === null) return [];
      const calendar = await new Calendars().of(reader, instrument);
      const found: string[] = [];
      for (const row of await reader.group(series, { instrument_id: instrument.instrument_id })) {
        if (row.bar_count === 0) continue;
        const keyMs = await lastFinished(reader, calendar, asStored(row), await runsOf(reader, row));
        if (keyMs !== null) found.push(`${row.interval} ${iso(keyMs)}`);
      }
      return found.sort();
    });
  }

  /** The records of an answer of one page; none where it is a refusal. */
  async #records<T>(
    endpoint: 'historicalBars' | 'seriesCoverage',
    declared: Endpoint,
    raw: Readonly<Record<string, string>>,
    nowMs: number,
  ): Promise<T[]> {
    const parameters = parseParameters(declared, new Map(Object.entries(raw)));
    const answer = await this.#runner.run({ endpoint, parameters, nowMs, wrapCsv: false });
    if (answer.kind !== 'answer') return [];
    const { result } = JSON.parse(Buffer.from(answer.body).toString()) as {
      result: { data: T[]; next_page_key: string | null };
    };
    assert.equal(result.next_page_key, null, 'all records are on one page');
    return result.data;
  }
}
