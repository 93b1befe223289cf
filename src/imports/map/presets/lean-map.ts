// QuantConnect LEAN map files as instruments: a row is a ticker, and the last day on which the instrument had
// it.
import { formatDay } from '../../../base/instant.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { stemOf } from '../../read/sample.ts';
import { byDate, dashed, dayNumber, fitOf, OPEN_END } from './lean-rows.ts';
import type { Preset } from './preset.ts';

const ROW = /^\d{8},[a-z][a-z0-9.^-]*(,[a-z]?)?$/i;

/** The date at which LEAN's data begin, whenever the listing was. */
const BEGIN = '19980102';

/** The exchange letters of the third column. */
const exchanges: Record<string, string> = { Q: 'XNAS', N: 'XNYS', A: 'XASE', P: 'ARCX', Z: 'BATS' };

/**
 * The tickers before the present one, each with its first and last day: an instrument may have its symbol
 * again.
 */
function formerOf(rows: readonly NumberedRow[], symbol: string): string {
  const spans: { ticker: string; from: string; to: string }[] = [];
  const dateOf = (index: number): string => rows[index]!.cells[0]!;
  for (const [index, { cells }] of rows.entries()) {
    const ticker = cells[1]!.toUpperCase();
    // The first row is the listing.
    const from = index <= 1 ? dashed(dateOf(0)) : formatDay(dayNumber(dateOf(index - 1)) + 1);
    const to = dashed(dateOf(index));
    const last = spans.at(-1);
    if (last?.ticker === ticker) last.to = to;
    else spans.push({ ticker, from, to });
  }
  return (spans.at(-1)?.ticker === symbol ? spans.slice(0, -1) : spans)
    .map(({ ticker, from, to }) => `${ticker}:${from}..${to}`)
    .join(' ');
}

/** The fields that are the same in every file. */
const values = { asset_schema: 'stock', country_iso_code: 'US' };

/** The instrument of a file; `stem` is its name. */
function instrumentOf(rows: readonly NumberedRow[], stem: string): NativeRows {
  const [begin = ''] = rows[0]!.cells;
  const { row, cells } = rows.at(-1)!;
  const [end = '', ticker = '', exchange = ''] = cells;
  const isOpen = end === OPEN_END;
  // Where another instrument has the ticker now, LEAN tells them apart by a number.
  const symbol = (/\.\d+$/.test(stem) ? stem : ticker).toUpperCase();
  const fields = {
    ...values,
    symbol,
    status: isOpen ? 'active' : 'inactive',
    exchange: exchanges[exchange.toUpperCase()] ?? '',
    former_symbols: formerOf(rows, symbol),
    listing_date: begin === BEGIN ? '' : dashed(begin),
    delisting_date: isOpen ? '' : dashed(end),
  };
  return { header: Object.keys(fields), rows: [{ row, cells: Object.values(fields) }] };
}

export const leanMap: Preset = {
  name: 'lean-map',
  says: 'QuantConnect LEAN map files of US equities: the symbols that an instrument had',
  dataset: 'instruments',
  example: ['20120518,fb,Q', '20220608,fb,Q', '20501231,meta,Q'],
  fits: (sample) => fitOf(sample, ROW, 'map_files'),
  mappingOf: (sample) => ({
    columns: {},
    values,
    convert: (rows) => instrumentOf(byDate(sample.name, rows, ROW), stemOf(sample)),
  }),
};
