// Closing auctions by local clock, from the dated rules of each exchange: when they began, moved and ended
// (contract 3.13).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import { markets } from './index.ts';

/** The auctions of a session by local clock, separated by a space; `none`. */
function auctionsOn(country: string, date: string): string {
  const calendar = calendarOf('stock', country);
  const [session] = calendar.sessions(dayOfText(date), dayOfText(date) + 1);
  const clock = (ms: number): string =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: calendar.market.zone, timeStyle: 'short' }).format(ms);
  const found = session!.segments.filter(({ kind }) => kind === 'auction');
  return found.map(({ openMs, closeMs }) => `${clock(openMs)}-${clock(closeMs)}`).join(' ') || 'none';
}

const auctions: readonly [country: string, date: string, name: string, hours: string][] = [
  ['UK', '2000-04-28', 'before the auction', 'none'],
  ['UK', '2000-05-31', 'the month in which it began', '16:30-16:52'],
  ['UK', '2024-12-24', 'an early close', '12:30-12:52'],
  ['FR', '2000-03-31', 'the close at 17:00', '17:00-17:10'],
  ['FR', '2000-04-03', 'the close at 17:30', '17:30-17:40'],
  ['FR', '2024-12-24', 'a half day', '14:05-14:10'],
  ['EU', '2024-12-23', 'a whole day', '17:30-17:40'],
  ['EU', '2024-12-31', 'a half day', '14:05-14:10'],
  ['DE', '2000-06-01', 'before the long hours', '17:30-17:45'],
  ['DE', '2000-06-02', 'the close at 20:00', '20:00-20:15'],
  ['DE', '2003-11-03', 'the close at 17:30 again', '17:30-17:45'],
  ['DE', '2024-12-30', 'the last day of the year', '14:00-14:15'],
  ['DE', '2025-11-28', 'before the late retail trading', '17:30-17:45'],
  ['DE', '2025-12-01', 'with the late retail trading', '17:30-17:40'],
  ['DE', '2025-12-30', 'the last day of that year', '14:00-14:10'],
  ['CH', '2020-06-19', 'before trading at last', '17:30-17:33'],
  ['CH', '2020-06-22', 'with trading at last', '17:30-17:40'],
  ['AU', '2006-02-03', 'a call of 15 minutes', '16:00-16:16'],
  ['AU', '2012-01-03', 'the print by 16:12', '16:00-16:12'],
  ['AU', '2024-12-24', 'an early close', '14:10-14:22'],
  ['AU', '2025-06-20', 'before trading at the close', '16:00-16:12'],
  ['AU', '2025-06-23', 'with trading at the close', '16:00-16:22'],
  ['AU', '2025-12-31', 'an early close of that year', '14:10-14:22'],
  ['HK', '2008-05-23', 'before the first auctions', 'none'],
  ['HK', '2008-05-26', 'the first auction', '16:00-16:11'],
  ['HK', '2008-12-31', 'a half day until 12:30', '12:30-12:41'],
  ['HK', '2009-03-20', 'the last one before they were suspended', '16:00-16:11'],
  ['HK', '2009-03-23', 'suspended', 'none'],
  ['HK', '2016-07-22', 'before they came back', 'none'],
  ['HK', '2016-07-25', 'the first one again', '16:00-16:11'],
  ['HK', '2019-07-31', 'stopped by a typhoon', 'none'],
  ['HK', '2023-10-09', 'a day that began late', '16:00-16:11'],
  ['HK', '2026-12-24', 'a half day until 12:00', '12:00-12:11'],
  ['JP', '2008-12-30', 'a half day', '11:00-11:01'],
  ['JP', '2011-11-18', 'the long break', '11:00-11:01 15:00-15:01'],
  ['JP', '2024-11-01', 'the last close at 15:00', '11:30-11:31 15:00-15:01'],
  ['JP', '2024-11-05', 'the first close at 15:30', '11:30-11:31 15:30-15:31'],
  ['CN', '2006-06-30', 'before the auction', 'none'],
  ['CN', '2006-07-03', 'the first auction of Shenzhen', '15:00-15:01'],
  ['CA', '2003-12-31', 'before Market on Close', 'none'],
  ['CA', '2024-12-23', 'a whole day', '16:00-16:11'],
  ['CA', '2024-12-24', 'an early close', '13:00-13:06'],
  ['US', '2024-12-24', 'a cross within the post-market', 'none'],
];
for (const [country, date, name, hours] of auctions) {
  test(`${country} on ${date}, ${name}: auction ${hours} (contract 3.13)`, () => {
    assert.equal(auctionsOn(country, date), hours);
  });
}

test('an auction begins where the regular segment before it ends, and only stocks have one (contract 3.13)', () => {
  for (const { key, assetSchema, hours } of markets)
    for (const { segments } of hours)
      for (const [at, [kind, open]] of segments.entries()) {
        if (kind !== 'auction') continue;
        const [before, , close] = segments[at - 1]!;
        assert.deepEqual([assetSchema, before, close], ['stock', 'regular', open], key);
      }
});

test('a rule gives an auction an end of its own only after an early close (contract 3.13)', () => {
  for (const { key, holidays } of markets)
    for (const { name, close, auction } of holidays)
      if (auction !== undefined) assert.ok(close !== undefined && close <= auction, `${key}: ${name}`);
});
