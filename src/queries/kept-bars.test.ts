// Derived bars that a query thread keeps: the same bytes as those of a new one, whatever was asked and committed before (contract 3.8,
// 3.9).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Random } from '../../test/fuzz/random.ts';
import { type FileRow, fillStore } from '../../test/importing.ts';
import { seed } from '../../test/seed.ts';
import { TestFolder } from '../../test/stores.ts';
import { historicalBars, latestBars } from '../contract/bars.ts';
import { parseParameters } from '../contract/endpoint.ts';
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
  for (let round = 0; round < 20; round++) {
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
      const fresh = requestOf(random, clock.nowMs, null);
      // A page of a walk that may have begun before a commit.
      const request =
        page === undefined
          ? fresh
          : { ...page.request, parameters: { ...page.request.parameters, next_page_key: page.key } };
      const [first, second] = [await seen(long, request), await seen(long, request)];
      const other = await seen(new QueryRunner(reader, secret), request);
      const what = `seed ${seed}, round ${round}: ${JSON.stringify(request)}`;
      assert.deepEqual(second, first, what);
      assert.deepEqual(first, other, what);
      const { next } = first as { next?: { key: string } | null };
      if (next != null) pageKeys = [...pageKeys.slice(-9), { request, key: next.key }];
      answers += 'text' in (first as object) ? 1 : 0;
    }
  }
  t.diagnostic(`${answers} answers`);
  assert.ok(answers > 120, `${answers} answers`);
});
