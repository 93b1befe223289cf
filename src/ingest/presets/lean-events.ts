// QuantConnect LEAN factor files as corporate actions, and map files as instruments. A row says what held until its date, the next one
// what holds behind it: the whole of such a file is in its sample, and what its rows are is told to the reading by their dates.
import { resolve } from 'node:path';
import { dayOf, formatDay } from '../../base/instant.ts';
import { calendarOf } from '../../calendar/calendar.ts';
import { type Expression, quoted } from '../cell.ts';
import type { FieldMap, Part } from '../mapping.ts';
import { FileProblem } from '../problem.ts';
import { cellsOf, isCut, linesOf, SAMPLE_BYTES, type Sample, stemOf } from '../sample.ts';
import { type Fit, known, type Preset } from './preset.ts';

const factorColumns = ['date', 'price_factor', 'split_factor', 'reference_price'];
const mapColumns = ['date', 'ticker', 'exchange'];

/** The date of a last row that goes on. */
const OPEN_END = '20501231';
/** The date at which the files begin, whenever the listing was. */
const BEGIN = '19980102';

/** By date. */
const rowsOf = (sample: Sample): string[][] =>
  linesOf(sample)
    .map((line) => cellsOf(line, ',') ?? [])
    .sort(([one], [other]) => (one! < other! ? -1 : 1));

const fitOf = (sample: Sample, row: RegExp, folder: RegExp): Fit => {
  const lines = linesOf(sample);
  if (lines.length === 0 || !lines.every((line) => row.test(line))) return 'no';
  const isSure = folder.test(resolve(sample.name)) || lines.at(-1)!.startsWith(OPEN_END);
  return isSure ? 'surely' : 'perhaps';
};

/** What the rows are is told by all of them. */
function checkWhole(sample: Sample): void {
  if (!isCut(sample)) return;
  throw new FileProblem(
    'unfit',
    `${sample.name}: has more than ${SAMPLE_BYTES} bytes, as no factor or map file of LEAN has`,
  );
}

/** The market of `equity/usa/factor_files`; that of a file outside of its folder is taken to be the same. */
function checkMarket({ name }: Sample): void {
  const market = /[/\\]equity[/\\]([a-z]+)[/\\]/i.exec(resolve(name))?.[1]?.toLowerCase() ?? 'usa';
  if (market !== 'usa')
    throw new FileProblem(
      'unfit',
      `${name}: LEAN's factor and map files are read of the market usa, not of ${market}`,
    );
}

const dayNumber = (date: string): number =>
  dayOf(Number(date.slice(0, 4)), Number(date.slice(4, 6)), Number(date.slice(6, 8)));
const dashed = (date: string): string => formatDay(dayNumber(date));

/** Days in which there is a session. */
const SESSION_WITHIN_DAYS = 30;

/** The first session behind the last day on which a factor holds. */
function nextSession(date: string): string {
  const from = dayNumber(date) + 1;
  return formatDay(calendarOf('stock', 'US').sessions(from, from + SESSION_WITHIN_DAYS)[0]!.day);
}

/** Fewer digits are all that a number has; as many may be what was left of more. */
const DIGITS_ROUNDED = 6;

/** What a split factor may be off, as a part of it: a unit of its last digit, behind which there may be false zeros. */
function splitDoubt(text: string): number {
  const plain = text.includes('.') ? text.replace(/0+$/, '') : text;
  if (plain.replace('.', '').replace(/^0+/, '').length < DIGITS_ROUNDED) return 0;
  const decimals = plain.split('.')[1]?.length ?? 0;
  return 10 ** -decimals / Number(text);
}

/** The same of a price factor: it is rounded to seven decimals. */
const priceDoubt = (text: string): number => (Number(text) === 1 ? 0 : 1e-7 / Number(text));

/** A float is this close to what it stands for. */
const FLOAT_DOUBT = 1e-12;

/** How many times of the next row's factor a row's is, and what that may be off. */
function ratioOf(
  factor: string,
  next: string,
  doubtOf: (text: string) => number,
): { readonly ratio: number; readonly doubt: number } {
  const ratio = Number(factor) / Number(next);
  return { ratio, doubt: ratio * (doubtOf(factor) + doubtOf(next) + FLOAT_DOUBT) };
}

/** The simplest fraction of whole numbers between two bounds above 0. */
function simplestWithin(low: number, high: number): readonly [from: number, to: number] {
  const whole = Math.floor(low);
  if (whole + 1 <= high || whole === low) return [whole === low ? whole : whole + 1, 1];
  const [to, from] = simplestWithin(1 / (high - whole), 1 / (low - whole));
  return [whole * to + from, to];
}

/** The amount with the fewest decimals, from cents on, that is what the factors say. */
function amountWithin(amount: number, doubt: number): string {
  for (let decimals = 2; ; decimals++) {
    const text = amount.toFixed(decimals);
    if (Math.abs(Number(text) - amount) <= doubt || decimals === DECIMALS_MOST) return text;
  }
}
const DECIMALS_MOST = 10;

type Lookup = Record<string, string>;
/** What the rows of a file are, by their dates. */
type Actions = {
  readonly exDate: Lookup;
  readonly cash: Lookup;
  readonly from: Lookup;
  readonly to: Lookup;
};

/** LEAN itself takes no rows whose factor is infinite, zero or in exponents: too little is left of it. */
const isUsable = ([, price = '', split = '']: readonly string[]): boolean =>
  /^[\d.]+$/.test(price) && /^[\d.]+$/.test(split) && Number(price) * Number(split) > 0;

function actionsOf(rows: readonly string[][]): Actions {
  const actions: Actions = { exDate: {}, cash: {}, from: {}, to: {} };
  const usable = rows.filter(isUsable);
  for (const [index, [date, price, split, reference]] of usable.entries()) {
    const [, nextPrice, nextSplit] = usable[index + 1] ?? [];
    if (nextPrice === undefined || nextSplit === undefined) break;
    if (Number(price) === Number(nextPrice) && Number(split) === Number(nextSplit)) continue;
    actions.exDate[date!] = nextSession(date!);
    if (Number(price) !== Number(nextPrice)) {
      const { ratio, doubt } = ratioOf(price!, nextPrice, priceDoubt);
      const close = Number(reference ?? 0);
      actions.cash[date!] = close > 0 ? amountWithin(close * (1 - ratio), close * doubt) : '';
    }
    if (Number(split) !== Number(nextSplit)) {
      const { ratio, doubt } = ratioOf(split!, nextSplit, splitDoubt);
      const [from, to] = simplestWithin(ratio - doubt, ratio + doubt);
      actions.from[date!] = String(from);
      actions.to[date!] = String(to);
    }
  }
  return actions;
}

const among = (dates: readonly string[]): string =>
  `list_contains([${dates.map(quoted).join()}]::varchar[], {date})`;

/** The rows of one kind; what the sample does not know is kept, so that it is refused. */
const keepOf = (rows: readonly string[][], lookup: Lookup): Expression => ({
  sql: `not ${among(rows.map(([date]) => date!).filter((date) => !Object.hasOwn(lookup, date)))}`,
  reason: '',
});

const looked = (lookup: Lookup) => ({ column: 'date', lookup });

export const leanFactors: Preset = {
  name: 'lean-factors',
  says: 'QuantConnect LEAN factor files of US equities: dividends and splits',
  dataset: 'corporate-actions',
  example: ['20121106,0.8650639,0.03571430,582.86'],
  fits: (sample) =>
    fitOf(sample, /^\d{8},[\d.einf+-]+,[\d.einf+-]+(,[\d.]+)?(,[^,]*)?$/i, /[/\\]factor_files/i),
  mapOf(sample): FieldMap {
    checkMarket(sample);
    checkWhole(sample);
    const rows = rowsOf(sample);
    const { exDate, cash, from, to } = actionsOf(rows);
    const width = Math.max(...rows.map((cells) => cells.length));
    const hasPrices = width >= factorColumns.length;
    const dividends: Part = {
      columns: hasPrices ? { cash_amount: looked(cash) } : {},
      values: { action_type: 'dividend', currency: 'USD' },
      keep: keepOf(rows, cash),
    };
    const splits: Part = {
      columns: { split_from: looked(from), split_to: looked(to) },
      values: { action_type: 'split' },
      keep: keepOf(rows, from),
    };
    return {
      header: [...factorColumns, 'source'].slice(0, width),
      columns: { ex_date: looked(exDate) },
      values: { country_iso_code: 'US', symbol: stemOf(sample).toUpperCase() },
      parts: [dividends, splits],
      taken: ['price_factor', 'split_factor'],
    };
  },
};

/** The exchange letters of the third column. */
const exchanges: Lookup = { Q: 'XNAS', N: 'XNYS', A: 'XASE', P: 'ARCX', Z: 'BATS' };

/** The tickers before the last one, each with its first and last day. */
function formerOf(rows: readonly string[][], symbol: string): string[] {
  const spans: { ticker: string; from: string; to: string }[] = [];
  for (const [index, [date, ticker]] of rows.entries()) {
    const before = rows[index - 1]?.[0];
    const from = index <= 1 ? dashed(rows[0]![0]!) : formatDay(dayNumber(before!) + 1);
    const last = spans.at(-1);
    if (last?.ticker === ticker!.toUpperCase()) last.to = dashed(date!);
    else spans.push({ ticker: ticker!.toUpperCase(), from, to: dashed(date!) });
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
  fits: (sample) => fitOf(sample, /^\d{8},[a-z][a-z0-9.^-]*(,[a-z]?)?$/i, /[/\\]map_files/i),
  mapOf(sample): FieldMap {
    checkMarket(sample);
    checkWhole(sample);
    const rows = rowsOf(sample);
    const [first, last] = [rows[0]!, rows.at(-1)!];
    // Another instrument has the ticker now: LEAN tells them apart by a number.
    const own = /\.\d+$/.test(stemOf(sample)) ? stemOf(sample) : last[1]!;
    const symbol = own.toUpperCase();
    const former = formerOf(rows, symbol);
    const width = Math.max(...rows.map((cells) => cells.length));
    return {
      header: mapColumns.slice(0, width),
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
