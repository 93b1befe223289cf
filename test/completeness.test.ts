// Which derived bars are complete after imports at given moments (contract 3.9). The tests use two weeks of
// US stocks without a holiday: February 5 to 9 and 12 to 16, 2024. In UTC the pre-market opens at 09:00,
// regular hours are 14:30 to 21:00, and the post-market ends at 01:00 of the next day.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { historicalBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { importFile } from '../src/imports/load/importers.ts';
import type { ImportReport } from '../src/imports/load/run.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { openToWrite, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const stores: Store[] = [];
let worlds = 0;
after(async () => {
  for (const store of stores) await store.close();
  temporary.close();
});

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

/** Random orders. */
const RUNS = times(8);

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
  const of = (symbols: readonly string[], ...days: readonly string[]): Row[] =>
    symbols.flatMap((symbol) =>
      days.flatMap((day) => every(symbol, 30, `${day}T14:30:00`, `${day}T21:00:00`)),
    );
  await world.import(at('08T02:00:00'), '30M', of(['A', 'B', 'C'], '05', '06', '07'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
  await world.import(at('10T02:00:00'), '30M', of(['B'], '08', '09'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), [], 'a file of one series vouches for no other');
  const { runId } = await world.import(at('10T03:00:00'), '30M', of(['B', 'C'], '08', '09'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), ['05T14:30 1 39']);
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
  const { runId, openTimes } = await world.import(at('07T22:00:00'), 'DAY', [{ ...day, price: 6 }]);
  assert.deepEqual(openTimes, [], 'the post-market changes no stored day');
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 6 1']);
  await world.undo(runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  await world.import(at('07T23:00:00'), 'DAY', [day]);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), [], 'the same bytes are as old as they were');
  await world.import(at('07T23:00:00'), 'DAY', [{ ...day, ms: at('06T00:00:00') }, day]);
  assert.deepEqual(
    await world.bars(NEXT_WEEK, 'A', 'DAY'),
    ['06T14:30 5 1', '07T14:30 5 1'],
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
  assert.deepEqual(report.openTimes, [
    {
      market: 'stock/US_STOCK',
      interval: '1M',
      from: '2024-02-07T20:45:00Z',
      through: '2024-02-08T01:00:00Z',
      isBefore: false,
    },
  ]);
  await world.import(at('08T02:00:00'), '1M', rows.slice(0, 1), at('08T01:00:00'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), ['07T14:30 1 375']);
});

test('a report names the times that no import has, beside many other series too (contract 3.9)', async () => {
  const spans = ({ openTimes = [] }: ImportReport): string[] =>
    openTimes.map(({ from, through, isBefore }) => `${isBefore ? 'before' : 'after'} ${from}..${through}`);
  const world = await World.open();
  const day = (symbol: string, date: string) => every(symbol, 30, `${date}T14:30:00`, `${date}T21:00:00`);
  await world.import(at('06T02:00:00'), '30M', day('Z', '05'));
  const others = Array.from({ length: 25 }, (_, place) => day(`N${place}`, '07')).flat();
  // The whole of Tuesday is lacking.
  const report = await world.import(at('08T02:00:00'), '30M', [...others, ...day('Z', '07')]);
  assert.deepEqual(spans(report), ['before 2024-02-06T01:00:00Z..2024-02-07T09:00:00Z']);

  const parts = await World.open();
  await parts.import(at('08T02:00:00'), '30M', every('A', 30, '07T18:00:00', '07T21:00:00'));
  const rows = every('A', 30, '07T14:30:00', '07T16:00:00');
  const second = await parts.import(at('08T03:00:00'), '30M', rows, at('07T16:00:00'));
  assert.deepEqual(spans(second), ['after 2024-02-07T16:00:00Z..2024-02-07T18:00:00Z']);
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
    await world.import(at('08T02:00:00'), '30M', every('A', 30, '05T14:30:00', '07T21:00:00'));
    assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
    await world.instruments(at('08T03:00:00'), `symbol,${column}`, `A,${value}`);
    assert.equal((await world.bars(NEXT_WEEK, 'A', 'WEEK')).length, 1, column);
  }
});

test('the same file again finishes nothing that it left unfinished, another one with the same bars does (contract 3.9, 11)', async () => {
  const world = await World.open();
  const rows = every('A', 30, '07T14:30:00', '07T21:00:00');
  const first = await world.import(at('07T21:05:00'), '30M', rows.slice(0, 12));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  const again = await world.import(at('08T02:00:00'), '30M', rows.slice(0, 12));
  assert.deepEqual([first.rowsWritten, again.rowsWritten], [12, 0]);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'DAY'), []);
  const other = await world.import(at('08T02:00:00'), '30M', rows.slice(0, 12).toReversed());
  assert.equal(other.rowsWritten, 0);
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

test('an undo leaves bars to a later run that only held them (contract 3.9, 10)', async () => {
  const world = await World.open();
  const rows = every('A', 60, '07T14:30:00', '07T17:30:00');
  const first = await world.import(at('07T16:40:00'), '60M', rows);
  // Another hour of the same block.
  await world.import(at('07T16:50:00'), '60M', every('A', 60, '06T14:30:00', '06T15:30:00', 3));
  await world.import(at('07T17:00:00'), '60M', rows.slice(1));
  const served = ['06T14:30 3 1', '07T14:30 1 1', '07T15:30 1 1'];
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '60M'), served);
  await world.undo(first.runId!);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', '60M'), [served[0], served[2]]);
});

test('a stock of a file of days, imported after the close, has its week by the next one without it (contract 3.9)', async () => {
  const world = await World.open();
  const days = (day: string, ...symbols: string[]): Row[] =>
    symbols.map((symbol) => ({ symbol, ms: at(`${day}T00:00:00`), price: 1 }));
  // At 17:00 in New York: the post-market goes on, and changes no stored day.
  const first = ['05', '06', '07', '08'].flatMap((day) => days(day, 'A', 'B', 'C'));
  await world.import(at('08T22:00:00'), 'DAY', first);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), []);
  await world.import(at('09T22:00:00'), 'DAY', days('09', 'B', 'C'));
  assert.deepEqual(await world.bars(NEXT_WEEK, 'A', 'WEEK'), ['05T14:30 1 4']);
  assert.deepEqual(await world.bars(NEXT_WEEK, 'B', 'WEEK'), ['05T14:30 1 5']);
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
  await world.import(at('07T20:00:00'), '30M', every('A', 30, '07T08:00:00', '07T12:00:00'));
  const day = (): Promise<string[]> => world.bars(NEXT_WEEK, 'A', 'DAY');
  assert.deepEqual(await day(), []);
  const run = await world.instruments(NEXT_WEEK, 'symbol,calendar_key', 'A,UK_STOCK');
  assert.deepEqual(await day(), ['07T08:00 1 8']);
  await world.undo(run);
  assert.deepEqual(await day(), []);
  await world.instruments(NEXT_WEEK, 'symbol,calendar_key', 'A,UK_STOCK');
  assert.deepEqual(await day(), ['07T08:00 1 8']);
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
