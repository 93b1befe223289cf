// QuantConnect LEAN factor files as dividends and splits: a row has the products of all later factors, and
// the last close before the next row.
import { simplestWithin } from '../../../base/decimal.ts';
import { formatDay } from '../../../base/instant.ts';
import { parseSymbol } from '../../../contract/identifiers.ts';
import { calendarOf } from '../../../market/calendar/calendar.ts';
import type { NativeRows, NumberedRow } from '../../read/convert.ts';
import { reasonColumns } from '../../read/rejected-file.ts';
import { type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { byDate, dayNumber, fitOf } from './lean-rows.ts';
import { hasColumns, known, type Preset } from './preset.ts';

/** Date, price factor, split factor, close, and where they come from. */
const ROW = /^\d{8},[\d.einf+-]+,[\d.einf+-]+(,[\d.]+)?(,[^,]*)?$/i;

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
    convert: (rows) => convert(byDate(sample.name, rows, ROW), values),
  };
}

const isOfRefusedRows = (sample: Sample): boolean => hasColumns(sample, [LEAN_DATE, ...reasonColumns]);

export const leanFactors: Preset = {
  name: 'lean-factors',
  says: 'QuantConnect LEAN factor files of US equities: dividends and splits',
  dataset: 'corporate-actions',
  isOpenEnded: true,
  example: ['20121106,0.8650639,0.03571430,582.86'],
  fits: (sample) => (isOfRefusedRows(sample) ? 'surely' : fitOf(sample, ROW, 'factor_files')),
  mappingOf,
};
