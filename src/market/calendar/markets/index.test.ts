// The markets that ship: round-the-clock sessions (contract 3.7) and what every market's data must hold
// (house, "Where a change goes").
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDay } from '../../../base/instant.ts';
import type { AssetSchema } from '../../../contract/identifiers.ts';
import { type Calendar, calendarOf } from '../calendar.ts';
import { dayOfText } from '../rules.ts';
import { markets } from './index.ts';

const forex = calendarOf('forex', 'GLOBAL');
const future = calendarOf('future', 'US');
const crypto = calendarOf('crypto', 'GLOBAL');

const iso = (ms: number): string => new Date(ms).toISOString().replace(':00.000Z', 'Z');

const sessions: readonly [name: string, calendar: Calendar, label: string, open: string, close: string][] = [
  [
    'a forex Monday opens on Sunday at 17:00 New York',
    forex,
    '2024-01-08',
    '2024-01-07T22:00Z',
    '2024-01-08T22:00Z',
  ],
  ['a forex Friday ends at 17:00 New York', forex, '2024-01-12', '2024-01-11T22:00Z', '2024-01-12T22:00Z'],
  ['a forex Friday before daylight saving', forex, '2024-03-08', '2024-03-07T22:00Z', '2024-03-08T22:00Z'],
  [
    'a forex Monday after daylight saving began',
    forex,
    '2024-03-11',
    '2024-03-10T21:00Z',
    '2024-03-11T21:00Z',
  ],
  ['a forex Friday before standard time', forex, '2024-11-01', '2024-10-31T21:00Z', '2024-11-01T21:00Z'],
  ['a forex Monday after standard time began', forex, '2024-11-04', '2024-11-03T22:00Z', '2024-11-04T22:00Z'],
  ['a forex New Year', forex, '2024-01-01', '2023-12-31T22:00Z', '2024-01-01T22:00Z'],
  [
    'a futures Monday opens on Sunday at 17:00 Chicago',
    future,
    '2024-01-08',
    '2024-01-07T23:00Z',
    '2024-01-08T22:00Z',
  ],
  ['a futures Tuesday opens after the pause', future, '2024-01-09', '2024-01-08T23:00Z', '2024-01-09T22:00Z'],
  ['a futures Friday ends at 16:00 Chicago', future, '2024-01-12', '2024-01-11T23:00Z', '2024-01-12T22:00Z'],
  ['a futures Friday before daylight saving', future, '2024-03-08', '2024-03-07T23:00Z', '2024-03-08T22:00Z'],
  [
    'a futures Monday after daylight saving began',
    future,
    '2024-03-11',
    '2024-03-10T22:00Z',
    '2024-03-11T21:00Z',
  ],
  ['a futures Friday before standard time', future, '2024-11-01', '2024-10-31T22:00Z', '2024-11-01T21:00Z'],
  [
    'a futures Monday after standard time began',
    future,
    '2024-11-04',
    '2024-11-03T23:00Z',
    '2024-11-04T22:00Z',
  ],
  [
    'a futures Friday before equity index futures closed at 16:00',
    future,
    '2015-09-18',
    '2015-09-17T22:00Z',
    '2015-09-18T21:15Z',
  ],
  [
    'the first futures Monday that ends at 16:00',
    future,
    '2015-09-21',
    '2015-09-20T22:00Z',
    '2015-09-21T21:00Z',
  ],
  ['a crypto Sunday', crypto, '2024-03-10', '2024-03-10T00:00Z', '2024-03-11T00:00Z'],
  ['a crypto Christmas', crypto, '2024-12-25', '2024-12-25T00:00Z', '2024-12-26T00:00Z'],
];
for (const [name, calendar, label, open, close] of sessions) {
  test(`${name}: ${label} runs from ${open} to ${close} (contract 3.7)`, () => {
    const session = calendar.sessionOnOrBefore(dayOfText(label));
    assert.equal(session?.day, dayOfText(label));
    assert.deepEqual([iso(session!.openMs), iso(session!.closeMs)], [open, close]);
    assert.deepEqual(
      session?.segments.map((segment) => segment.kind),
      ['regular'],
    );
  });
}

const labels: readonly [name: string, calendar: Calendar, at: string, label: string | null][] = [
  ['forex on Friday before 17:00', forex, '2024-01-12T21:59Z', '2024-01-12'],
  ['forex on Friday at 17:00', forex, '2024-01-12T22:00Z', null],
  ['forex on Saturday', forex, '2024-01-13T12:00Z', null],
  ['forex on Sunday before 17:00', forex, '2024-01-14T21:59Z', null],
  ['forex on Sunday at 17:00', forex, '2024-01-14T22:00Z', '2024-01-15'],
  ['forex on Tuesday at 17:00', forex, '2024-01-09T22:00Z', '2024-01-10'],
  ['futures before the pause', future, '2024-01-09T21:59Z', '2024-01-09'],
  ['futures in the pause', future, '2024-01-09T22:30Z', null],
  ['futures after the pause', future, '2024-01-09T23:00Z', '2024-01-10'],
  ['futures on Friday after 16:00', future, '2024-01-12T23:00Z', null],
  ['crypto at midnight', crypto, '2024-01-13T00:00Z', '2024-01-13'],
  ['crypto before midnight', crypto, '2024-01-13T23:59Z', '2024-01-13'],
];
for (const [name, calendar, at, label] of labels) {
  test(`${name}, ${at}, is ${label === null ? 'in no session' : `in the session of ${label}`} (contract 3.7)`, () => {
    assert.equal(calendar.labelAt(Date.parse(at)), label === null ? null : dayOfText(label));
  });
}

const grains = calendarOf('future', 'US', null, 'US_FUTURE_CBOT_GRAIN');

// Dates around each change of hours, and of the clocks in Chicago, by the exchange's notices.
const grainSessions: readonly [label: string, segments: string][] = [
  ['2013-04-05', '2013-04-04T22:00Z/2013-04-05T19:00Z'],
  ['2013-04-08', '2013-04-08T00:00Z/2013-04-08T12:45Z 2013-04-08T13:30Z/2013-04-08T18:15Z'],
  ['2015-07-02', '2015-07-02T00:00Z/2015-07-02T12:45Z 2015-07-02T13:30Z/2015-07-02T18:15Z'],
  ['2015-07-06', '2015-07-06T00:00Z/2015-07-06T12:45Z 2015-07-06T13:30Z/2015-07-06T18:20Z'],
  ['2024-03-08', '2024-03-08T01:00Z/2024-03-08T13:45Z 2024-03-08T14:30Z/2024-03-08T19:20Z'],
  ['2024-03-11', '2024-03-11T00:00Z/2024-03-11T12:45Z 2024-03-11T13:30Z/2024-03-11T18:20Z'],
];
for (const [label, segments] of grainSessions) {
  test(`the CBOT grain session of ${label} is ${segments} (contract 3.7)`, () => {
    const session = grains.sessionOnOrBefore(dayOfText(label));
    assert.equal(session?.day, dayOfText(label));
    const told = session!.segments.map(({ openMs, closeMs }) => `${iso(openMs)}/${iso(closeMs)}`);
    assert.equal(told.join(' '), segments);
  });
}

const perYear: readonly [name: string, calendar: Calendar, sessions: number][] = [
  ['forex', forex, 262],
  ['futures', future, 262],
  ['CBOT grains', grains, 262],
  ['crypto', crypto, 366],
];
for (const [name, calendar, count] of perYear) {
  test(`2024 has ${count} sessions of ${name}, no holiday among them (contract 3.7)`, () => {
    assert.equal(calendar.sessions(dayOfText('2024-01-01'), dayOfText('2025-01-01')).length, count);
  });
}

const keys: readonly [
  key: string,
  assetSchema: AssetSchema,
  country: string,
  zone: string,
  template: string,
][] = [
  ['US_STOCK', 'stock', 'US', 'America/New_York', 'US_STOCK_RTH'],
  ['UK_STOCK', 'stock', 'UK', 'Europe/London', 'UK_STOCK_RTH'],
  ['CA_STOCK', 'stock', 'CA', 'America/Toronto', 'CA_STOCK_RTH'],
  ['AU_STOCK', 'stock', 'AU', 'Australia/Sydney', 'AU_STOCK_RTH'],
  ['CH_STOCK', 'stock', 'CH', 'Europe/Zurich', 'CH_STOCK_RTH'],
  ['DE_STOCK', 'stock', 'DE', 'Europe/Berlin', 'DE_STOCK_RTH'],
  ['FR_STOCK', 'stock', 'FR', 'Europe/Paris', 'FR_STOCK_RTH'],
  ['EU_STOCK', 'stock', 'EU', 'Europe/Amsterdam', 'EU_STOCK_RTH'],
  ['JP_STOCK', 'stock', 'JP', 'Asia/Tokyo', 'JP_STOCK_RTH'],
  ['HK_STOCK', 'stock', 'HK', 'Asia/Hong_Kong', 'HK_STOCK_RTH'],
  ['CN_STOCK', 'stock', 'CN', 'Asia/Shanghai', 'CN_STOCK_RTH'],
  ['US_FUTURE', 'future', 'US', 'America/Chicago', 'US_FUTURE_ETH'],
  ['US_FUTURE_CBOT_GRAIN', 'future', 'US', 'America/Chicago', 'US_FUTURE_CBOT_GRAIN_ETH'],
  ['CRYPTO_GLOBAL', 'crypto', 'GLOBAL', 'UTC', ''],
  ['FOREX_GLOBAL', 'forex', 'GLOBAL', 'America/New_York', ''],
];
for (const [key, assetSchema, country, zone, template] of keys) {
  test(`${key} is the market of ${assetSchema} in ${country}, in ${zone} (contract 8.1)`, () => {
    const market = markets.find((candidate) => candidate.key === key);
    assert.deepEqual([market?.assetSchema, market?.country, market?.zone], [assetSchema, country, zone]);
    if (template !== '') assert.equal(market?.sessionTemplate, template);
  });
}

test('no two markets have a key in common, and no two that are found by asset type and country have those', () => {
  assert.equal(new Set(markets.map(({ key }) => key)).size, markets.length);
  const defaults = markets.filter(({ onlyByKey }) => !onlyByKey);
  const names = defaults.map((market) => `${market.assetSchema}:${market.country}`);
  assert.equal(new Set(names).size, defaults.length);
  for (const { assetSchema, country } of markets)
    assert.ok(names.includes(`${assetSchema}:${country}`), `${assetSchema}:${country} has a default market`);
});

for (const market of markets) {
  test(`the data of ${market.key} is whole: hours in order from dates, rules with codes and sources (spec 2.9)`, () => {
    const dates = market.hours.map((hours) => hours.from);
    assert.ok(dates.length > 0 && dates.every((date) => parseDay(date) !== null));
    assert.deepEqual(dates, [...dates].sort());
    for (const hours of market.hours) {
      assert.notEqual(hours.source, '');
      assert.ok(hours.segments.some(([kind]) => kind === 'regular'));
      assert.ok(hours.weekdays.every((weekday) => weekday >= 1 && weekday <= 7));
    }
    for (const rule of market.holidays) {
      assert.match(rule.code, /^HOLIDAY_[A-Z0-9_]+$/);
      assert.notEqual(rule.name, '');
      assert.notEqual(rule.source, '');
    }
    assert.ok(market.years[0] <= market.years[1]);
    const used = new Set(market.holidays.map(({ code }) => code));
    assert.deepEqual(
      [...used].sort(),
      Object.keys(market.codes).sort(),
      'each code has a meaning, and is used',
    );
  });
}
