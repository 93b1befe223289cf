// QuantConnect LEAN map files as instruments with the symbols that they had: a row is a ticker, and the last day on which it was.
import { formatDay } from '../../base/instant.ts';
import { quoted } from '../../files/computed-column.ts';
import { stemOf } from '../../files/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { dashed, dayNumber, fitOf, OPEN_END, rowsOf } from './lean-rows.ts';
import { known, type Preset } from './preset.ts';

/** The date at which LEAN's data begin, whenever the listing was. */
const BEGIN = '19980102';

/** The exchange letters of the third column. */
const exchanges: Readonly<Record<string, string>> = {
  Q: 'XNAS',
  N: 'XNYS',
  A: 'XASE',
  P: 'ARCX',
  Z: 'BATS',
};

/** The tickers other than the symbol, each with its first and last day. */
function formerOf(rows: readonly string[][], symbol: string): string[] {
  const spans: { ticker: string; from: string; to: string }[] = [];
  for (const [index, [date, cell]] of rows.entries()) {
    const ticker = cell!.toUpperCase();
    // The first row is the listing.
    const from = index <= 1 ? dashed(rows[0]![0]!) : formatDay(dayNumber(rows[index - 1]![0]!) + 1);
    const last = spans.at(-1);
    if (last?.ticker === ticker) last.to = dashed(date!);
    else spans.push({ ticker, from, to: dashed(date!) });
  }
  return spans
    .filter(({ ticker }) => ticker !== symbol)
    .map(({ ticker, from, to }) => `${ticker}:${from}..${to}`);
}

export const leanMap: Preset = {
  name: 'lean-map',
  says: 'QuantConnect LEAN map files of US equities: the symbols that an instrument had',
  dataset: 'instruments',
  example: ['20120518,fb,Q', '20220608,fb,Q', '20501231,meta,Q'],
  fits: (sample) => fitOf(sample, /^\d{8},[a-z][a-z0-9.^-]*(,[a-z]?)?$/i, 'map_files'),
  mappingOf(sample): ColumnMapping {
    const rows = rowsOf(sample);
    const [first, last] = [rows[0]!, rows.at(-1)!];
    // Another instrument has the ticker now: LEAN tells them apart by a number.
    const own = /\.\d+$/.test(stemOf(sample)) ? stemOf(sample) : last[1]!;
    const symbol = own.toUpperCase();
    const former = formerOf(rows, symbol);
    const width = Math.max(...rows.map((cells) => cells.length));
    return {
      header: ['date', 'ticker', 'exchange'].slice(0, width),
      columns: { symbol: { column: 'ticker', lookup: { [last[1]!]: symbol } } },
      values: {
        asset_schema: 'stock',
        country_iso_code: 'US',
        status: last[0] === OPEN_END ? 'active' : 'inactive',
        ...known({
          exchange: exchanges[last[2]?.toUpperCase() ?? ''],
          former_symbols: former.length === 0 ? null : former.join(' '),
          listing_date: first[0] === BEGIN ? null : dashed(first[0]!),
        }),
      },
      taken: ['exchange'],
      keep: { sql: `{date} = ${quoted(last[0]!)}`, reason: '' },
    };
  },
};
