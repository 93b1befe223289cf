// Minutes that a file dates by their close, in every built-in market: the import and the findings say so, and
// say nothing of others (contract 9.10 close_labelled, 11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { interval } from '../src/contract/interval.ts';
import { BarFindings } from '../src/imports/load/bar-rules.ts';
import { OpenSeries } from '../src/imports/load/open-series.ts';
import { type Bars, emptyBars, valueColumns } from '../src/market/bars/columns.ts';
import { Calendar } from '../src/market/calendar/calendar.ts';
import type { Market } from '../src/market/calendar/market.ts';
import { markets } from '../src/market/calendar/markets/index.ts';
import { hoursOf } from '../src/market/calendar/period.ts';
import type { Session } from '../src/market/calendar/session.ts';
import { MinuteSessions } from '../src/queries/findings/minute-sessions.ts';
import { Random } from './fuzz/random.ts';
import { seed } from './seed.ts';

const MINUTE_MS = 60_000;
const day = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000;

/** The sessions around New Year, early closes and holidays of most markets among them. */
const sessionsOf = (calendar: Calendar): Session[] => calendar.sessions(day('2024-12-16'), day('2025-01-10'));

/** The opens of a session's bars: in auctions one, in other segments that count all of them. */
function opensIn({ segments }: Session, minutes: number, isExtended: boolean): number[] {
  return segments.flatMap(({ kind, openMs, closeMs }) => {
    if (kind === 'auction') return [openMs];
    if (kind !== 'regular' && !isExtended) return [];
    return Array.from(
      { length: Math.ceil((closeMs - openMs) / (minutes * MINUTE_MS)) },
      (_, at) => openMs + at * minutes * MINUTE_MS,
    );
  });
}

function barsAt(keys: readonly number[]): Bars {
  const bars = emptyBars(keys.length);
  bars.count = keys.length;
  bars.keyMs.set(keys);
  for (const column of valueColumns) bars[column].fill(1);
  return bars;
}

type Answers = { readonly told: readonly number[]; readonly found: number };

/** What the report of an import says of bars, in blocks of some days, and how many sessions the findings count. */
function judged(market: Market, calendar: Calendar, minutes: number, keys: readonly number[]): Answers {
  const code = interval(`${minutes}M`);
  const row = { interval: code, bar_count: 0 } as unknown as OpenSeries['row'];
  const instrument = { asset_schema: market.assetSchema, country_iso_code: market.country, symbol: 'A' };
  const series = new OpenSeries(row, instrument, { exchange: null, calendar, market: market.key }, true);
  const report = new BarFindings(Date.parse('2030-01-01'), Date.parse('2030-01-01'), 7);
  const blocks = Map.groupBy(keys, (ms) => Math.floor(ms / 86_400_000)).values();
  for (const block of blocks) report.judge(series, barsAt(block), 1);
  const told = Object.entries(report.findings()).filter(([words]) =>
    /bourse undo 7 .*--label close/.test(words),
  );
  const read = new MinuteSessions(calendar, minutes);
  read.add(barsAt(keys));
  read.end();
  return { told: told.map(([, count]) => count), found: read.hasFirstOpen ? 0 : read.shifted.length };
}

/** Sessions that follow each other without a pause: a close is the next open, and tells nothing. */
const continuous = ['CRYPTO_GLOBAL', 'FOREX_GLOBAL'];

for (const market of markets)
  test(`${market.key}: bars dated by their close are told, others are not`, () => {
    const calendar = new Calendar(market);
    const sessions = sessionsOf(calendar);
    for (const minutes of [1, 5, 30])
      for (const isExtended of [false, true]) {
        const opens = sessions.map((session) => opensIn(session, minutes, isExtended));
        const shifted = opens.map((all, at) =>
          all.map((ms) => {
            const { segments } = sessions[at]!;
            const { closeMs } = segments.findLast(({ openMs }) => openMs <= ms)!;
            return Math.min(ms + minutes * MINUTE_MS, closeMs);
          }),
        );
        const what = `${minutes}M ${isExtended}`;
        const answer = (of: readonly (readonly number[])[]) =>
          judged(market, calendar, minutes, [...new Set(of.flat())]);
        const none = { told: [], found: 0 };
        assert.deepEqual(answer(opens), none, `by the open: ${what}`);
        assert.deepEqual(answer(shifted.slice(0, 4)), { ...none, found: answer(shifted.slice(0, 4)).found });
        const thin = new Random(seed, minutes);
        const some = opens.map((all) => all.filter(() => thin.chance(0.3)));
        assert.deepEqual(answer(some).told, [], `thin: ${what}`);
        if (continuous.includes(market.key)) {
          assert.deepEqual(answer(shifted), none, `continuous: ${what}`);
          continue;
        }
        const bars = shifted.flat().length;
        assert.deepEqual(answer(shifted), { told: [bars], found: sessions.length }, `by the close: ${what}`);
        // One bar at a first open among them.
        const oneOpen = [[hoursOf(sessions[0]!, isExtended).openMs, ...shifted[0]!], ...shifted.slice(1)];
        assert.deepEqual(answer(oneOpen), none, `one at its open: ${what}`);
      }
  });

test('Chinese minutes from 09:31 to 11:30 and from 13:01 to 15:00 are dated by their close', () => {
  const market = markets.find(({ key }) => key === 'CN_STOCK')!;
  const calendar = new Calendar(market);
  const clock = (date: string, hours: number, minutes: number): number =>
    Date.parse(`${date}T00:00:00+08:00`) + (hours * 60 + minutes) * MINUTE_MS;
  const dates = ['2024-03-04', '2024-03-05', '2024-03-06', '2024-03-07', '2024-03-08'];
  const keys = dates.flatMap((date) => [
    ...Array.from({ length: 120 }, (_, at) => clock(date, 9, 31 + at)),
    ...Array.from({ length: 120 }, (_, at) => clock(date, 13, 1 + at)),
  ]);
  assert.deepEqual(judged(market, calendar, 1, keys), { told: [1200], found: 5 });
  assert.deepEqual(judged(market, calendar, 1, keys.slice(240)), { told: [], found: 4 });
});
