// Coverage: what is stored of which series, against counts of what was done (contract 9.9).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { parseInstant } from '../src/base/instant.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { contract, type Endpoint } from '../src/contract/index.ts';
import { interval as intervalOf } from '../src/contract/interval.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { deleteBars } from '../src/runs/delete-bars.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { openStore } from '../src/store/engines.ts';
import { Random } from './fuzz/random.ts';
import { opened } from './importing.ts';
import { seed, times } from './seed.ts';
import { TestFolder } from './stores.ts';

const temporary = new TestFolder();
const url = temporary.storeUrl();
const store = await openStore(url, 'write');
const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
after(async () => {
  await store.close();
  temporary.close();
});

const NOW_MS = Date.parse('2024-03-01T00:00:00Z');
const MINUTE_MS = 60_000;

type Listed = Readonly<Record<string, unknown>>;
type Page = { readonly next_page_key: string | null; readonly data: readonly Listed[] };

async function page(texts: Readonly<Record<string, string>>): Promise<Page> {
  const declared: Endpoint = contract.seriesCoverage;
  const parameters = parseParameters(declared, new Map(Object.entries({ schema_asset: 'stock', ...texts })));
  const answer = await runner.run({ endpoint: 'seriesCoverage', parameters, nowMs: NOW_MS, wrapCsv: false });
  if (answer.kind === 'refusal') assert.fail(answer.facts.message);
  return (JSON.parse(Buffer.from(answer.body).toString()) as { result: Page }).result;
}

/** The whole list, a few series a page. */
async function list(texts: Readonly<Record<string, string>>): Promise<Listed[]> {
  const found: Listed[] = [];
  for (let key: string | null = ''; key !== null; ) {
    const { data, next_page_key }: Page = await page({ ...texts, limit: '3', next_page_key: key });
    assert.ok(data.length > 0 || (key === '' && next_page_key === null), 'no page is empty');
    found.push(...data);
    key = next_page_key;
  }
  return found;
}

/** A series of a store as it must be: the opens of its bars, and the runs that hold it. */
type Kept = { readonly bars: Set<number>; readonly runs: Set<number> };

/** `A` to `F` of two countries at two intervals, in the order of the list. */
const names = ['A', 'AB', 'B', 'C', 'D', 'F'].flatMap((symbol) =>
  ['CA', 'US'].flatMap((country) => ['1M', 'DAY'].map((interval) => ({ symbol, country, interval }))),
);
type Name = (typeof names)[number];
const textOf = ({ symbol, country, interval }: Name): string => `${country}:${symbol} ${interval}`;

const SESSIONS = ['05', '06', '07', '08', '09'];

/** The opens of a few bars: minutes from 14:30 UTC on, or days, which open then in both countries. */
function opensOf({ interval }: Name, random: Random): number[] {
  const first = Date.parse(`2024-02-${random.pick(SESSIONS)}T14:30:00Z`);
  if (interval === 'DAY') return [first];
  return Array.from({ length: random.between(1, 5) }, () => first + random.below(300) * MINUTE_MS);
}

async function importBars(
  bars: readonly (readonly [Name, number])[],
  price: number,
  nowMs = NOW_MS,
): Promise<number> {
  const path = temporary.path('bars.csv');
  const lines = bars.map(([{ symbol, country, interval }, ms]) => {
    const time = new Date(ms).toISOString();
    return [
      country,
      symbol,
      interval,
      interval === 'DAY' ? time.slice(0, 10) : time,
      ...Array(4).fill(price),
    ];
  });
  writeFileSync(path, `country_iso_code,symbol,interval,datetime,open,high,low,close\n${lines.join('\n')}\n`);
  const file = await opened(path);
  const report = await importFile(store, 'bars', {
    ...{ file, flags: new Map([['asset_schema', 'stock']]), source: null, dryRun: false, zone: null },
    ...{ basis: 'raw', nowMs: () => nowMs },
  });
  await file.close();
  assert.equal(report.rowsRefused, 0, JSON.stringify(report.refused));
  return report.runId!;
}

/** Deletes the bars of one date; the run. */
async function deleteSession({ symbol, country, interval }: Name, dayMs: number): Promise<number> {
  const day = parseInstant(new Date(dayMs).toISOString().slice(0, 10))!;
  const choice = { assetSchema: 'stock' as const, country, symbol, words: symbol };
  const request = { ...choice, from: day, to: day, interval: intervalOf(interval), dryRun: false };
  return (await deleteBars(store, { ...request, nowMs: () => NOW_MS })).runId!;
}

const instant = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;

/** The list as it must be. */
function expected(kept: ReadonlyMap<string, Kept>, isAsked: (name: Name) => boolean) {
  return names.filter(isAsked).flatMap((name) => {
    const { bars, runs } = kept.get(textOf(name))!;
    if (bars.size === 0) return [];
    return {
      ...{
        asset_schema: 'STOCK',
        country_iso_code: name.country,
        symbol: name.symbol,
        interval: name.interval,
      },
      ...{
        bars: bars.size,
        first_datetime: instant(Math.min(...bars)),
        last_datetime: instant(Math.max(...bars)),
      },
      ...{ price_basis: 'raw', runs: runs.size },
    };
  });
}

function withoutCompletion(row: Listed): Listed {
  const { complete_through: _, ...rest } = row;
  return rest;
}

test('the list of series equals a direct count after random imports, corrections, deletions and undos (contract 9.9, 4.1, 4.2)', async () => {
  const random = new Random(seed);
  const kept = new Map(
    names.map((name): [string, Kept] => [textOf(name), { bars: new Set(), runs: new Set() }]),
  );
  /** What can be undone: the newest change first, with the bars that it added or took. */
  const done: { runId: number; undo: () => void }[] = [];
  for (let step = 1; step <= times(60); step++) {
    const newest = done.at(-1);
    if (random.chance(0.2) && newest !== undefined) {
      await undoRun(store, { runId: newest.runId, dryRun: false, nowMs: () => NOW_MS });
      newest.undo();
      done.pop();
    } else if (random.chance(0.2)) {
      const name = random.pick(names);
      const { bars } = kept.get(textOf(name))!;
      const dayMs = Date.parse(`2024-02-${random.pick(SESSIONS)}T00:00:00Z`);
      const gone = [...bars].filter((ms) => ms >= dayMs && ms < dayMs + 1440 * MINUTE_MS);
      if (gone.length === 0) continue;
      const runId = await deleteSession(name, dayMs);
      for (const ms of gone) bars.delete(ms);
      done.push({
        runId,
        undo() {
          for (const ms of gone) bars.add(ms);
        },
      });
    } else {
      const chosen = Array.from({ length: random.between(1, 4) }, () => random.pick(names));
      const bars = chosen.flatMap((name) => opensOf(name, random).map((ms) => [name, ms] as const));
      const unique = [...new Map(bars.map((bar) => [`${textOf(bar[0])} ${bar[1]}`, bar])).values()];
      const runId = await importBars(unique, step);
      const added = unique.filter(([name, ms]) => !kept.get(textOf(name))!.bars.has(ms));
      for (const [name, ms] of unique) {
        kept.get(textOf(name))!.bars.add(ms);
        kept.get(textOf(name))!.runs.add(runId);
      }
      done.push({
        runId,
        undo() {
          for (const [name, ms] of added) kept.get(textOf(name))!.bars.delete(ms);
          for (const [name] of unique) kept.get(textOf(name))!.runs.delete(runId);
        },
      });
    }
    const all = (await list({})).map(withoutCompletion);
    assert.deepEqual(
      all,
      expected(kept, () => true),
      `step ${step}`,
    );
  }
  assert.deepEqual(
    (await list({ sort: 'desc' })).map(withoutCompletion),
    expected(kept, () => true).reverse(),
  );
  const asked: readonly (readonly [Readonly<Record<string, string>>, (name: Name) => boolean])[] = [
    [{ query: 'a' }, ({ symbol }) => symbol.startsWith('A')],
    [{ country_iso_code: 'us' }, ({ country }) => country === 'US'],
    [{ interval: '1d' }, ({ interval }) => interval === 'DAY'],
    [{ query: 'B', country_iso_code: 'CA', interval: '1m' }, (name) => textOf(name) === 'CA:B 1M'],
    [{ query: 'no symbol' }, () => false],
  ];
  for (const [texts, isAsked] of asked)
    for (const sort of ['asc', 'desc']) {
      const rows = expected(kept, isAsked);
      const found = (await list({ ...texts, sort })).map(withoutCompletion);
      assert.deepEqual(found, sort === 'asc' ? rows : rows.reverse(), JSON.stringify(texts));
    }
});

test('a series is complete through the end of the session of its last bar, until the run is undone (contract 9.9, 3.9)', async () => {
  const name = { symbol: 'Z', country: 'US', interval: '1M' };
  const completion = async () => (await list({ query: 'z' })).map((row) => [row.bars, row.complete_through]);
  await importBars([[name, Date.parse('2024-02-05T14:30:00Z')]], 1);
  assert.deepEqual(await completion(), [[1, '2024-02-06T01:00:00+00:00']]);
  const later = await importBars([[name, Date.parse('2024-02-06T14:30:00Z')]], 1);
  assert.deepEqual(await completion(), [[2, '2024-02-07T01:00:00+00:00']]);
  await undoRun(store, { runId: later, dryRun: false, nowMs: () => NOW_MS });
  assert.deepEqual(await completion(), [[1, '2024-02-06T01:00:00+00:00']]);
});

test('the list has no bar that is not finished, and no series without another, until a later import holds them (contract 3.9 (5), 9.9)', async () => {
  const at = (text: string): number => Date.parse(`2024-02-${text}:00Z`);
  const name = (symbol: string, interval: string): Name => ({ symbol, country: 'US', interval });
  const [days, minutes, one] = [name('Y', 'DAY'), name('Y', '1M'), name('YY', 'DAY')];
  const rows: readonly (readonly [Name, number])[] = [
    ...['05T14:30', '06T14:30', '07T14:30'].map((text) => [days, at(text)] as const),
    ...['06T14:30', '07T17:58', '07T17:59', '07T18:00'].map((text) => [minutes, at(text)] as const),
    [one, at('07T14:30')],
  ];
  const listed = async (texts: Readonly<Record<string, string>> = {}) =>
    (await list({ query: 'y', ...texts })).map((row) =>
      [row.symbol, row.interval, row.bars, row.first_datetime, row.last_datetime, row.complete_through].join(
        ' ',
      ),
    );
  // Half a minute before the end of the last minute, in the middle of the session of the last days.
  await importBars(rows, 1, at('07T18:00') + 30_000);
  const early = [
    `Y 1M 3 ${instant(at('06T14:30'))} ${instant(at('07T17:59'))} ${instant(at('07T18:00'))}`,
    `Y DAY 2 ${instant(at('05T14:30'))} ${instant(at('06T14:30'))} ${instant(at('07T01:00'))}`,
  ];
  assert.deepEqual(await listed(), early);
  assert.deepEqual(await listed({ sort: 'desc' }), early.toReversed());
  assert.deepEqual(await listed({ as_of: '2024-02-28T00:00:00Z' }), early);
  const later = await importBars(rows, 2, at('08T02:00'));
  assert.deepEqual(await listed(), [
    `Y 1M 4 ${instant(at('06T14:30'))} ${instant(at('07T18:00'))} ${instant(at('08T01:00'))}`,
    `Y DAY 3 ${instant(at('05T14:30'))} ${instant(at('07T14:30'))} ${instant(at('08T01:00'))}`,
    `YY DAY 1 ${instant(at('07T14:30'))} ${instant(at('07T14:30'))} ${instant(at('08T01:00'))}`,
  ]);
  await undoRun(store, { runId: later, dryRun: false, nowMs: () => NOW_MS });
  assert.deepEqual(await listed(), early);
});

test('the list of a beginning ends with it, however many symbols come behind (contract 9.9)', async () => {
  const wanted = ['QA1', 'QA2', 'QA3', 'QA4', 'QA5'];
  const others = (first: string): string[] => Array.from({ length: 250 }, (_, index) => `${first}${index}`);
  const ms = Date.parse('2024-02-05T14:30:00Z');
  const rows = [...others('P'), ...wanted, ...others('QB')].map(
    (symbol) => [{ symbol, country: 'US', interval: 'DAY' }, ms] as const,
  );
  await importBars(rows, 1);
  for (const country of [{}, { country_iso_code: 'US' }]) {
    const listed = await list({ query: 'qa', ...country });
    assert.deepEqual(
      listed.map(({ symbol }) => symbol),
      wanted,
    );
    const down = await list({ query: 'qa', sort: 'desc', ...country });
    assert.deepEqual(
      down.map(({ symbol }) => symbol),
      wanted.toReversed(),
    );
  }
});
