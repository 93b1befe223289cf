// Findings: what is wrong, or may be wrong, with the stored data of an instrument (contract 9.10).
import {
  anotherTime,
  endpoint,
  extraSort,
  formats,
  instrument,
  limit,
  nextPageKey,
  optional,
} from './endpoint.ts';
import { dateTime, integer, nullable, number, oneOf, record, text } from './fields.ts';
import * as kind from './kinds.ts';
import { listLimits } from './limits.ts';

/** The kinds of findings. Those of one instant come in this order. */
export const findingKinds = [
  'isolated_wick',
  'unrecorded_split',
  'action_without_jump',
  'identity_break',
  'missing_session',
  'behind',
  'short_session',
  'gap',
  'closed_day',
  'outside_session',
  'off_grid',
  'minute_day_mismatch',
  'stale',
  'vwap_outside',
  'impossible_dividend',
  'conflicting_imports',
  'split_basis',
  'dividend_currency',
  'factor_mismatch',
  'doubled_dividend',
  'close_labelled',
] as const;

/** The severities of findings, the least first. */
export const severities = ['info', 'warning', 'error'] as const;

/** One finding on the wire. */
const findingRecord = record('Finding', {
  kind: [oneOf(findingKinds, 'What it is'), 'isolated_wick'],
  severity: [oneOf(severities, 'How bad it is'), 'warning'],
  interval: [text('Interval of the stored bars'), 'DAY'],
  from_datetime: [
    dateTime('Open of the first bar or session of the finding, UTC'),
    '2025-03-03T14:30:00+00:00',
  ],
  to_datetime: [dateTime('Close of the last bar or session, UTC'), '2025-03-03T21:00:00+00:00'],
  value: [nullable(number('The stored value, if it is a number')), 10.59],
  expected: [nullable(number('The value that it is compared with')), 184],
  message: [
    text('What was found, with the thresholds'),
    'the low is 94.2 % beyond open, close and both neighbouring bars',
  ],
  run_id: [nullable(integer('The import or deletion that last changed the bars there')), 1],
});

export const findings = endpoint({
  path: '/api/v2/{schema_asset}/findings/{country_symbol}',
  tag: 'findings',
  summary: 'What may be wrong with the stored data of an instrument',
  parameters: {
    ...instrument,
    interval: optional(kind.interval, 'the interval of the stored bars'),
    from_date: optional(
      kind.date,
      'the first date in the market’s time zone: findings that end before it are left out',
    ),
    to_date: optional(kind.date, 'the last date: findings that begin after it are left out'),
    kind: optional(kind.oneOf(findingKinds), 'the kind of finding'),
    severity: optional(kind.oneOf(severities), 'the severity'),
    sort: extraSort('the order of the findings by their beginning'),
    limit: limit(listLimits.findings, 'findings'),
    ...formats('json'),
    next_page_key: nextPageKey,
    ...anotherTime,
  },
  record: findingRecord,
  shape: 'paged',
  refusals: ['unknown_instrument'],
  extension: true,
});
