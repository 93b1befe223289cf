// Yahoo Finance: historical prices by the former download of its page, which many tools still write; and
// what pandas writes of the Python package yfinance (github.com/ranaroussi/yfinance): history, download and
// actions.
import { MINUTE_MS } from '../../../base/instant.ts';
import type { Convert } from '../../read/convert.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { symbolHeader } from '../../read/reshape.ts';
import { linesOf, type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  begins,
  cellsBelow,
  contains,
  firstCells,
  hasColumns,
  intervalOfDates,
  intervalOfDays,
  known,
  type Preset,
  rowsBelow,
  titled,
} from './preset.ts';

const header = 'Date,Open,High,Low,Close,Adj Close,Volume';

/** A file named by its symbol as Yahoo writes it: `AAPL`, `BRK-B`, `^GSPC`, `VOD.L`, `EURUSD=X`. */
const SYMBOL = /^\^?[A-Z0-9]{1,10}(?:[.\-=][A-Z0-9]{1,4})?$/;

function symbolNamed(sample: Sample): string | null {
  const stem = stemOf(sample);
  return SYMBOL.test(stem) && !/^\d{4}-|^(DATA|PRICES|TABLE|HISTORY)$/.test(stem) ? stem : null;
}

export const yahoo: Preset = {
  name: 'yahoo',
  says: 'Yahoo Finance historical prices: days, weeks, months',
  dataset: 'bars',
  isOpenEnded: true,
  example: [header, '2020-08-31,127.580002,131.000000,126.000000,129.039993,126.750000,225702700'],
  fits: begins(header),
  mappingOf: (sample) => ({
    columns: { ...titled, datetime: 'Date' },
    values: known({ symbol: symbolNamed(sample), interval: intervalOfDates(sample) }),
    prices: 'split',
    symbols: 'now',
    notation: 'yahoo',
  }),
};

/** The columns of `history()`; those of funds are followed by `Capital Gains`. */
const history = [...Object.values(titled), 'Dividends', 'Stock Splits'];

/** An index may have lost its name. */
const isIndex = (name: string): boolean =>
  ![...history, 'Adj Close', 'Capital Gains', 'Repaired?'].includes(name);

/** The interval by the distance of times with their offset; Parquet gives offsets without minutes. */
function intervalOfTimes(texts: readonly string[]): string | null {
  const times = texts.map((at) => Date.parse(at.replace(' ', 'T').replace(/(:\d\d[+-]\d\d)$/, '$1:00')));
  const gaps = times.slice(1).map((at, index) => (at - times[index]!) / MINUTE_MS);
  const least = Math.min(...gaps.filter((gap) => gap > 0));
  return [1, 2, 5, 15, 30, 60, 90].includes(least) ? `${least}M` : null;
}

/** Bars whose index is `Date`, or `Datetime` of minutes and hours. */
const barsOf = (cells: readonly string[], index: string, fields: readonly string[]): ColumnMapping => {
  // JSON may have milliseconds.
  const times = cells.map((at) => (/^\d{11,13}$/.test(at) ? new Date(Number(at)).toISOString() : at));
  const minutes = intervalOfTimes(times);
  const isDaily = index === 'Date' || (index !== 'Datetime' && minutes === null);
  // Minutes and hours are those that were traded: neither yfinance nor Yahoo adjusts them.
  const days = fields.includes('Adj Close') ? 'split' : 'all';
  return {
    columns: { ...titled, datetime: index },
    values: known({ interval: isDaily ? intervalOfDays(times.map((at) => at.slice(0, 10))) : minutes }),
    prices: isDaily ? days : 'raw',
    symbols: 'now',
    notation: 'yahoo',
  };
};

/**
 * Source: ranaroussi.github.io/yfinance/advanced/price_adjustment.html: days are adjusted for splits and
 * dividends, or for splits alone where they have Adj Close. Minutes and hours are not adjusted: for
 * dividends yfinance/scrapers/history.py says it, for splits the project's issues 503 and 513.
 */
export const yfinance: Preset = {
  name: 'yfinance',
  says: 'History of the Python package yfinance: Ticker(…).history().to_csv()',
  dataset: 'bars',
  example: [`Date,${history.join()}`, '2025-02-27 00:00:00-05:00,70.3,70.8,70.1,70.45,12345600,0.0,0.0'],
  fits: contains(...history),
  mappingOf(sample) {
    const header = firstCells(sample);
    // Parquet has the index behind the columns.
    const index = header.find((name) => /^Date(time)?$/.test(name)) ?? header.find(isIndex)!;
    const { values, ...mapping } = barsOf(cellsBelow(sample, index), index, header);
    return { ...mapping, values: { ...values, ...known({ symbol: symbolNamed(sample) }) } };
  },
};

const downloadHeader = (sample: Sample) => {
  const [first = '', second = ''] = linesOf(sample);
  const isNamed = /^(?:Price,.*\nTicker|Ticker,.*\nPrice),/.test(`${first}\n${second}`);
  return isNamed ? symbolHeader(linesOf(sample)) : null;
};

/**
 * Source: yfinance/multi.py: the columns have the levels `Price` and `Ticker`; their prices are those of
 * `history`.
 */
export const yfinanceDownload: Preset = {
  name: 'yfinance-download',
  says: 'Download of the Python package yfinance, of one symbol or several: download(…).to_csv()',
  dataset: 'bars',
  example: [
    'Price,Close,High,Low,Open,Volume',
    'Ticker,KO,KO,KO,KO,KO',
    'Date,,,,,',
    '2025-02-27,70.45,70.8,70.1,70.3,12345600',
  ],
  fits: (sample) => (downloadHeader(sample) === null ? 'no' : 'surely'),
  mappingOf(sample) {
    const { index, fields } = downloadHeader(sample)!;
    const cells = rowsBelow(sample).map(([at = '']) => at);
    const { columns, ...mapping } = barsOf(cells, index, fields);
    return { ...mapping, columns: { ...columns, symbol: 'symbol' } };
  },
};

/** The columns of `actions`: each one is there if it has a value. */
const actions = ['Dividends', 'Dividends FX', 'Stock Splits', 'Capital Gains'];
const actionFields = ['Date', 'action_type', 'ex_date', 'cash_amount', 'currency', 'split_ratio'];

/**
 * A row for each dividend and each split of a day. Of a fund Yahoo may count capital gains in the dividend
 * too.
 */
const actionsOf: Convert = ([first, ...all]) => {
  const places = actions.map((name) => first!.cells.indexOf(name));
  const found = all.map(({ row, cells }) => {
    const [cash = '', currency = '', ratio = '', gains = ''] = places.map((place) => cells[place] ?? '');
    const [date = ''] = cells;
    const day = date.slice(0, 10);
    const isOf = (text: string): boolean => text !== '' && Number(text) !== 0;
    const rows = [
      ...(isOf(cash) ? [[date, 'dividend', day, cash, currency, '']] : []),
      ...(isOf(ratio) ? [[date, 'split', day, '', '', ratio]] : []),
    ].map((made) => ({ row: row - 1, cells: made }));
    return { rows, isGain: isOf(gains) };
  });
  const count = found.filter(({ isGain }) => isGain).length;
  return {
    header: actionFields,
    rows: found.flatMap(({ rows }) => rows),
    leftOut: { reason: 'capital gains of a fund, left out', count },
  };
};

const areRefusedActions = (sample: Sample): boolean =>
  hasColumns(sample, [...actionFields.slice(0, 3), ...reasonColumns]);

/**
 * Source: yfinance/scrapers/history.py, get_actions, get_dividends, get_splits. A dividend is adjusted for
 * later splits; a split is the new shares for each old one.
 */
export const yfinanceActions: Preset = {
  name: 'yfinance-actions',
  says: 'Dividends and splits of the Python package yfinance: Ticker(…).actions.to_csv()',
  dataset: 'corporate-actions',
  example: [
    'Date,Dividends,Stock Splits',
    '2012-08-13 00:00:00-04:00,0.0,2.0',
    '2025-03-14 00:00:00-04:00,0.51,0.0',
  ],
  fits(sample) {
    const [index, ...columns] = firstCells(sample);
    const isOfActions = index === 'Date' && columns.some((name) => /^(Dividends|Stock Splits)$/.test(name));
    // Actions of weeks and months are told with their first day.
    const isOfDays = columns.every((name) => actions.includes(name)) || intervalOfDates(sample) === 'DAY';
    return (isOfActions && isOfDays) || areRefusedActions(sample) ? 'surely' : 'no';
  },
  mappingOf: (sample) => ({
    columns: {},
    values: known({ symbol: symbolNamed(sample) }),
    prices: 'split',
    symbols: 'now',
    notation: 'yahoo',
    ownColumns: ['Date'],
    ...(!areRefusedActions(sample) && { convert: actionsOf }),
  }),
};
