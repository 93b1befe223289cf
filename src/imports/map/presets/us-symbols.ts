// US instruments: what exchanges and the clearing house list.
import { plainRoot } from '../../../store/schema/options.ts';
import type { Convert, NativeRows, NumberedRow } from '../../read/convert.ts';
import { contentProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { begins, isMended, known, leavingOut, type Preset, strict } from './preset.ts';

// Nasdaq Trader's symbol directory: nasdaqlisted.txt and otherlisted.txt, as instruments.

const nasdaq = 'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size';
const other = 'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol';

/** The exchange letters of otherlisted.txt. */
const exchanges = { A: 'XASE', N: 'XNYS', P: 'ARCX', Z: 'BATS', V: 'IEXG' };

/**
 * Leaves out test issues, which are not instruments, and the last line, which says when the file was made.
 */
const listings = ({ name }: Sample): Convert =>
  leavingOut(
    name,
    'test issues and the footer, left out',
    (cells, header) =>
      cells[0]!.startsWith('File Creation Time') || cells[header.indexOf('Test Issue')] === 'Y',
  );

const values = { asset_schema: 'stock', country_iso_code: 'US' };

export const nasdaqListed: Preset = {
  name: 'nasdaqlisted',
  says: 'Nasdaq Trader nasdaqlisted.txt: the securities that Nasdaq lists',
  dataset: 'instruments',
  example: [`${nasdaq}|ETF|NextShares`, 'AAPL|Apple Inc. - Common Stock|Q|N|N|100|N|N'],
  fits: begins(nasdaq, '|'),
  mappingOf: (sample) => ({
    delimiter: '|',
    columns: { symbol: 'Symbol', name: 'Security Name' },
    values: { ...values, exchange: 'XNAS' },
    ownColumns: ['Test Issue'],
    convert: listings(sample),
  }),
};

export const otherListed: Preset = {
  name: 'otherlisted',
  says: 'Nasdaq Trader otherlisted.txt: the securities of the other US exchanges',
  dataset: 'instruments',
  example: [other, 'A|Agilent Technologies, Inc. Common Stock|N|A|N|100|N|A'],
  fits: begins(other, '|'),
  mappingOf: (sample) => ({
    delimiter: '|',
    columns: {
      symbol: 'ACT Symbol',
      name: 'Security Name',
      exchange: { column: 'Exchange', lookup: exchanges },
    },
    values,
    notation: 'act',
    ownColumns: ['Test Issue'],
    convert: listings(sample),
  }),
};

// OCC (Options Clearing Corporation): the text of its series search as option contracts. A row is a strike,
// with a call, a put or both.

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
    symbol: strict(
      `trim({ProductSymbol}) || strftime(${expiration}, '%y%m%d') || trim({C/P}) || lpad(cast(cast(round(${strike} * 1000) as bigint) as varchar), 8, '0')`,
      'gives no symbol with its expiration and strike',
    ),
    expiration_date: strict(`strftime(${expiration}, '%Y-%m-%d')`, 'is no date'),
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
