// Databento ohlcv records as CSV, by its downloads and its clients.
import { unfitProblem } from '../../read/file-problem.ts';
import type { Sample } from '../../read/sample.ts';
import type { RichCell } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { cellsBelow, contains, given, type Preset, strict } from './preset.ts';

const prices = ['open', 'high', 'low', 'close'];

/** Record types: bars of a minute, an hour, a day. */
const intervals: Readonly<Record<string, string>> = { 33: '1M', 34: '60M', 35: 'DAY' };
const SECONDS = '32';

/** The value of a missing price. */
const NO_PRICE = '9223372036854775807';

/**
 * The UTC day of an instant in nanoseconds or ISO 8601: a bar of a day has that date, wherever the market is.
 */
const utcDay = `case when regexp_full_match({ts_event}, '\\d+')
  then strftime(make_timestamp(cast({ts_event} as bigint) // 1000), '%Y-%m-%d')
  when regexp_full_match({ts_event}, '\\d\\d\\d\\d-\\d\\d-\\d\\d[T ]00:00:00(\\.0+)?(Z|\\+00:00)') then substr({ts_event}, 1, 10) end`;

function mappingOf(sample: Sample): ColumnMapping {
  const rtype = cellsBelow(sample, 'rtype')[0] ?? '';
  if (rtype === SECONDS)
    throw unfitProblem(
      sample.name,
      'has bars of one second (rtype 32), which cannot be stored. Ask Databento for ohlcv-1m',
    );
  // Decimal prices have a point; integers are multiples of 1e-9.
  const isFixed = cellsBelow(sample, 'open').every((price) => /^-?\d+$/.test(price));
  const price = (column: string) =>
    isFixed ? { sql: `case when {${column}} = '${NO_PRICE}' then null else #{${column}} / 1e9 end` } : column;
  const interval: RichCell = { column: 'rtype', lookup: { [rtype]: intervals[rtype] ?? rtype } };
  return {
    columns: {
      ...given(sample, { volume: 'volume' }),
      ...Object.fromEntries(prices.map((column) => [column, price(column)])),
      datetime: rtype === '35' ? strict(utcDay, 'is not the midnight of a day, in UTC') : 'ts_event',
      interval,
    },
    values: {},
    prices: 'raw',
    symbols: 'then',
    notation: 'nasdaq',
  };
}

export const databento: Preset = {
  name: 'databento',
  says: 'Databento ohlcv-1m, ohlcv-1h, ohlcv-1d as CSV, with symbols (map_symbols)',
  dataset: 'bars',
  example: [
    'ts_event,rtype,publisher_id,instrument_id,open,high,low,close,volume,symbol',
    '2025-09-30T13:30:00.000000000Z,33,2,38,254.855000000,255.130000000,254.700000000,255.010000000,120344,AAPL',
  ],
  fits: contains('ts_event', 'rtype', ...prices),
  mappingOf,
};
