// QuantConnect LEAN factor files as dividends and splits, a row has the products of all later factors and the
// last close before the next row; and map files as instruments, a row is a ticker and the last day on which
// the instrument had it.
import { resolve } from 'node:path';
import { simplestWithin } from '../../../base/decimal.ts';
import { DAY_MS, formatDay } from '../../../base/instant.ts';
import { parseSymbol } from '../../../contract/identifiers.ts';
import { calendarOf } from '../../../market/calendar/calendar.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { contentProblem, unfitProblem } from '../../read/file-problem.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { linesOf, type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { hasColumns, known, type Preset } from './preset.ts';

/** The date of a last row that still holds. */
const OPEN_END = '20501231';

/** Judges how surely all lines are rows of such a file: by its folder, or by the last line. */
function fitOf(sample: Sample, row: RegExp, folder: string): ReturnType<Preset['fits']> {
  const lines = linesOf(sample);
  if (lines.length === 0 || !lines.every((line) => row.test(line))) return 'no';
  const isSure = resolve(sample.name).toLowerCase().includes(folder) || lines.at(-1)!.startsWith(OPEN_END);
  return isSure ? 'surely' : 'perhaps';
}

/**
 * The rows of a file by date.
 * @throws FileProblem where the file is of another market, or a row has another form, no date, or the date of
 * another one
 */
function byDate(name: string, rows: readonly NumberedRow[], form: RegExp): NumberedRow[] {
  const market = /[/\\]equity[/\\]([a-z]+)[/\\]/i.exec(resolve(name))?.[1]?.toLowerCase() ?? 'usa';
  if (market !== 'usa')
    throw unfitProblem(
      name,
      `LEAN's factor and map files can be imported for the market usa only, not for ${market}`,
    );
  const odd = rows.find(({ cells }) => !form.test(cells.join()));
  if (odd !== undefined) throw contentProblem(name, `row ${odd.row} does not have the form of the first one`);
  const sorted = rows.toSorted((one, other) => (one.cells[0]! < other.cells[0]! ? -1 : 1));
  for (const [index, { row, cells }] of sorted.entries()) {
    const [date] = cells;
    if (dashed(date!).replaceAll('-', '') !== date)
      throw contentProblem(name, `row ${row}: ${date} is not a date of the form 20200828`);
    if (sorted[index + 1]?.cells[0] === date)
      throw contentProblem(name, `has two rows of ${date}. Only one can be valid until that date`);
  }
  return sorted;
}

/** The day number of a date, `20200828`. */
const dayNumber = (date: string): number =>
  Date.UTC(Number(date.slice(0, 4)), Number(date.slice(4, 6)) - 1, Number(date.slice(6, 8))) / DAY_MS;

/** A date as it is stored, `2020-08-28`. */
const dashed = (date: string): string => formatDay(dayNumber(date));

/** Date, price factor, split factor, close, and where they come from. */
const FACTOR_ROW = /^\d{8},[\d.einf+-]+,[\d.einf+-]+(,[\d.]+)?(,[^,]*)?$/i;

/** There is always a session within these days. */
const SESSION_WITHIN_DAYS = 30;

/** The first session after the last day of a factor. */
function nextSession(date: string): string {
  const from = dayNumber(date) + 1;
  return formatDay(calendarOf('stock', 'US').sessions(from, from + SESSION_WITHIN_DAYS)[0]!.day);
}

/**
 * Factors of fewer decimals are exact. Others are rounded, and some were rounded again at the seventh
 * decimal.
 */
const DECIMALS_ROUNDED = 6;
const ROUNDED_BY = 1e-7;

/** The relative error of a float. */
const FLOAT_DOUBT = 1e-12;

const doubtOf = (factor: string): number =>
  (factor.split('.')[1]?.length ?? 0) < DECIMALS_ROUNDED || Number(factor) === 1
    ? FLOAT_DOUBT
    : ROUNDED_BY / Number(factor);

/** The ratio of a row's factor to the next row's, and its possible error. */
function ratioOf(factor: string, next: string): { readonly ratio: number; readonly doubt: number } {
  const ratio = Number(factor) / Number(next);
  return { ratio, doubt: ratio * (doubtOf(factor) + doubtOf(next)) };
}

type Shares = readonly [from: number, to: number];

/** No real split has more shares. */
const MANY_SHARES = 1_000;
/**
 * Factors that LEAN computed from prices have larger errors than rounding: a split of few shares this near is
 * the real one.
 */
const NEAR = 2e-4;
const FEW_SHARES = 50;

/** The shares of a split: the simplest fraction that fits its factors. */
function sharesOf({ ratio, doubt }: { readonly ratio: number; readonly doubt: number }): Shares {
  const exact = simplestWithin(ratio - doubt, ratio + doubt);
  if (Math.max(...exact) <= MANY_SHARES) return exact;
  const near = simplestWithin(ratio * (1 - NEAR), ratio * (1 + NEAR));
  return Math.max(...near) <= FEW_SHARES ? near : exact;
}

const DECIMALS_MOST = 10;

/** The amount with the fewest decimals, at least two, that fits the factors; empty where they give none. */
function amountWithin(amount: number, doubt: number): string {
  if (amount <= 2 * doubt) return '';
  for (let decimals = 2; ; decimals++) {
    const text = amount.toFixed(decimals);
    if (Math.abs(Number(text) - amount) <= doubt || decimals === DECIMALS_MOST) return text;
  }
}

/** LEAN itself ignores rows whose factor is infinite, zero or in exponents: too few digits are left. */
const isUsable = ({ cells }: NumberedRow): boolean =>
  cells
    .slice(1, 3)
    .every((factor) => /^[\d.]+$/.test(factor) && Number(factor) > 0 && Number.isFinite(Number(factor)));

/** LEAN's own date of a row: it is no field, and marks a file of refused rows as one of these. */
const LEAN_DATE = 'lean_date';

/** Fields of an action, as texts. */
type Action = Readonly<Record<string, string>>;

/** The actions between a row and the next one: a dividend, a split, both or none. */
function actionsBetween({ row, cells }: NumberedRow, next: NumberedRow) {
  const [date = '', price = '', split = '', close = ''] = cells;
  const [, nextPrice = '', nextSplit = ''] = next.cells;
  const reference_price = Number(close) === 0 ? '' : close;
  const action = (action_type: string, fields: Action) => ({
    row,
    action: {
      [LEAN_DATE]: date,
      action_type,
      ex_date: nextSession(date),
      ...fields,
      reference_price,
    } as Action,
  });
  const actions: ReturnType<typeof action>[] = [];
  if (Number(price) !== Number(nextPrice)) {
    const { ratio, doubt } = ratioOf(price, nextPrice);
    const cash_amount = amountWithin(Number(close) * (1 - ratio), Number(close) * doubt);
    actions.push(action('dividend', { cash_amount, currency: 'USD' }));
  }
  if (Number(split) !== Number(nextSplit)) {
    const [from, to] = sharesOf(ratioOf(split, nextSplit));
    actions.push(action('split', { split_from: String(from), split_to: String(to) }));
  }
  return actions;
}

const columns = [
  ...[LEAN_DATE, 'action_type', 'ex_date', 'cash_amount', 'currency'],
  ...['split_from', 'split_to', 'reference_price'],
];

/** The actions of a file's rows, each with the fields that are the same in all of them. */
function convert(rows: readonly NumberedRow[], same: Action): NativeRows {
  const usable = rows.filter(isUsable);
  const found = usable.slice(0, -1).flatMap((row, index) => actionsBetween(row, usable[index + 1]!));
  const odd = found
    .map(({ action }) => action)
    .filter(({ split_from = '0', split_to = '0' }) => Math.max(+split_from, +split_to) > MANY_SHARES)
    .map(({ split_from, split_to, ex_date }) => `${split_from} to ${split_to} on ${ex_date}`);
  return {
    header: [...Object.keys(same), ...columns],
    rows: found.map(({ row, action }) => ({
      row,
      cells: [...Object.values(same), ...columns.map((column) => action[column] ?? '')],
    })),
    ...(odd.length === 0
      ? {}
      : { doubt: `its factors make splits of odd numbers of shares (${odd.join(', ')}): are they right?` }),
  };
}

function mappingOf(sample: Sample): ColumnMapping {
  // A file has the name that its map file has, also for the time before the instrument had that ticker.
  const about = { columns: {}, symbols: 'now' as const };
  if (isOfRefusedRows(sample)) return { ...about, values: {} };
  const values = known({ country_iso_code: 'US', symbol: parseSymbol(stemOf(sample)) });
  return {
    ...about,
    values,
    ownColumns: [LEAN_DATE],
    convert: (rows) => convert(byDate(sample.name, rows, FACTOR_ROW), values),
  };
}

const isOfRefusedRows = (sample: Sample): boolean => hasColumns(sample, [LEAN_DATE, ...reasonColumns]);

export const leanFactors: Preset = {
  name: 'lean-factors',
  says: 'QuantConnect LEAN factor files of US equities: dividends and splits',
  dataset: 'corporate-actions',
  isOpenEnded: true,
  example: ['20121106,0.8650639,0.03571430,582.86'],
  fits: (sample) => (isOfRefusedRows(sample) ? 'surely' : fitOf(sample, FACTOR_ROW, 'factor_files')),
  mappingOf,
};

const MAP_ROW = /^\d{8},[a-z][a-z0-9.^-]*(,[a-z]?)?$/i;

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
const stock = { asset_schema: 'stock', country_iso_code: 'US' };

/** The instrument of a file; `stem` is its name. */
function instrumentOf(rows: readonly NumberedRow[], stem: string): NativeRows {
  const [begin = ''] = rows[0]!.cells;
  const { row, cells } = rows.at(-1)!;
  const [end = '', ticker = '', exchange = ''] = cells;
  const isOpen = end === OPEN_END;
  // LEAN adds a number where another instrument has the ticker now.
  const symbol = (/\.\d+$/.test(stem) ? stem : ticker).toUpperCase();
  const fields = {
    ...stock,
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
  fits: (sample) => fitOf(sample, MAP_ROW, 'map_files'),
  mappingOf: (sample) => ({
    columns: {},
    values: stock,
    convert: (rows) => instrumentOf(byDate(sample.name, rows, MAP_ROW), stemOf(sample)),
  }),
};
