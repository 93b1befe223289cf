// Nasdaq Trader's symbol directory: nasdaqlisted.txt and otherlisted.txt, as instruments.
import type { Convert } from '../../read/convert.ts';
import type { Sample } from '../../read/sample.ts';
import { begins, leavingOut, type Preset } from './preset.ts';

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
