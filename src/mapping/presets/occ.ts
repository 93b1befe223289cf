// OCC (Options Clearing Corporation): the text of its series search as option contracts. A row is a strike, with a call, a put or both.
import { quoted } from '../../files/computed-column.ts';
import { linesOf, type Sample } from '../../files/sample.ts';
import type { Part } from '../column-mapping.ts';
import { type Fit, isMended, type Preset } from './preset.ts';

/** The names of all cells: the header names fewer than the rows have. */
const columns = [
  'ProductSymbol',
  'blank',
  'year',
  'Month',
  'Day',
  'Integer',
  'Dec',
  'C/P',
  'Call',
  'Put',
  'Position Limit',
];

const HEADER = /^ProductSymbol\s+year\s+Month\s+Day\s+Integer\s+Dec\s/i;

/** The index of the header line; empty lines count too. */
const headerAt = ({ text }: Sample): number =>
  text.split(/\r\n|\n|\r/).findIndex((line) => HEADER.test(line));

/** Roots of options on indices. All but OEX can be exercised only at expiration. */
const indexRoots = 'DJX MRUT NDX NDXP OEX RUT RUTW SPX SPXW VIX VIXW XEO XND XSP'.split(' ');
const rootIs = (roots: readonly string[]): string => `trim({ProductSymbol}) in (${roots.map(quoted).join()})`;

const expiration = "strptime(trim({year}) || '-' || trim({Month}) || '-' || trim({Day}), '%Y-%m-%d')";
const strike = '(#{Integer} + #{Dec} / 1000)';

/** The call or the put of a strike. A root that ends in a digit was adjusted by a corporate action: its contracts deliver something else. */
function part(letter: 'C' | 'P'): Part {
  return {
    columns: {
      symbol: {
        sql: `trim({ProductSymbol}) || strftime(${expiration}, '%y%m%d') || '${letter}' || lpad(cast(cast(round(${strike} * 1000) as bigint) as varchar), 8, '0')`,
        isStrict: true,
        reason: 'gives no symbol with its expiration and strike',
      },
    },
    values: { option_type: letter === 'C' ? 'call' : 'put' },
    keep: {
      sql: `contains(coalesce({C/P}, ''), '${letter}') and not regexp_full_match(trim({ProductSymbol}), '.*[0-9]|[0-9].*')`,
      reason: 'contracts that are not listed, or adjusted by a corporate action, left out',
    },
  };
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
  fits: (sample): Fit => (headerAt(sample) >= 0 || isMended(sample, columns) ? 'surely' : 'no'),
  mappingOf(sample) {
    const underlying = /^Series Search Results for (\S+)/i.exec(linesOf(sample)[0] ?? '')?.[1];
    return {
      header: columns,
      delimiter: '\t',
      skip: Math.max(headerAt(sample) + 1, 0),
      columns: {
        expiration_date: { sql: `strftime(${expiration}, '%Y-%m-%d')`, isStrict: true, reason: 'is no date' },
        strike_price: { sql: strike },
        exercise_style: {
          sql: `case when ${rootIs(indexRoots.filter((root) => root !== 'OEX'))} then 'european' else 'american' end`,
        },
        is_indices: { sql: `case when ${rootIs(indexRoots)} then 'true' end` },
      },
      values: {
        country_iso_code: 'US',
        parent_asset_schema: 'stock',
        ...(underlying === undefined ? {} : { underlying_name: underlying }),
      },
      parts: [part('C'), part('P')],
    };
  },
};
