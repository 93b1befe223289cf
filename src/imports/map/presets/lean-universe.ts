// QuantConnect LEAN option universes: the contracts of an underlying on a day, in their folder.
import { resolve } from 'node:path';
import { indexOfRoot } from '../../../store/schema/options.ts';
import { quoted } from '../../read/computed-column.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { contentProblem, unfitProblem } from '../../read/file-problem.ts';
import { contains, type Preset } from './preset.ts';

/** `option/usa/universes/aapl/20140605.csv`, `indexoption/usa/universes/spxw/20210104.csv`. */
const PLACE = /(?:index)?option\/usa\/universes\/([a-z.]+)\/\d{8}(?:\.rejected[.\d]*)?\.(?:csv|zip)/;

/** The first row is that of the underlying. */
function contractsOf(name: string, [header, ...all]: readonly NumberedRow[]): NativeRows {
  if (header === undefined || all.length === 0) throw contentProblem(name, 'has no rows');
  const rows = all.filter(({ cells }) => cells[0] !== '').map(({ row, cells }) => ({ row: row - 1, cells }));
  const leftOut = { reason: 'prices of the underlying, left out', count: all.length - rows.length };
  return { header: header.cells, rows, leftOut };
}

const expiration = "strptime({#expiry}, '%Y%m%d')";

export const leanUniverse: Preset = {
  name: 'lean-universe',
  says: 'QuantConnect LEAN option universes of the USA, in their folders',
  dataset: 'option-contracts',
  example: ['#expiry,strike,right,open,high,low,close,volume,open_interest', '20140606,492.5,C,1,1,1,1,0,'],
  fits: contains('#expiry', 'strike', 'right', 'open_interest'),
  mappingOf(sample) {
    const ticker = PLACE.exec(resolve(sample.name).replaceAll('\\', '/').toLowerCase())?.[1]?.toUpperCase();
    if (ticker === undefined)
      throw unfitProblem(
        sample.name,
        'a LEAN universe is recognized by its folder. Keep it in one such as option/usa/universes/aapl/20140605.csv; options on futures cannot be imported',
      );
    // A symbol has no point before the class of a share.
    const root = ticker.replaceAll('.', '');
    return {
      columns: {
        symbol: {
          sql: `${quoted(root)} || strftime(${expiration}, '%y%m%d') || {right} || lpad(cast(cast(round(#{strike} * 1000) as bigint) as varchar), 8, '0')`,
          isStrict: true,
          reason: 'gives no symbol with its strike',
        },
        expiration_date: { column: '#expiry', format: '%Y%m%d' },
        strike_price: 'strike',
        option_type: { column: 'right', lookup: { C: 'call', P: 'put' } },
      },
      values: {
        country_iso_code: 'US',
        parent_asset_schema: 'stock',
        underlying_name: indexOfRoot(root) ?? ticker,
      },
      symbols: 'then',
      namesRoots: true,
      convert: (rows) => contractsOf(sample.name, rows),
    };
  },
};
