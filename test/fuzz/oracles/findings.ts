// Findings (contract 9.10): every bar opens at 1 and closes at 2, which no recorded split explains, and two
// dividends are above half the price.
import { dayOf, intervalOf, lowerAscii, nameOf } from '../grammar.ts';
import { arranged, dayRangeFaults, isBetween, isDescending, type Oracle, unknownFaults } from './common.ts';

const dividend = { kind: 'impossible_dividend', severity: 'warning', interval: 'DAY', run_id: null };
const split = { kind: 'action_without_jump', severity: 'warning', interval: 'DAY', value: 0.5 };

/** The findings of each name that has some, by date. */
const known: Readonly<Record<string, Readonly<Record<string, typeof dividend | typeof split>>>> = {
  'STOCK:US:AAPL': { '2000-02-29': dividend, '2025-03-07': split },
  'STOCK:US:A$#!@~&=+_/.-B': { '1998-01-15': dividend, '1999-01-15': dividend, '2025-03-04': split },
};

/** `GET …/findings/…` */
export const findings: Oracle = (texts) => {
  const name = nameOf(texts);
  const { interval, kind, severity } = texts;
  const list = Object.entries(known[name.toUpperCase()] ?? {})
    .filter(([day]) => isBetween(dayOf(day), texts))
    .filter(
      ([, fields]) =>
        (interval === undefined || intervalOf(interval) === fields.interval) &&
        (kind === undefined || lowerAscii(kind) === fields.kind) &&
        (severity === undefined || lowerAscii(severity) === fields.severity),
    )
    .map(([day, fields]) => ({ fields: { ...fields, from_datetime: `${day}T14:30:00+00:00` }, place: day }));
  return {
    mistakes: dayRangeFaults(texts),
    faults: unknownFaults(name, 'country_symbol'),
    list: arranged(list, isDescending(texts)),
  };
};
