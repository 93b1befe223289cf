// Nasdaq Trader's symbol directory: nasdaqlisted.txt and otherlisted.txt, as instruments.
import type { Expression } from '../cell.ts';
import { type Fit, firstCells, type Preset } from './preset.ts';

const nasdaq = 'Symbol|Security Name|Market Category|Test Issue|Financial Status|Round Lot Size';
const other = 'ACT Symbol|Security Name|Exchange|CQS Symbol|ETF|Round Lot Size|Test Issue|NASDAQ Symbol';

/** The exchange letters of otherlisted.txt. */
const exchanges = { A: 'XASE', N: 'XNYS', P: 'ARCX', Z: 'BATS', V: 'IEXG' };

/** The last line says when the file was made; test issues are not instruments. */
const isListing = (symbol: string): Expression => ({
  sql: `not coalesce({${symbol}} like 'File Creation Time%' or {Test Issue} = 'Y', false)`,
  reason: 'test issues and the footer, left out',
});

const begins =
  (header: string) =>
  (sample: Parameters<Preset['fits']>[0]): Fit =>
    `${firstCells(sample, '|').join('|')}|`.startsWith(`${header}|`) ? 'surely' : 'no';

const values = { asset_schema: 'stock', country_iso_code: 'US' };

export const nasdaqListed: Preset = {
  name: 'nasdaqlisted',
  says: 'Nasdaq Trader nasdaqlisted.txt: the securities that Nasdaq lists',
  dataset: 'instruments',
  example: [`${nasdaq}|ETF|NextShares`, 'AAPL|Apple Inc. - Common Stock|Q|N|N|100|N|N'],
  fits: begins(nasdaq),
  mappingOf: () => ({
    delimiter: '|',
    columns: { symbol: 'Symbol', name: 'Security Name' },
    values: { ...values, exchange: 'XNAS' },
    keep: isListing('Symbol'),
  }),
};

export const otherListed: Preset = {
  name: 'otherlisted',
  says: 'Nasdaq Trader otherlisted.txt: the securities of the other US exchanges',
  dataset: 'instruments',
  example: [other, 'A|Agilent Technologies, Inc. Common Stock|N|A|N|100|N|A'],
  fits: begins(other),
  mappingOf: () => ({
    delimiter: '|',
    columns: {
      symbol: 'ACT Symbol',
      name: 'Security Name',
      exchange: { column: 'Exchange', lookup: exchanges },
    },
    values,
    keep: isListing('ACT Symbol'),
  }),
};
