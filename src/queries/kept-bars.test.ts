// Derived bars that a query thread keeps: the same bytes as those of a new one, whatever was asked and
// committed before (contract 3.8, 3.9).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Random } from '../../test/fuzz/random.ts';
import { type FileRow, fillStore } from '../../test/importing.ts';
import { seed, times } from '../../test/seed.ts';
import { openToWrite, TestFolder } from '../../test/stores.ts';
import { historicalBars, latestBars } from '../contract/bars.ts';
import { parseParameters } from '../contract/endpoint.ts';
import type { PriceBasis } from '../contract/file-words.ts';
import { newestRuns, undoRun } from '../runs/undo-run.ts';
import { openStore } from '../store/engines.ts';
import type { Store } from '../store/store.ts';
import { QueryRunner } from './index.ts';
import type { QueryRequest } from './query.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const START_MS = Date.parse('2025-02-24T00:00:00Z');
const DAYS = 40;

const temporary = new TestFolder();
const opened: Store[] = [];
after(async () => {
  for (const store of opened) await store.close();
  temporary.close();
});

const instruments = [
  { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAA' },
  { asset_schema: 'forex', country_iso_code: 'GLOBAL', symbol: 'EURUSD' },
] as const;

const dateOf = (day: number): string => new Date(START_MS + day * DAY_MS).toISOString().slice(0, 10);

/** Prices and a volume, some of which doubles do not sum exactly. */
function valuesOf(random: Random) {
  const open = 100 + random.below(5_000) / 100;
  const close = open + random.below(9) / 8;
  const volume = random.chance(0.05) ? null : random.below(100_000) / random.pick([1, 10, 1_000]);
  return { open, high: close + 0.5, low: open - 0.25, close, volume, vwap: open + random.below(999) / 1_000 };
}

/** Bars of some days of an instrument. */
function barRows(random: Random): readonly FileRow[] {
  const named = random.pick(instruments);
  const interval = random.pick(['1M', '1M', '1M', '5M', 'DAY']);
  const firstDay = random.below(DAYS);
  const rows: FileRow[] = [];
  const lastDay = Math.min(DAYS, firstDay + 1 + random.below(15));
  for (let day = firstDay; day < lastDay; day++) {
    if (interval === 'DAY') rows.push({ ...named, interval, datetime: dateOf(day), ...valuesOf(random) });
    else
      for (let minute = 13 * 60; minute < 22 * 60; minute += random.pick([5, 10, 25])) {
        const datetime = new Date(START_MS + day * DAY_MS + minute * MINUTE_MS).toISOString();
        rows.push({ ...named, interval, datetime, ...valuesOf(random) });
      }
  }
  return rows;
}

const fillings: readonly ((random: Random) => readonly [string, readonly FileRow[]])[] = [
  (random) => ['bars', barRows(random)],
  (random) => ['bars', barRows(random)],
  (random) => {
    const named = { name: 'Closed', holiday_code: `HOLIDAY_${random.below(1_000)}`, symbol: '*' };
    const { asset_schema: asset_name, country_iso_code } = random.pick(instruments);
    const calendar_date = dateOf(random.below(DAYS));
    const row = { ...named, asset_name, country_iso_code, calendar_date, session_template: 'CLOSED' };
    return ['holidays', [row]];
  },
  (random) => {
    const [{ country_iso_code, symbol }] = instruments;
    const named = { country_iso_code, symbol, ex_date: dateOf(random.below(DAYS)) };
    const action = random.chance(0.5)
      ? { action_type: 'split', split_from: 1, split_to: 2 + random.below(3) }
      : { action_type: 'dividend', cash_amount: 0.25 };
    return ['corporate-actions', [{ ...named, ...action }]];
  },
];

const intervals = ['1M', '5M', '10M', '15M', '30M', '60M', '240M', 'DAY', 'WEEK', 'MON'];

/** A request, one of not many. */
function requestOf(random: Random, nowMs: number, pageKey: string | null): QueryRequest {
  const { asset_schema: schema_asset, country_iso_code, symbol } = random.pick(instruments);
  const raw: Record<string, string> = {
    ...{ schema_asset, country_symbol: `${country_iso_code}:${symbol}`, interval: random.pick(intervals) },
    ...{ limit: random.pick(['1', '3', '20', '1000']), is_eth: random.pick(['true', 'false']) },
    adjust: random.pick(['none', 'none', 'all', 'split']),
  };
  if (random.chance(0.2))
    return {
      endpoint: 'latestBars',
      parameters: parseParameters(latestBars, new Map(Object.entries(raw))),
      nowMs,
      wrapCsv: false,
    };
  const [from_date, to_date] = [random.below(DAYS + 5), random.below(DAYS + 5)].sort((a, b) => a - b);
  raw.from_date = dateOf(random.chance(0.3) ? 0 : from_date!);
  raw.to_date = dateOf(random.chance(0.3) ? DAYS + 5 : to_date!);
  raw.sort = random.pick(['asc', 'desc']);
  raw.format = random.pick(['json', 'json', 'csv']);
  if (pageKey !== null) raw.next_page_key = pageKey;
  const parameters = parseParameters(historicalBars, new Map(Object.entries(raw)));
  return { endpoint: 'historicalBars', parameters, nowMs, wrapCsv: false };
}

/** What a caller sees of the answer to a request. */
async function seen(runner: QueryRunner, request: QueryRequest): Promise<unknown> {
  const answer = await runner.run(request);
  if (answer.kind === 'refusal') return answer;
  const { body, headers, next, goodUntilMs } = answer;
  return { text: Buffer.from(body).toString(), headers, next, goodUntilMs };
}

test('bars asked for again and bars of a new thread are the same bytes, through commits and the passing of days', async (t) => {
  const url = temporary.storeUrl();
  await (await openStore(url, 'write')).close();
  const reader = await openStore(url, 'read');
  opened.push(reader);
  const secret = new Uint8Array(32).fill(7);
  const long = new QueryRunner(reader, secret);
  const clock = { nowMs: START_MS + 20 * DAY_MS };
  let pageKeys: { request: QueryRequest; key: string }[] = [];
  let answers = 0;
  const rounds = times(20);
  for (let round = 0; round < rounds; round++) {
    const random = new Random(seed, round);
    if (round % 3 === 2) clock.nowMs += random.below(3 * 1440) * MINUTE_MS;
    const filling = round < 3 ? (['bars', barRows(random)] as const) : random.pick(fillings)(random);
    const throughMs = random.chance(0.5) ? clock.nowMs : null;
    if (filling[1].length > 0)
      await fillStore(
        url,
        temporary.folder,
        clock.nowMs,
        [filling],
        filling[0] === 'bars' ? throughMs : null,
      );
    for (let asking = 0; asking < 15; asking++) {
      const page = random.chance(0.3) ? random.pick(pageKeys) : undefined;
      // A page of a walk that may have begun before a commit.
      const request =
        page === undefined
          ? requestOf(random, clock.nowMs, null)
          : { ...page.request, parameters: { ...page.request.parameters, next_page_key: page.key } };
      const [first, second] = [await seen(long, request), await seen(long, request)];
      const fresh = new QueryRunner(reader, secret);
      if (random.chance(0.3)) await fresh.warmUp(clock.nowMs);
      const other = await seen(fresh, request);
      const what = `seed ${seed}, round ${round}: ${JSON.stringify(request)}`;
      assert.deepEqual(second, first, what);
      assert.deepEqual(first, other, what);
      const { next } = first as { next?: { key: string } | null };
      if (next != null) pageKeys = [...pageKeys.slice(-9), { request, key: next.key }];
      answers += 'text' in (first as object) ? 1 : 0;
    }
  }
  t.diagnostic(`${answers} answers`);
  assert.ok(answers > 6 * rounds, `${answers} answers`);
});

/** Every request for weeks and months of the stock: one part of the time first, then all of it. */
function* periodRequests(): Generator<Readonly<Record<string, string>>> {
  for (const [from, to] of [
    [9, 25],
    [0, DAYS],
  ] as const)
    for (const interval of ['WEEK', 'MON'])
      for (const is_eth of ['false', 'true'])
        for (const rest of [
          { sort: 'desc' },
          { sort: 'asc' },
          { adjust: 'all' },
          { as_of: `${dateOf(20)}T00:00:00Z` },
        ])
          yield { interval, is_eth, from_date: dateOf(from), to_date: dateOf(to), limit: '1000', ...rest };
}

test('weeks and months that several series give are the same bytes as those of a new thread, through commits, undone ones, and moments in any order (contract 3.6, 3.8, 3.9)', async () => {
  const url = temporary.storeUrl('periods');
  await (await openStore(url, 'write')).close();
  const reader = await openStore(url, 'read');
  opened.push(reader);
  const secret = new Uint8Array(32).fill(7);
  const long = new QueryRunner(reader, secret);
  const [{ asset_schema, country_iso_code, symbol }] = instruments;
  const [earlyMs, lateMs] = [START_MS + 16.5 * DAY_MS, START_MS + 50 * DAY_MS];

  const bars = (interval: string, from: number, to: number, price: number): FileRow[] => {
    const weekdays = Array.from({ length: to - from }, (_, at) => from + at).filter((day) => day % 7 < 5);
    const values = { open: price, high: price + 1, low: price - 1, close: price, volume: 1_000 };
    const row = (datetime: string, at: number) => ({
      ...{ asset_schema, country_iso_code, symbol, interval, datetime },
      ...{ ...values, close: price + (at % 8) / 8 },
    });
    if (interval === 'DAY' || interval === 'WEEK') return weekdays.map((day, at) => row(dateOf(day), at));
    const minutes = Array.from({ length: 30 }, (_, at) => 9 * 60 + at * 30);
    return weekdays.flatMap((day) =>
      minutes.map((minute, at) =>
        row(new Date(START_MS + (day * 1440 + minute) * MINUTE_MS).toISOString(), at),
      ),
    );
  };
  const fill = (dataset: string, rows: readonly FileRow[], basis: PriceBasis = 'raw') =>
    fillStore(url, temporary.folder, lateMs, [[dataset, rows]], null, basis);
  const ask = (runner: QueryRunner, raw: Readonly<Record<string, string>>, nowMs: number) => {
    const texts = { schema_asset: asset_schema, country_symbol: `${country_iso_code}:${symbol}`, ...raw };
    const parameters = parseParameters(historicalBars, new Map(Object.entries(texts)));
    return runner.run({ endpoint: 'historicalBars', parameters, nowMs, wrapCsv: false });
  };

  type State = { readonly version: number; readonly texts: ReadonlyMap<string, string> };
  const states: State[] = [];
  /** Asks for everything at two moments; which one is first changes. */
  async function look(what: string): Promise<State> {
    const texts = new Map<string, string>();
    let version = 0;
    for (const raw of periodRequests())
      for (const nowMs of states.length % 2 === 0 ? [earlyMs, lateMs] : [lateMs, earlyMs]) {
        if (raw.as_of !== undefined && nowMs === earlyMs) continue;
        const name = `${what}: ${JSON.stringify(raw)} ${nowMs}`;
        const fresh = await ask(new QueryRunner(reader, secret), raw, nowMs);
        for (let asking = 0; asking < 2; asking++) {
          const answer = await ask(long, raw, nowMs);
          if (answer.kind !== 'answer' || fresh.kind !== 'answer') {
            assert.deepEqual(answer, fresh, name);
            continue;
          }
          const text = Buffer.from(answer.body).toString();
          assert.equal(text, Buffer.from(fresh.body).toString(), name);
          texts.set(`${JSON.stringify(raw)} ${nowMs}`, text);
          version = answer.dataVersion!;
        }
      }
    // What the first version of the data had is what was answered from it then.
    const [before] = states;
    for (const [request, text] of before?.texts ?? []) {
      const [raw, nowMs] = request.split(/ (?=\d+$)/) as [string, string];
      if ('as_of' in JSON.parse(raw)) continue;
      const asked = { ...JSON.parse(raw), data_version: String(before!.version) };
      const answer = await ask(long, asked, Number(nowMs));
      if (answer.kind !== 'answer') assert.fail(`${what}: ${JSON.stringify(answer)}`);
      const data = (json: string): unknown => (JSON.parse(json) as { result: { data: unknown } }).result.data;
      assert.deepEqual(data(Buffer.from(answer.body).toString()), data(text), `${what}: ${request}`);
    }
    states.push({ version, texts });
    return states.at(-1)!;
  }
  const changed = (one: State, other: State): string[] =>
    [...one.texts].filter(([request, text]) => other.texts.get(request) !== text).map(([request]) => request);
  const of = (requests: readonly string[], part: string): string[] =>
    requests.filter((request) => request.includes(part));

  await fill('bars', bars('1M', 0, 36, 100));
  await fill('bars', bars('DAY', 5, 19, 200));
  const first = await look('minutes and days');
  assert.ok(changed(first, { ...first, texts: new Map() }).length > 30);
  await fill('bars', bars('DAY', 10, 11, 300));
  const corrected = await look('a corrected day');
  for (const interval of ['WEEK', 'MON'])
    for (const is_eth of ['true', 'false'])
      for (const sort of ['asc', 'desc']) {
        const named = `{"interval":"${interval}","is_eth":"${is_eth}"`;
        const other = of(of(changed(first, corrected), named), `"sort":"${sort}"`);
        // With extended hours the session comes from the minutes around it.
        assert.equal(other.length > 0, is_eth === 'false', `${named} ${sort}`);
      }
  const store = await openToWrite(url);
  const [newest] = await store.snapshot((state) => newestRuns(state, 1));
  await undoRun(store, { runId: newest!.run_id, dryRun: false, nowMs: () => lateMs });
  await store.close();
  assert.deepEqual(changed(first, await look('the correction undone')), []);
  await fill('bars', bars('1M', 7, 8, 150));
  assert.ok(of(changed(first, await look('other minutes')), '"is_eth":"true"').length > 0);
  await fill('bars', bars('WEEK', 14, 15, 400));
  await look('a stored week');
  const split = { action_type: 'split', split_from: 1, split_to: 2, ex_date: dateOf(16) };
  await fill('corporate-actions', [{ country_iso_code, symbol, ...split }]);
  await look('a split');
  const closed = { name: 'Closed', holiday_code: 'HOLIDAY_CLOSED', symbol: '*', session_template: 'CLOSED' };
  await fill('holidays', [
    { ...closed, asset_name: asset_schema, country_iso_code, calendar_date: dateOf(9) },
  ]);
  await look('a holiday');
  await fill('bars', bars('5M', 21, 33, 50), 'split');
  await look('days of another price basis');
});
