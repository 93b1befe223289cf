// Loaded by `--import` before bourse: every built-in market gets the zone of the next one in the list, and
// other hours, closed days and early closes than it has.

import { type Hours, type Market, rulesFrom } from '../../src/market/calendar/market.ts';
import { markets } from '../../src/market/calendar/markets/index.ts';

const rule = rulesFrom('made up for a test');
const holidays = [
  rule('OTHER', 'Another closed day', { month: 3, day: 6 }),
  rule('EARLY', 'Another early close', { month: 3, day: 10, close: '12:00' }),
];

const zones = markets.map(({ zone }) => zone);

/** Open on Saturday and closed on Friday, with a break. */
const hours: readonly Hours[] = [
  {
    from: '1900-01-01',
    weekdays: [1, 2, 3, 4, 6],
    segments: [
      ['pre', '07:00', '10:00'],
      ['regular', '10:00', '12:00'],
      ['regular', '13:00', '15:00'],
      ['post', '15:00', '18:30'],
    ],
    source: 'made up for a test',
  },
];

for (const [at, market] of markets.entries())
  Object.assign<Market, Partial<Market>>(market, {
    zone: zones[(at + 1) % zones.length]!,
    years: [2000, 2030],
    hours,
    codes: { HOLIDAY_OTHER: 'Another closed day', HOLIDAY_EARLY: 'Another early close' },
    holidays,
  });
