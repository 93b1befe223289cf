// Files of many vendors in one store: every interval of every day at hand agrees with what a careful person
// works out (contract 3).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { AskedBars, type Named, type ServedBar } from './asked-bars.ts';
import { Workshop } from './service.ts';
import { byHand, type Expected, type Values } from './side-by-side/bars-by-hand.ts';
import type { Case, Given } from './side-by-side/case.ts';
import { generatedDays } from './side-by-side/generated-days.ts';
import {
  btcName,
  googName,
  hasRealDays,
  lean,
  realDays,
  realMinutes,
  recordsOf,
  spy,
  spyName,
} from './side-by-side/real-days.ts';

const shop = new Workshop();
after(() => shop.close());

/**
 * Files begin within a week or a month: the first one is said to have it from its beginning (contract 3.9).
 */
function completeFrom({ known: { periods } }: Case): string[] {
  const opens = periods.flatMap(({ regular, extended }) => (extended ?? regular ?? []).slice(0, 1));
  return opens.length === 0 ? [] : ['--complete-from', new Date(Math.min(...opens)).toISOString()];
}

async function give([name, content, ...flags]: Given, ...more: string[]): Promise<void> {
  const path = content === null ? name : shop.path(name);
  if (content !== null) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  await shop.must('import', 'bars', path, ...flags, ...more);
}

/** Imports an instrument of a market without a calendar: its day is that of a time zone. */
async function giveZone({ asset_schema, country_iso_code, symbol }: Named, zone: string): Promise<void> {
  const path = shop.path('zones.csv');
  const columns = 'asset_schema,country_iso_code,symbol,time_zone';
  writeFileSync(path, `${columns}\n${[asset_schema, country_iso_code, symbol, zone].join()}\n`);
  await shop.must('import', 'instruments', path);
}

before(async () => {
  const cases = Object.values({ ...(hasRealDays ? realDays : {}), ...generatedDays }).map((one) => one());
  for (const one of cases) {
    if (one.zone !== undefined) await giveZone(one.named, one.zone);
    const [first, ...others] = one.files;
    await give(first!, ...completeFrom(one));
    for (const file of others) await give(file);
  }
});

const stamp = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}+00:00`;
const valuesOf = (bar: Values): (number | null)[] => [bar.open, bar.high, bar.low, bar.close, bar.volume];

/** How far a vwap may be from the one worked out in binary fractions, relative to itself or to 1. */
const VWAP_TOLERANCE = 1e-9;
const isNear = (found: number, expected: number): boolean =>
  Math.abs(found - expected) <= VWAP_TOLERANCE * Math.max(1, Math.abs(expected));

function assertSame(served: readonly ServedBar[], expected: readonly Expected[], what: string): void {
  assert.deepEqual(
    served.map((bar) => [bar.session_date, bar.datetime, bar.close_datetime, ...valuesOf(bar)]),
    expected.map((bar) => [bar.date, stamp(bar.openMs), stamp(bar.closeMs), ...valuesOf(bar)]),
    what,
  );
  for (const [at, { vwap }] of expected.entries()) {
    const found = served[at]!.vwap;
    const isSame = vwap === null || found === null ? vwap === found : isNear(found, vwap);
    assert.ok(isSame, `${what}: vwap ${found} of ${served[at]!.datetime}, expected ${vwap}`);
  }
}

const INTERVALS = '1M 3M 5M 7M 10M 15M 30M 45M 60M 120M 240M DAY WEEK MON'.split(' ');
const NEWEST = 11;

/**
 * Asks every interval with both hours, in both directions, and the newest bars where the store has none after
 * them.
 */
async function assertServed({ named, from, to, known }: Case): Promise<void> {
  const asked = new AskedBars(named, shop.store);
  try {
    for (const interval of INTERVALS)
      for (const extended of [false, true]) {
        const what = `${interval} is_eth=${extended}`;
        const is_eth = String(extended);
        const expected = byHand(known, interval, extended);
        const periods = known.periods.filter((one) => one.interval === interval);
        const range = [periods[0]?.first ?? from, periods.at(-1)?.first ?? to] as const;
        const served = await asked.history(interval, ...range, { is_eth });
        assertSame(served, expected, what);
        const back = await asked.history(interval, ...range, { is_eth, sort: 'desc', limit: '97' });
        assert.deepEqual(back.reverse(), served, `${what} sort=desc`);
        if (known.days !== undefined) continue;
        const newest = await asked.latest(interval, { is_eth, limit: String(NEWEST) });
        assert.deepEqual(newest, served.slice(-NEWEST), `${what} latest`);
      }
  } finally {
    await asked.close();
  }
}

const agrees = 'every interval, regular and extended, is what is worked out by hand';

/** Whether the real days are there; says so aloud where not. */
function hasData(t: TestContext): boolean {
  if (!hasRealDays) t.skip(`there is no ${lean}`);
  return hasRealDays;
}

for (const [name, one] of Object.entries(realDays))
  test(`${name}: ${agrees} (contract 3.3 to 3.10)`, async (t) => {
    if (hasData(t)) await assertServed(one());
  });

for (const [name, one] of Object.entries(generatedDays))
  test(`${name}: ${agrees} (contract 3.3 to 3.13)`, () => assertServed(one()));

for (const [name, one] of [
  [spyName, spy],
  [googName, realDays["GOOG's early close in Massive's shape"]!],
  [btcName, realDays["BTCUSD's day in Binance's shape"]!],
] as const)
  test(`the bars worked out by hand of ${name} are the answers worked out elsewhere (contract 3)`, (t) => {
    if (!hasData(t)) return;
    const { sessions, periods } = one().known;
    const known = { sessions, periods, minutes: realMinutes(name) };
    const answers = Map.groupBy(
      recordsOf('answers', `${name}.bars.csv`),
      ({ interval, is_eth }) => `${interval} ${is_eth}`,
    );
    for (const [series, rows] of answers) {
      const [interval = '', is_eth] = series.split(' ');
      const found = byHand(known, interval, is_eth === 'true');
      assert.deepEqual(
        found.map((bar) => [stamp(bar.openMs), stamp(bar.closeMs), ...valuesOf(bar)].map(String)),
        rows.map((row) => [
          ...[row.datetime, row.close_datetime],
          ...[row.open, row.high, row.low, row.close, row.volume],
        ]),
        series,
      );
      for (const [at, row] of rows.entries())
        assert.ok(isNear(found[at]!.vwap!, Number(row.vwap)), `${series}: vwap of ${row.datetime}`);
    }
  });
