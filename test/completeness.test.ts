// Which derived bars are complete after imports at given moments (contract 3.9). The tests use two weeks of US stocks without a holiday:
// February 5 to 9 and 12 to 16, 2024. In UTC the pre-market opens at 09:00, regular hours are 14:30 to 21:00, and the post-market ends at
// 01:00 of the next day.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { historicalBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { runCoverage, series, unfinishedBars } from '../src/datasets/bars.ts';
import { counters, rowChanges } from '../src/datasets/internal.ts';
import { deleteBars } from '../src/history/delete-bars.ts';
import type { ImportReport } from '../src/history/import-report.ts';
import { coverOldRuns } from '../src/history/old-runs.ts';
import { newestRuns, undoRun } from '../src/history/undo-run.ts';
import { importFile } from '../src/loading/importers.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { collectRows } from '../src/store/all-rows.ts';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc } from './seed.ts';
import { openToWrite, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const stores: Store[] = [];
let worlds = 0;
after(async () => {
  for (const store of stores) await store.close();
  temporary.close();
});

const HOUR = 3_600_000;
const MINUTE = 60_000;
const at = (text: string): number => Date.parse(`2024-02-${text}Z`);

/** One bar of a file: all its prices are `price`. */
type Row = { readonly symbol: string; readonly ms: number; readonly price: number; readonly volume?: number };

type Served = { readonly datetime: string; readonly close: number; readonly volume: number };

/** A store with what is done to it at given moments. */
class World {
  readonly store: Store;
  readonly #reader: Store;
  readonly #runner: QueryRunner;
  readonly #number: number;

  private constructor(store: Store, reader: Store, number: number) {
    this.store = store;
    this.#reader = reader;
    this.#number = number;
    this.#runner = new QueryRunner(reader, new Uint8Array(32).fill(7));
  }

  static async open(): Promise<World> {
    const number = ++worlds;
    const url = temporary.storeUrl(String(number));
    const store = await openToWrite(url);
    const reader = await openStore(url, 'read');
    stores.push(store, reader);
    return new World(store, reader, number);
  }

  /** Imports bars, whose import begins and ends at `nowMs`. */
  async import(
    nowMs: number,
    interval: string,
    rows: readonly Row[],
    completeThroughMs: number | null = null,
  ): Promise<ImportReport> {
    const path = temporary.path(`file-${this.#number}.csv`);
    const lines = rows.map(({ symbol, ms, price, volume = 1 }) => {
      const time = new Date(ms).toISOString();
      return [
        symbol,
        interval === 'DAY' ? time.slice(0, 10) : time,
        price,
        price,
        price,
        price,
        volume,
      ].join();
    });
    writeFileSync(path, `symbol,datetime,open,high,low,close,volume\n${lines.join('\n')}\n`);
    const file = await opened(path);
    const flags = new Map([
      ['asset_schema', 'stock'],
      ['country_iso_code', 'US'],
      ['interval', interval],
    ]);
    const about = {
      file,
      flags,
      source: null,
      dryRun: false,
      zone: null,
      basis: 'raw',
      completeThroughMs,
    } as const;
    const report = await importFile(this.store, 'bars', { ...about, nowMs: () => nowMs });
    await file.close();
    assert.equal(report.rowsRefused, 0, JSON.stringify(report.refused));
    return report;
  }

  /** Makes the store what an older program would have left: runs without coverage. */
  async forgetCoverage(): Promise<void> {
    await this.store.write(async (writer) => {
      await writer.remove(runCoverage, await collectRows(writer, runCoverage, {}));
      await writer.remove(unfinishedBars, await collectRows(writer, unfinishedBars, {}));
      const rows = await collectRows(writer, series, {});
      await writer.upsert(
        series,
        rows.map((row) => ({ ...row, complete_ms: null, complete_run_id: null })),
      );
      const changes = await collectRows(writer, rowChanges, {});
      await writer.remove(
        rowChanges,
        changes.filter(({ dataset }) => dataset === unfinishedBars.name),
      );
      const [newest] = await newestRuns(writer, 1);
      await writer.upsert(counters, [{ name: 'uncovered_runs', value: newest!.run_id }]);
    });
  }

  instruments(nowMs: number, ...lines: readonly string[]): Promise<number> {
    return this.#rows('instruments', nowMs, lines);
  }

  /** Imports what becomes of the session of February 7; the run. */
  wednesday(template: string, closesMs: number | null = null, symbol = '*'): Promise<number> {
    const close = closesMs === null ? '' : new Date(closesMs).toISOString();
    return this.#rows('holidays', NEXT_WEEK, [
      'name,holiday_code,calendar_date,asset_name,symbol,session_template,close_timestamp',
      `A day,HOLIDAY_A_DAY,2024-02-07,stock,${symbol},${template},${close}`,
    ]);
  }

  async #rows(dataset: string, nowMs: number, lines: readonly string[]): Promise<number> {
    const path = temporary.path(`${dataset}-${this.#number}.csv`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    const file = await opened(path);
    const flags = new Map([['country_iso_code', 'US']]);
    if (dataset === 'instruments') flags.set('asset_schema', 'stock');
    const about = { file, flags, source: null, dryRun: false, zone: null, basis: 'raw' } as const;
    const report = await importFile(this.store, dataset, { ...about, nowMs: () => nowMs });
    await file.close();
    assert.equal(report.rowsRefused, 0, JSON.stringify(report.refused));
    return report.runId!;
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.#reader.close();
    for (const store of [this.store, this.#reader]) stores.splice(stores.indexOf(store), 1);
  }

  /** Deletes all bars of a symbol; the run. */
  async delete(symbol: string): Promise<number> {
    const choice = { assetSchema: null, country: 'US', symbol, words: symbol };
    const bounds = { interval: null, from: null, to: null };
    return (await deleteBars(this.store, { ...choice, ...bounds, dryRun: false, nowMs: Date.now })).runId!;
  }

  undo(runId: number): Promise<unknown> {
    return undoRun(this.store, { runId, dryRun: false, nowMs: Date.now });
  }

  /** The bars of the days, as `open close volume`. */
  async bars(nowMs: number, symbol: string, interval: string, isEth = false): Promise<string[]> {
    const raw = {
      schema_asset: 'stock',
      country_symbol: `US:${symbol}`,
      interval,
      from_date: '2024-01-01',
      to_date: '2024-12-31',
      limit: '1000',
      is_eth: String(isEth),
    };
    const parameters = parseParameters(historicalBars, new Map(Object.entries(raw)));
    const answer = await this.#runner.run({ endpoint: 'historicalBars', parameters, nowMs, wrapCsv: false });
    if (answer.kind !== 'answer') throw new Error(JSON.stringify(answer));
    const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: { data: Served[] } };
    return result.data.map((bar) => `${bar.datetime.slice(8, 16)} ${bar.close} ${bar.volume}`);
  }
}

/** Bars of `step` minutes from one instant up to another. */
function every(symbol: string, step: number, from: string, to: string, price = 1): Row[] {
  const rows: Row[] = [];
  for (let ms = at(from); ms < at(to); ms += step * MINUTE) rows.push({ symbol, ms, price });
  return rows;
}

const NEXT_WEEK = at('13T00:00:00');

test('a file of another year, imported after the close, does not finish the minutes of a morning (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('07T15:40:00'), '1M', every('A', 1, '07T14:30:00', '07T15:40:00'));
  const old = { symbol: 'B', ms: Date.parse('2010-02-03T15:00:00Z'), price: 2 };
  await world.import(at('07T23:00:00'), '1M', [old]);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  assert.equal((await world.bars(NEXT_WEEK, 'A', '60M')).length, 1);
});

test('an import under a clock of years ago hides no derived bar, and its own later bars are not served (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('08T02:00:00'), '1M', every('A', 1, '07T14:30:00', '07T21:00:00'));
  const report = await world.import(at('01T00:00:00'), '1M', every('A', 1, '08T14:30:00', '08T15:30:00', 2));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 390']);
  assert.equal((await world.bars(NEXT_WEEK, 'A', '1M')).length, 390);
  assert.match(JSON.stringify(report.findings), /opening after now[^"]*":60/);
});

test('minutes of one stock to Wednesday and a later file of another to Friday finish no week of the first (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('08T02:00:00'), '1M', every('AAPL', 1, '05T14:30:00', '07T21:00:00'));
  await world.import(at('10T02:00:00'), '1M', every('MSFT', 1, '09T14:30:00', '09T21:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'AAPL', 'WEEK'), []);
  assert.equal((await world.bars(NEXT_WEEK, 'AAPL', 'DAY')).length, 3);
});

test('a stock of a market-wide file without a trade since has its week by the next file of that market (contract 3.9)', async () => {
  const world = await World.open();
  const rows = ['A', 'B', 'C'].flatMap((symbol) => every(symbol, 30, '07T14:30:00', '07T21:00:00'));
  await world.import(at('08T02:00:00'), '30M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
  await world.import(at('10T02:00:00'), '30M', every('B', 30, '09T14:30:00', '09T21:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), [], 'one of three series is less than half');
  const both = ['B', 'C'].flatMap((symbol) => every(symbol, 30, '09T14:30:00', '09T21:00:00'));
  const { runId } = await world.import(at('10T03:00:00'), '30M', both);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), ['05T14:30 1 13']);
  assert.deepEqual(await world.bars(at('09T20:59:59'), 'A', 'WEEK'), [], 'the week has not closed yet');
  await world.undo(runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
});

test('an hour that has just begun and the DAY row of today are served when a later run holds them (contract 3.9)', async () => {
  const world = await World.open();
  const hours = every('A', 60, '07T14:30:00', '07T17:00:00');
  await world.import(at('07T16:45:00'), '60M', hours);
  assert.equal((await world.bars(NEXT_WEEK, 'A', '60M')).length, 2);
  const day = { symbol: 'A', ms: at('07T00:00:00'), price: 5 };
  const report = await world.import(at('07T16:45:00'), 'DAY', [day]);
  assert.match(JSON.stringify(report.findings), /close after this import began[^"]*":1/);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  const { runId, unfinished } = await world.import(at('07T22:00:00'), 'DAY', [{ ...day, price: 6 }]);
  assert.deepEqual(unfinished, [], 'the post-market changes no stored day');
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 6 1']);
  await world.undo(runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  await world.import(at('07T23:00:00'), 'DAY', [day]);
  assert.deepEqual(
    await world.bars(NEXT_WEEK, 'A', 'DAY'),
    ['07T14:30 5 1'],
    'a run that changes no value counts',
  );
});

test('a stored day that is not finished leaves its session to complete minutes (contract 3.8, 3.9)', async () => {
  const world = await World.open();
  await world.import(at('07T16:45:00'), 'DAY', [{ symbol: 'A', ms: at('07T00:00:00'), price: 5 }]);
  await world.import(at('08T02:00:00'), '30M', every('A', 30, '07T14:30:00', '07T21:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
});

test('a delayed feed finishes nothing early, and its last session is named with the command that finishes it (contract 3.9)', async () => {
  const world = await World.open();
  const rows = every('A', 1, '07T14:30:00', '07T20:45:00');
  const report = await world.import(at('07T21:05:00'), '1M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  assert.equal((await world.bars(NEXT_WEEK, 'A', '15M')).length, 25);
  assert.deepEqual(report.unfinished, [
    {
      market: 'stock/US_STOCK',
      interval: '1M',
      session: '2024-02-07',
      completeThrough: '2024-02-07T20:45:00Z',
      sessionEnd: '2024-02-08T01:00:00Z',
    },
  ]);
  await world.import(at('08T02:00:00'), '1M', rows.slice(0, 1), at('08T01:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 375']);
});

test('an override completes no more than it says, and never beyond the start of the import (contract 3.9)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  await world.import(at('08T02:00:00'), '30M', rows, at('07T17:30:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '60M'), ['07T14:30 1 2', '07T15:30 1 2', '07T16:30 1 2']);
  const other = await World.open();
  await other.import(at('07T17:00:00'), '30M', rows.slice(0, 5), at('09T00:00:00'));
  assert.equal((await other.bars(NEXT_WEEK, 'A', '60M')).length, 2);
});

test('series of an instrument that no longer trades are complete (contract 3.9)', async () => {
  for (const [column, value] of [
    ['status', 'inactive'],
    ['delisting_date', '2024-02-07'],
  ]) {
    const world = await World.open();
    await world.import(at('08T02:00:00'), '30M', every('A', 30, '07T14:30:00', '07T21:00:00'));
    assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
    await world.instruments(at('08T03:00:00'), `symbol,${column}`, `A,${value}`);
    assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), ['05T14:30 1 13'], column);
  }
});

test('importing a file again changes only how far its series are complete (contract 3.9, 11)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  const first = await world.import(at('07T21:05:00'), '30M', rows.slice(0, 12));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  const again = await world.import(at('08T02:00:00'), '30M', rows.slice(0, 12));
  assert.deepEqual([first.rowsWritten, again.rowsWritten], [12, 0]);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 12']);
});

test('one bar of the future finishes nothing of a delayed feed (contract 3.9)', async () => {
  const world = await World.open();
  const future = { symbol: 'B', ms: at('09T15:00:00'), price: 2 };
  await world.import(at('07T21:05:00'), '1M', [...every('A', 1, '07T14:30:00', '07T20:45:00'), future]);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
});

test('bars that a wrong clock imports again as they are stay finished (contract 3.9, 11)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  await world.import(at('08T02:00:00'), '30M', rows);
  await world.import(at('01T00:00:00'), '30M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
});

test('a bar that had just begun is not served, also where the file comes back to its day (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('07T16:00:00'), '1M', [
    ...every('A', 1, '06T14:30:00', '06T14:40:00'),
    ...every('A', 1, '07T14:30:00', '07T15:00:00'),
  ]);
  const begun = { symbol: 'A', ms: at('07T17:00:00'), price: 3 };
  const rows = [begun, ...every('A', 1, '06T15:00:00', '06T15:10:00'), { ...begun, ms: at('07T16:50:00') }];
  await world.import(at('07T17:00:30'), '1M', rows);
  const served = await world.bars(NEXT_WEEK, 'A', '1M');
  assert.deepEqual([served.length, served.at(-1)], [51, '07T16:50 3 1']);
});

test('an undo leaves a day to a later import that had the same bars, and no part of a day as the whole (contract 3.9, 10)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  await world.import(at('07T17:05:00'), '30M', rows.slice(0, 5));
  const { runId } = await world.import(at('08T02:00:00'), '30M', rows);
  const { runId: later } = await world.import(at('08T03:00:00'), '30M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
  await world.undo(runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
  await world.undo(later!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  await world.import(at('08T04:00:00'), '30M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
});

test('an undo of a part of a day leaves the whole day to the later import that has it, and to no next one (contract 3.9, 10)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  const { runId: noon } = await world.import(at('07T17:05:00'), '30M', rows.slice(0, 5));
  const { runId: whole } = await world.import(at('08T02:00:00'), '30M', rows);
  await world.undo(noon!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13']);
  await world.import(at('09T02:00:00'), '30M', every('A', 30, '08T14:30:00', '08T21:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 13', '08T14:30 1 13']);
  await world.undo(whole!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['08T14:30 1 13']);
});

test('a week of extended hours is built of stored days only where those are complete (contract 3.6, 3.9)', async () => {
  const world = await World.open();
  const monday = ['A', 'B', 'C'].flatMap((symbol) => every(symbol, 30, '05T14:30:00', '05T21:00:00'));
  await world.import(at('06T02:00:00'), '30M', monday);
  const days = ['06', '07'].map((day) => ({ symbol: 'A', ms: at(`${day}T00:00:00`), price: 9 }));
  await world.import(at('08T02:00:00'), 'DAY', days);
  const friday = ['B', 'C'].flatMap((symbol) => every(symbol, 30, '09T14:30:00', '09T21:00:00'));
  await world.import(at('10T02:00:00'), '30M', friday);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK', true), []);
  await world.import(at('10T03:00:00'), 'DAY', days, at('10T02:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK', true), ['05T09:00 9 15']);
});

test('what an older program imported is complete as far as its journal tells (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('07T17:05:00'), '30M', every('A', 30, '07T14:30:00', '07T17:00:00'));
  await world.import(at('09T02:00:00'), '30M', every('B', 30, '08T14:30:00', '08T21:00:00'));
  await world.import(at('07T16:45:00'), 'DAY', [{ symbol: 'B', ms: at('07T00:00:00'), price: 5 }]);
  // All bars of this run were still to come.
  await world.import(at('05T08:00:00'), '60M', every('C', 60, '09T14:30:00', '09T17:30:00'));
  const undone = await world.import(
    at('10T02:00:00'),
    '30M',
    every('A', 30, '07T17:00:00', '07T21:00:00', 2),
  );
  await world.undo(undone.runId!);
  const picture = async (): Promise<string[][]> => {
    const found: string[][] = [];
    for (const symbol of ['A', 'B', 'C'])
      for (const interval of ['60M', 'DAY', 'WEEK'])
        found.push(await world.bars(NEXT_WEEK, symbol, interval));
    return found;
  };
  const before = await picture();
  assert.deepEqual(before.flat(), ['07T14:30 1 2', '07T15:30 1 2', ...before[3]!, '08T14:30 1 13']);
  await world.forgetCoverage();
  await coverOldRuns(world.store, () => undefined);
  assert.deepEqual(await picture(), before);
});

/** Hours of a day, the third of which had just begun at its import; a later import had all of the day, that hour unchanged. */
async function hoursOfTwoRuns(): Promise<World> {
  const world = await World.open();
  const hours = every('A', 60, '07T14:30:00', '07T21:00:00');
  await world.import(at('07T16:45:00'), '60M', hours.slice(0, 3));
  await world.import(at('08T02:00:00'), '60M', hours);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 7']);
  return world;
}

test('an hour that the journal of an older program leaves unfinished makes no day of the others (contract 3.9)', async () => {
  const world = await hoursOfTwoRuns();
  await world.forgetCoverage();
  await coverOldRuns(world.store, () => undefined);
  assert.equal((await world.bars(NEXT_WEEK, 'A', '60M')).length, 6);
  for (const isEth of [false, true])
    for (const interval of ['120M', 'DAY', 'WEEK'])
      assert.deepEqual(
        await world.bars(NEXT_WEEK, 'A', interval, isEth),
        interval === '120M' ? ['07T14:30 1 2', '07T18:30 1 2', '07T20:30 1 1'] : [],
        `${interval} ${isEth}`,
      );
  await world.import(at('08T03:00:00'), '60M', every('A', 60, '07T14:30:00', '07T21:00:00'));
  for (const isEth of [false, true]) assert.equal((await world.bars(NEXT_WEEK, 'A', 'DAY', isEth)).length, 1);
});

test('a bar that had just begun, and is in no later file, makes no part of its day the whole (contract 3.9)', async () => {
  const world = await World.open();
  const hours = every('A', 60, '07T14:30:00', '07T21:00:00');
  await world.import(at('07T16:45:00'), '60M', hours.slice(0, 3));
  await world.import(at('08T02:00:00'), '60M', hours.slice(3));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  await world.import(at('08T03:00:00'), '60M', hours.slice(2, 3));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 7']);
});

test('a week waits for each of its days; regular days wait for no hour of the post-market (contract 3.9)', async () => {
  const world = await World.open();
  const days = [5, 6, 7, 8, 9].map((day) => ({ symbol: 'A', ms: Date.UTC(2024, 1, day), price: 1 }));
  await world.import(at('07T16:45:00'), 'DAY', days.slice(0, 3));
  await world.import(at('13T00:00:00'), 'DAY', days.slice(3));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
  await world.import(at('07T22:45:00'), '30M', every('B', 30, '07T14:30:00', '07T23:00:00'));
  await world.import(at('08T02:00:00'), '30M', every('B', 30, '07T23:00:00', '08T01:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'B', 'DAY'), ['07T14:30 1 13']);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'B', 'DAY', true), []);
  const hours = [7, 8, 9].flatMap((day) => every('C', 60, `0${day}T14:30:00`, `0${day}T21:00:00`));
  await world.import(at('07T16:45:00'), '60M', hours.slice(0, 3));
  await world.import(at('10T02:00:00'), '60M', hours.slice(3));
  for (const isEth of [false, true]) {
    assert.equal((await world.bars(NEXT_WEEK, 'C', 'DAY', isEth)).length, 2);
    assert.deepEqual(await world.bars(NEXT_WEEK, 'C', 'WEEK', isEth), []);
  }
});

// A direct reading of contract 3.9, for bars of 30 minutes of those two weeks.

/** A run: when it began, which bars it holds, and the instant that its caller vouches for. */
type Run = {
  readonly id: number;
  readonly startMs: number;
  readonly rows: readonly Row[];
  readonly throughMs: number | null;
  isUndone: boolean;
};

const sessions = [5, 6, 7, 8, 9, 12, 13, 14, 15, 16].map((day) => {
  const midnight = Date.UTC(2024, 1, day);
  return {
    week: day < 12 ? 5 : 12,
    day,
    preMs: midnight + 9 * HOUR,
    openMs: midnight + 14.5 * HOUR,
    closeMs: midnight + 21 * HOUR,
    endMs: midnight + 25 * HOUR,
  };
});
const sessionOf = (ms: number) => sessions.find(({ preMs, endMs }) => preMs <= ms && ms < endMs)!;
const closeOf = (ms: number): number => ms + 30 * MINUTE;

/** The instant through which a run makes its series complete. */
function throughOf({ startMs, rows, throughMs }: Run): number {
  // A bar of the future says nothing of how far a file reaches: a delayed feed finishes nothing early.
  const lastMs = Math.max(...rows.map(({ ms }) => ms).filter((ms) => ms <= startMs));
  if (lastMs === -Infinity) return -Infinity;
  const { endMs } = sessionOf(lastMs);
  return Math.min(startMs, throughMs ?? (startMs < endMs ? closeOf(lastMs) : endMs));
}

const seriesOf = ({ rows }: Run): Set<string> => new Set(rows.map(({ symbol }) => symbol));

/** The bars of a symbol that may be served: of the last live run that holds each, unless that began before the bar's close. */
function finishedBars(live: readonly Run[], symbol: string): Map<number, number> {
  const bars = new Map<number, number>();
  for (const { startMs, rows } of live)
    for (const row of rows.filter((one) => one.symbol === symbol)) {
      bars.delete(row.ms);
      if (closeOf(row.ms) <= startMs) bars.set(row.ms, row.price);
    }
  return bars;
}

/** Whether a bar of a symbol that closes at an instant is complete. */
function isComplete(live: readonly Run[], symbol: string, closeMs: number): boolean {
  const own = live.filter((run) => seriesOf(run).has(symbol));
  const completeMs = Math.max(...own.map(throughOf));
  if (closeMs <= completeMs) return true;
  const lastMs = Math.max(...[...finishedBars(live, symbol).keys()].filter((ms) => ms < closeMs));
  if (sessionOf(lastMs).endMs > completeMs) return false;
  const furthest = own.filter((run) => throughOf(run) === completeMs);
  const size = Math.max(...furthest.map((run) => seriesOf(run).size));
  // Of runs that complete equally far it is that with the most series, then the newest.
  const completing = furthest.findLast((run) => seriesOf(run).size === size)!;
  const least = Math.max(2, size / 2);
  return live.some((run) => {
    const shared = [...seriesOf(completing)].filter((one) => seriesOf(run).has(one)).length;
    return run.id > completing.id && throughOf(run) >= closeMs && shared >= least;
  });
}

type Cell = {
  readonly openMs: number;
  readonly closeMs: number;
  readonly fromMs: number;
  readonly toMs: number;
};

/** The bars of an interval that there can be: open, close, and the instants between which their bars of 30 minutes open. */
function cellsOf(interval: string, isEth: boolean): Cell[] {
  if (interval === '60M')
    return sessions.flatMap(({ preMs, openMs, closeMs, endMs }) => {
      const segments = isEth
        ? [
            [preMs, openMs],
            [openMs, closeMs],
            [closeMs, endMs],
          ]
        : [[openMs, closeMs]];
      return segments.flatMap(([from, to]) => {
        const cells: Cell[] = [];
        for (let ms = from!; ms < to!; ms += HOUR) {
          const closeMs = Math.min(ms + HOUR, to!);
          cells.push({ openMs: ms, closeMs, fromMs: ms, toMs: closeMs });
        }
        return cells;
      });
    });
  const groups =
    interval === 'DAY' ? sessions.map((one) => [one]) : [sessions.slice(0, 5), sessions.slice(5)];
  return groups.map((group) => {
    const [first, last] = [group[0]!, group.at(-1)!];
    const openMs = isEth ? first.preMs : first.openMs;
    const closeMs = isEth ? last.endMs : last.closeMs;
    return { openMs, closeMs, fromMs: openMs, toMs: closeMs };
  });
}

/** The bars that a direct reading serves. */
function expected(
  live: readonly Run[],
  symbol: string,
  interval: string,
  isEth: boolean,
  nowMs: number,
): string[] {
  const served = finishedBars(live, symbol);
  const bars = [...served].sort(([a], [b]) => a - b);
  const stored = live.flatMap(({ rows }) => rows.filter((one) => one.symbol === symbol).map(({ ms }) => ms));
  const isRegular = (ms: number): boolean => {
    const { openMs, closeMs } = sessionOf(ms);
    return openMs <= ms && ms < closeMs;
  };
  return cellsOf(interval, isEth).flatMap(({ openMs, closeMs, fromMs, toMs }) => {
    const isInside = (ms: number): boolean => fromMs <= ms && ms < toMs && (isEth || isRegular(ms));
    // With extended hours a day is made of a session that has regular bars (contract 3.6).
    const regularDays = new Set(bars.filter(([ms]) => isRegular(ms)).map(([ms]) => sessionOf(ms).day));
    const makesBar = (ms: number): boolean => interval === '60M' || regularDays.has(sessionOf(ms).day);
    const inside = bars.filter(([ms]) => isInside(ms) && makesBar(ms));
    if (inside.length === 0 || closeMs > nowMs || !isComplete(live, symbol, closeMs)) return [];
    // What lacks a stored bar is not complete.
    if (stored.some((ms) => isInside(ms) && !served.has(ms))) return [];
    const open = new Date(openMs).toISOString().slice(8, 16);
    return [`${open} ${inside.at(-1)![1]} ${inside.length}`];
  });
}

const symbols = ['A', 'B', 'C', 'D'];
const grid = sessions.flatMap(({ preMs, endMs }) => {
  const keys: number[] = [];
  for (let ms = preMs; ms < endMs; ms += 30 * MINUTE) keys.push(ms);
  return keys;
});
const moment = fc
  .integer({ min: at('05T08:00:00') / MINUTE, max: at('18T00:00:00') / MINUTE })
  .map((m) => m * MINUTE);

/** A file: some bars of some symbols between two moments, imported when they were there, or at any other moment. */
const importing = fc
  .record({
    symbols: fc.subarray(symbols, { minLength: 1 }),
    from: fc.nat({ max: grid.length - 1 }),
    count: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 20, max: 160 })),
    keep: fc.constantFrom(1, 2, 5),
    delay: fc.oneof(fc.constantFrom(0, 15 * MINUTE, 5 * HOUR, 30 * HOUR, -90 * HOUR), fc.constant(null)),
    any: moment,
    through: fc.option(moment, { freq: 6 }),
  })
  .map((one) => ({ kind: 'import', ...one }) as const);

const step = fc.oneof(
  { weight: 5, arbitrary: importing },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('undo' as const), which: fc.nat() }) },
);

/** Random stores: `COMPLETENESS_RUNS=1000 node --test test/completeness.test.ts` tries more. */
const RUNS = Number(process.env.COMPLETENESS_RUNS ?? 15);

test('every bar served is one that a direct reading of contract 3.9 serves, and no other', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 7 }), moment, async (steps, nowMs) => {
      const world = await World.open();
      const runs: Run[] = [];
      for (const one of steps) {
        const live = runs.filter(({ isUndone }) => !isUndone);
        if (one.kind === 'undo') {
          if (live.length === 0) continue;
          const run = live[one.which % live.length]!;
          await world.undo(run.id);
          run.isUndone = true;
          continue;
        }
        const keys = grid.slice(one.from, one.from + one.count).filter((_, index) => index % one.keep === 0);
        // Each run has prices of its own, so that it changes each bar that it holds.
        const price = runs.length + 1;
        const rows = one.symbols.flatMap((symbol) => keys.map((ms) => ({ symbol, ms, price })));
        const startMs = one.delay === null ? one.any : closeOf(keys.at(-1)!) + one.delay;
        const { runId } = await world.import(startMs, '30M', rows, one.through);
        runs.push({ id: runId!, startMs, rows, throughMs: one.through, isUndone: false });
      }
      const live = runs.filter(({ isUndone }) => !isUndone);
      const held = symbols.filter((symbol) => live.some((run) => seriesOf(run).has(symbol)));
      for (const symbol of held)
        for (const interval of ['60M', 'DAY', 'WEEK'])
          for (const isEth of [false, true])
            for (const ms of [nowMs, at('20T00:00:00')]) {
              const wanted = expected(live, symbol, interval, isEth, ms);
              assert.deepEqual(
                await world.bars(ms, symbol, interval, isEth),
                wanted,
                `${symbol} ${interval} ${isEth} ${new Date(ms).toISOString()}`,
              );
              compared += wanted.length;
            }
      await world.close();
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared > 4 * RUNS, `only ${compared} bars were compared`);
});

test('an undone deletion brings unfinished bars back as unfinished ones (contract 3.9)', async () => {
  const world = await World.open();
  await world.import(at('07T15:40:00'), '60M', every('A', 60, '07T14:30:00', '07T16:30:00'));
  const served = await world.bars(NEXT_WEEK, 'A', '60M');
  assert.deepEqual(served, ['07T14:30 1 1']);
  const deletion = await world.delete('A');
  // Another hour of the same block.
  await world.import(at('08T18:00:00'), '60M', every('A', 60, '06T14:30:00', '06T15:30:00', 3));
  await world.undo(deletion);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '60M'), ['06T14:30 3 1', ...served]);
});

test('an undo between others leaves unfinished bars unfinished (contract 3.9)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T16:30:00', 1);
  await world.import(at('01T00:00:00'), '30M', rows);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '30M'), []);
  const two = await world.import(
    at('08T18:00:00'),
    '30M',
    rows.slice(1, 2).map((row) => ({ ...row, price: 2 })),
  );
  await world.import(
    at('08T19:00:00'),
    '30M',
    rows.slice(0, 1).map((row) => ({ ...row, price: 3 })),
  );
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '30M'), ['07T14:30 3 1', '07T15:00 2 1']);
  await world.undo(two.runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '30M'), ['07T14:30 3 1']);
});

test('after undos in any order a bar is served if the last live run that holds it began after its close (contract 3.9)', async () => {
  const keys = grid.slice(20, 30);
  const run = fc.record({
    held: fc.subarray(keys, { minLength: 1 }),
    // Before some of the bars have closed, or after all.
    start: fc.option(fc.nat({ max: keys.length }), { freq: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(run, { minLength: 2, maxLength: 6 }),
      fc.array(fc.nat()),
      async (files, undos) => {
        const world = await World.open();
        const live: Run[] = [];
        for (const [index, { held, start }] of files.entries()) {
          const rows = held.map((ms) => ({ symbol: 'A', ms, price: index + 1 }));
          const startMs = start === null ? NEXT_WEEK : keys[0]! + start * 30 * MINUTE;
          const { runId } = await world.import(startMs, '30M', rows);
          live.push({ id: runId!, startMs, rows, throughMs: null, isUndone: false });
        }
        for (const which of [-1, ...undos.slice(0, files.length - 1)]) {
          if (which >= 0) await world.undo(live.splice(which % live.length, 1)[0]!.id);
          const wanted = [...finishedBars(live, 'A')]
            .sort(([a], [b]) => a - b)
            .map(([ms, price]) => `${new Date(ms).toISOString().slice(8, 16)} ${price} 1`);
          assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '30M', true), wanted);
        }
        await world.close();
      },
    ),
    { numRuns: RUNS },
  );
});

test('a stock of a file of days, imported after the close, has its week by the next one without it (contract 3.9)', async () => {
  const world = await World.open();
  const days = (day: string, ...symbols: string[]): Row[] =>
    symbols.map((symbol) => ({ symbol, ms: at(`${day}T00:00:00`), price: 1 }));
  // At 17:00 in New York: the post-market goes on, and changes no stored day.
  await world.import(at('08T22:00:00'), 'DAY', days('08', 'A', 'B', 'C'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
  await world.import(at('09T22:00:00'), 'DAY', days('09', 'B', 'C'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), ['05T14:30 1 1']);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'B', 'WEEK'), ['05T14:30 1 2']);
});

test('an early close that comes after the bars finishes its session, until it is undone (contract 3.9)', async () => {
  const world = await World.open();
  // At 18:00 in New York, with bars up to 13:00: the post-market of a whole session goes on until 20:00.
  await world.import(at('07T23:00:00'), '30M', every('A', 30, '07T14:30:00', '07T18:00:00'));
  const day = (): Promise<string[]> => world.bars(NEXT_WEEK, 'A', 'DAY', true);
  assert.deepEqual(await day(), []);
  const run = await world.wednesday('EARLY_CLOSE', at('07T18:00:00'));
  assert.deepEqual(await day(), ['07T09:00 1 7']);
  await world.undo(run);
  assert.deepEqual(await day(), []);
});

test('a session that is longer than it was thought to be makes no day of its morning (contract 3.9)', async () => {
  const world = await World.open();
  const early = await world.wednesday('EARLY_CLOSE', at('07T18:00:00'));
  // At 17:30 in New York, after the post-market of the early close; the session closes at 16:00 after all.
  await world.import(at('07T22:30:00'), '30M', every('A', 30, '07T14:30:00', '07T18:00:00'));
  const day = (): Promise<string[]> => world.bars(NEXT_WEEK, 'A', 'DAY');
  assert.deepEqual(await day(), ['07T14:30 1 7']);
  const corrected = await world.wednesday('REGULAR');
  assert.deepEqual(await day(), []);
  await world.undo(early);
  assert.deepEqual(await day(), []);
  await world.undo(corrected);
  assert.deepEqual(await day(), []);
});

test('a calendar key that comes after the bars, or is taken back, counts for how far they are complete (contract 3.7, 3.9)', async () => {
  const world = await World.open();
  // London closes before 17:00; in New York it is the middle of the session.
  await world.import(at('07T20:00:00'), '30M', every('A', 30, '07T09:00:00', '07T12:00:00'));
  const day = (): Promise<string[]> => world.bars(NEXT_WEEK, 'A', 'DAY');
  assert.deepEqual(await day(), []);
  const run = await world.instruments(NEXT_WEEK, 'symbol,calendar_key', 'A,UK_STOCK');
  assert.deepEqual(await day(), ['07T08:00 1 6']);
  await world.undo(run);
  assert.deepEqual(await day(), []);
  await world.instruments(NEXT_WEEK, 'symbol,calendar_key', 'A,UK_STOCK');
  assert.deepEqual(await day(), ['07T08:00 1 6']);
});

test('what a caller vouched for stays, whatever becomes of the session (contract 3.9)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T18:00:00');
  await world.import(at('07T23:00:00'), '30M', rows, at('07T22:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 7']);
  await world.wednesday('EARLY_CLOSE', at('07T19:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 7']);
});

test('imports and changes of their session in any order complete what they do with the last change first (contract 3.9)', async () => {
  const halves = Array.from({ length: 32 }, (_, half) => at('07T09:00:00') + half * 30 * MINUTE);
  const file = fc.record({
    symbols: fc.subarray(['A', 'B'], { minLength: 1 }),
    count: fc.integer({ min: 1, max: halves.length }),
    // From the first bar to the next morning.
    startMs: fc.integer({ min: 1, max: 48 }).map((half) => halves[0]! + half * 30 * MINUTE),
  });
  const change = fc.tuple(
    fc.constantFrom('undo', 'CLOSED', 'REGULAR', '07T18:00:00', '07T19:30:00'),
    fc.constantFrom('*', 'A'),
  );
  const take = (world: World, [template, symbol]: readonly [string, string]): Promise<number> =>
    template.includes('T')
      ? world.wednesday('EARLY_CLOSE', at(template), symbol)
      : world.wednesday(template, null, symbol);
  const load = async (
    world: World,
    { symbols, count, startMs }: typeof file extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    const rows = symbols.flatMap((symbol) => halves.slice(0, count).map((ms) => ({ symbol, ms, price: 1 })));
    await world.import(startMs, '30M', rows);
  };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(file, change), { minLength: 2, maxLength: 7 }), async (steps) => {
      const [world, fresh] = [await World.open(), await World.open()];
      const live: { readonly run: number; readonly change: readonly [string, string] }[] = [];
      for (const step of steps) {
        if ('count' in step) await load(world, step);
        else if (step[0] !== 'undo') live.push({ run: await take(world, step), change: step });
        else if (live.length > 0) await world.undo(live.pop()!.run);
      }
      for (const symbol of ['*', 'A']) {
        const last = live.findLast(({ change: [, of] }) => of === symbol);
        if (last !== undefined) await take(fresh, last.change);
      }
      for (const step of steps) if ('count' in step) await load(fresh, step);
      for (const symbol of ['A', 'B'].filter((one) =>
        steps.some((step) => 'count' in step && step.symbols.includes(one)),
      ))
        for (const interval of ['60M', 'DAY', 'WEEK'])
          for (const isEth of [false, true])
            assert.deepEqual(
              await world.bars(NEXT_WEEK, symbol, interval, isEth),
              await fresh.bars(NEXT_WEEK, symbol, interval, isEth),
              `${symbol} ${interval} ${isEth}`,
            );
      await world.close();
      await fresh.close();
    }),
    { numRuns: Math.ceil(RUNS / 3) },
  );
});
