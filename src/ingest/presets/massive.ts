// Massive (formerly Polygon.io) flat files: one day of all tickers, minute or day aggregates.
import type { FieldMap } from '../mapping.ts';
import type { Sample } from '../sample.ts';
import { type Fit, firstCells, hasColumns, known, type Preset, present, rowsBelow } from './preset.ts';

const needed = ['ticker', 'open', 'close', 'high', 'low', 'window_start'];

/** What the prefix of a file's tickers says. */
const kinds: Readonly<Record<string, { asset_schema: string; country_iso_code: string }>> = {
  'O:': { asset_schema: 'option', country_iso_code: 'US' },
  'X:': { asset_schema: 'crypto', country_iso_code: 'GLOBAL' },
  'C:': { asset_schema: 'forex', country_iso_code: 'GLOBAL' },
  'I:': { asset_schema: 'stock', country_iso_code: 'US' },
  '': { asset_schema: 'stock', country_iso_code: 'US' },
};

const DAY_NS = 86_400_000_000_000n;
const HOUR_NS = 3.6e12;

/** The interval by the folder that Massive keeps a file in, else by its rows: a day file has every ticker once, at midnight. */
function intervalOf(
  { name }: Sample,
  rows: readonly (readonly [ticker: string, ns: string])[],
): string | null {
  const folder = /(minute|day)_aggs/.exec(name)?.[1];
  if (folder !== undefined) return folder === 'day' ? 'DAY' : '1M';
  const [first] = rows;
  if (first === undefined || !/^\d{19}$/.test(first[1])) return null;
  if (rows.some(([, ns]) => ns !== first[1])) return '1M';
  const isOnce = new Set(rows.map(([ticker]) => ticker)).size === rows.length;
  // Midnight of New York, or of UTC.
  const hours = Number(BigInt(first[1]) % DAY_NS) / HOUR_NS;
  return rows.length > 1 && isOnce && [0, 4, 5].includes(hours) ? 'DAY' : null;
}

function mapOf(sample: Sample): FieldMap {
  const header = firstCells(sample);
  const at = (column: string): number => header.indexOf(column);
  const rows = rowsBelow(sample).map(
    (cells) => [cells[at('ticker')] ?? '', cells[at('window_start')] ?? ''] as const,
  );
  const prefix = /^[A-Z]:/.exec(rows[0]?.[0] ?? '')?.[0] ?? '';
  const { asset_schema, country_iso_code } = kinds[prefix] ?? {};
  return {
    columns: {
      ...present({ volume: 'volume' }, header),
      datetime: 'window_start',
      symbol:
        prefix === ''
          ? 'ticker'
          : {
              sql: `case when starts_with({ticker}, '${prefix}') then substr({ticker}, 3) end`,
              isStrict: true,
              reason: `does not begin with ${prefix} as the first one does: files of several asset types are taken one by one`,
            },
    },
    values: known({
      asset_schema,
      country_iso_code,
      interval: rows.length === 0 ? null : intervalOf(sample, rows),
    }),
    prices: 'raw',
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
  fits: (sample): Fit => (hasColumns(sample, needed) ? 'surely' : 'no'),
  mapOf,
};
