// Massive (formerly Polygon.io) flat files: one day of all tickers, minute or day aggregates.
import { type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  contains,
  doubtOfDate,
  firstCells,
  forex,
  known,
  type Preset,
  rowsBelow,
  volumeOf,
} from './preset.ts';

/** Asset type and country by the prefix of a ticker. */
export const kinds: Readonly<Record<string, { asset_schema: string; country_iso_code: string }>> = {
  'O:': { asset_schema: 'option', country_iso_code: 'US' },
  'X:': { asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
  'C:': forex,
  'I:': { asset_schema: 'stock', country_iso_code: 'US' },
  '': { asset_schema: 'stock', country_iso_code: 'US' },
};

const DAY_NS = 86_400_000_000_000n;
const HOUR_NS = 3.6e12;

/** The interval by Massive's folder, else by the rows: bars of days all begin at midnight. */
function intervalOf({ name }: Sample, starts: readonly string[]): string | null {
  const folder = /(minute|day)_aggs/.exec(name)?.[1];
  if (folder !== undefined) return folder === 'day' ? 'DAY' : '1M';
  if (starts.length < 2 || !starts.every((ns) => /^\d{19}$/.test(ns))) return null;
  return starts.every(isMidnight) ? 'DAY' : '1M';
}

/** Midnight of New York, or of UTC. */
const isMidnight = (ns: string): boolean => [0, 4, 5].includes(Number(BigInt(ns) % DAY_NS) / HOUR_NS);

/** The doubt where a file's name has another day than its first bar. */
const doubtOf = (sample: Sample, start = ''): { doubt?: string } =>
  /^\d{19}$/.test(start)
    ? doubtOfDate(/^\d{4}-\d{2}-\d{2}$/.exec(stemOf(sample))?.[0], Number(start) / 1e6)
    : {};

function mappingOf(sample: Sample): ColumnMapping {
  const header = firstCells(sample);
  const cells = (column: string) => rowsBelow(sample).map((row) => row[header.indexOf(column)] ?? '');
  const starts = cells('window_start');
  const prefix = /^[A-Z]:/.exec(cells('ticker')[0] ?? '')?.[0] ?? '';
  return {
    columns: {
      ...volumeOf(sample),
      datetime: 'window_start',
      symbol:
        prefix === ''
          ? 'ticker'
          : {
              sql: `case when starts_with({ticker}, '${prefix}') then substr({ticker}, 3) end`,
              isStrict: true,
              reason: `does not begin with ${prefix} like the first one: put each asset type into its own file`,
            },
    },
    values: known({ ...kinds[prefix], interval: intervalOf(sample, starts) }),
    prices: 'raw',
    symbols: 'then',
    notation: 'cqs',
    ...doubtOf(sample, starts[0]),
  };
}

export const massive: Preset = {
  name: 'massive',
  says: 'Massive (Polygon.io) flat files, minute and day aggregates of stocks, options, indices, crypto, forex',
  dataset: 'bars',
  example: [
    'ticker,volume,open,close,high,low,window_start,transactions',
    'AAPL,4930,200.29,200.5,200.63,200.29,1744792500000000000,129',
  ],
  fits: contains('ticker', 'open', 'close', 'high', 'low', 'window_start'),
  mappingOf,
};
