// OCC (Options Clearing Corporation): the text of its series search as option contracts. A row is a strike,
// with a call, a put or both.
import { plainRoot } from '../../../store/schema/options.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { contentProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { isMended, known, type Preset } from './preset.ts';

/** The names of all cells: the header names fewer than the rows have. */
const header = 'ProductSymbol,blank,year,Month,Day,Integer,Dec,C/P,Call,Put,Position Limit'.split(',');
const TYPES_AT = header.indexOf('C/P');

const HEADER = /^ProductSymbol\s+year\s+Month\s+Day\s+Integer\s+Dec\s/i;
const hasHeader = (sample: Sample): boolean => linesOf(sample).some((line) => HEADER.test(line));

const expiration = "strptime(trim({year}) || '-' || trim({Month}) || '-' || trim({Day}), '%Y-%m-%d')";
const strike = '(#{Integer} + #{Dec} / 1000)';

const mapping: ColumnMapping = {
  header,
  columns: {
    symbol: {
      sql: `trim({ProductSymbol}) || strftime(${expiration}, '%y%m%d') || trim({C/P}) || lpad(cast(cast(round(${strike} * 1000) as bigint) as varchar), 8, '0')`,
      isStrict: true,
      reason: 'gives no symbol with its expiration and strike',
    },
    expiration_date: { sql: `strftime(${expiration}, '%Y-%m-%d')`, isStrict: true, reason: 'is no date' },
    strike_price: { sql: strike },
    option_type: { column: 'C/P', lookup: { C: 'call', P: 'put' } },
  },
  values: { country_iso_code: 'US', parent_asset_schema: 'stock' },
};

/** A row for each call and put, but for roots that name no underlying, such as those of FLEX contracts. */
function contractsOf(name: string, all: readonly NumberedRow[]): NativeRows {
  const headerAt = all.findIndex(({ cells }) => HEADER.test(cells.join('\t')));
  const strikes = all.slice(headerAt + 1);
  if (strikes.length === 0) throw contentProblem(name, 'has no rows');
  const rows = strikes.flatMap(({ row, cells }) =>
    ['C', 'P']
      .filter((type) => cells[TYPES_AT]?.includes(type) === true && plainRoot(cells[0]!.trim()) !== null)
      .map((type) => ({ row: row - headerAt - 1, cells: cells.with(TYPES_AT, type) })),
  );
  const reason = 'contracts that are not listed, or flexible, left out';
  return { header, rows, leftOut: { reason, count: strikes.length * 2 - rows.length } };
}

export const occ: Preset = {
  name: 'occ',
  says: 'OCC series search, its text: the listed contracts of an underlying',
  dataset: 'option-contracts',
  example: [
    'Series Search Results for WDC',
    'ProductSymbol\tyear\tMonth\tDay\tInteger\tDec\tC/P\tCall\tPut\tPosition Limit',
    'WDC   \t\t2026\t10\t02\t250\t000\tC P \t3\t113\t25000000',
  ],
  fits: (sample) => (hasHeader(sample) || isMended(sample, header) ? 'surely' : 'no'),
  mappingOf(sample) {
    if (!hasHeader(sample)) return mapping;
    const underlying = /^Series Search Results for (\S+)/i.exec(linesOf(sample)[0]!)?.[1];
    return {
      ...mapping,
      delimiter: '\t',
      namesRoots: true,
      values: known({
        ...mapping.values,
        underlying_name: underlying && (plainRoot(underlying) ?? underlying),
      }),
      convert: (rows) => contractsOf(sample.name, rows),
    };
  },
};
