// QuantConnect LEAN factor files as dividends and splits: a row has the products of all later ones, and the last close before the next row.
import { formatDay } from '../../base/instant.ts';
import { calendarOf } from '../../calendar/calendar.ts';
import { quoted } from '../../files/computed-column.ts';
import { type Sample, stemOf } from '../../files/sample.ts';
import type { Expression } from '../cell.ts';
import type { ColumnMapping, Part } from '../column-mapping.ts';
import { dayNumber, fitOf, rowsOf } from './lean-rows.ts';
import type { Preset } from './preset.ts';

const columns = ['date', 'price_factor', 'split_factor', 'reference_price'];

/** Days in which there is a session. */
const SESSION_WITHIN_DAYS = 30;

/** The first session behind the last day on which a factor holds. */
function nextSession(date: string): string {
  const from = dayNumber(date) + 1;
  return formatDay(calendarOf('stock', 'US').sessions(from, from + SESSION_WITHIN_DAYS)[0]!.day);
}

/** Factors of fewer decimals are exact; others are rounded, and some of those were so once more, at the seventh. */
const DECIMALS_ROUNDED = 6;
const ROUNDED_BY = 1e-7;

/** A float is this close to what it stands for. */
const FLOAT_DOUBT = 1e-12;

const doubtOf = (factor: string): number =>
  (factor.split('.')[1]?.length ?? 0) < DECIMALS_ROUNDED || Number(factor) === 1
    ? FLOAT_DOUBT
    : ROUNDED_BY / Number(factor);

/** How many times of the next row's factor a row's is, and what that may be off. */
function ratioOf(factor: string, next: string): { readonly ratio: number; readonly doubt: number } {
  const ratio = Number(factor) / Number(next);
  return { ratio, doubt: ratio * (doubtOf(factor) + doubtOf(next)) };
}

type Shares = readonly [from: number, to: number];

/** The simplest fraction of whole numbers between two bounds above 0. */
function simplestWithin(low: number, high: number): Shares {
  const whole = Math.floor(low);
  if (whole === low) return [whole, 1];
  if (whole + 1 <= high) return [whole + 1, 1];
  const [to, from] = simplestWithin(1 / (high - whole), 1 / (low - whole));
  return [whole * to + from, to];
}

/** More shares than a split has. */
const MANY_SHARES = 1_000;
/** Factors that were worked out of prices are off by more than their rounding: this near, few shares are what was meant. */
const NEAR = 2e-4;
const FEW_SHARES = 50;

/** The shares of a split: the simplest that its factors can stand for. */
function sharesOf({ ratio, doubt }: { readonly ratio: number; readonly doubt: number }): Shares {
  const exact = simplestWithin(ratio - doubt, ratio + doubt);
  if (Math.max(...exact) <= MANY_SHARES) return exact;
  const near = simplestWithin(ratio * (1 - NEAR), ratio * (1 + NEAR));
  return Math.max(...near) <= FEW_SHARES ? near : exact;
}

const DECIMALS_MOST = 10;

/** The amount with the fewest decimals, from cents on, that is what the factors say; empty where they say none. */
function amountWithin(amount: number, doubt: number): string {
  if (amount <= 2 * doubt) return '';
  for (let decimals = 2; ; decimals++) {
    const text = amount.toFixed(decimals);
    if (Math.abs(Number(text) - amount) <= doubt || decimals === DECIMALS_MOST) return text;
  }
}

type Lookup = Record<string, string>;

/** What the rows of a file are, by their dates. */
class Actions {
  readonly exDate: Lookup = {};
  readonly cash: Lookup = {};
  readonly from: Lookup = {};
  readonly to: Lookup = {};
  readonly odd: string[] = [];

  constructor(rows: readonly string[][]) {
    const usable = rows.filter(isUsable);
    for (const [index, row] of usable.slice(0, -1).entries()) this.#add(row, usable[index + 1]!);
  }

  #add([date = '', price = '', split = '', close = '']: readonly string[], next: readonly string[]): void {
    const [, nextPrice = '', nextSplit = ''] = next;
    const isDividend = Number(price) !== Number(nextPrice);
    const isSplit = Number(split) !== Number(nextSplit);
    if (isDividend || isSplit) this.exDate[date] = nextSession(date);
    if (isDividend) {
      const { ratio, doubt } = ratioOf(price, nextPrice);
      this.cash[date] = amountWithin(Number(close) * (1 - ratio), Number(close) * doubt);
    }
    if (isSplit) {
      const [from, to] = sharesOf(ratioOf(split, nextSplit));
      this.from[date] = String(from);
      this.to[date] = String(to);
      if (Math.max(from, to) > MANY_SHARES) this.odd.push(`${from} to ${to} on ${this.exDate[date]}`);
    }
  }
}

/** LEAN itself takes no rows whose factor is infinite, zero or in exponents: too little is left of it. */
const isUsable = ([, ...factors]: readonly string[]): boolean =>
  factors
    .slice(0, 2)
    .every((factor) => /^[\d.]+$/.test(factor) && Number(factor) > 0 && Number.isFinite(Number(factor)));

/** The rows of one kind. */
const keepOf = (lookup: Lookup): Expression => ({
  sql: `list_contains([${Object.keys(lookup).map(quoted).join()}]::varchar[], {date})`,
  reason: '',
});

const looked = (lookup: Lookup) => ({ column: 'date', lookup });

function mappingOf(sample: Sample): ColumnMapping {
  const rows = rowsOf(sample);
  const { exDate, cash, from, to, odd } = new Actions(rows);
  const width = Math.max(...rows.map((cells) => cells.length));
  const hasPrices = width >= columns.length;
  const dividends: Part = {
    columns: hasPrices ? { cash_amount: looked(cash) } : {},
    values: { action_type: 'dividend', currency: 'USD' },
    keep: keepOf(cash),
  };
  const splits: Part = {
    columns: { split_from: looked(from), split_to: looked(to) },
    values: { action_type: 'split' },
    keep: keepOf(from),
  };
  return {
    header: [...columns, 'source'].slice(0, width),
    columns: {
      ex_date: looked(exDate),
      ...(hasPrices
        ? { reference_price: { sql: 'case when #{reference_price} <> 0 then {reference_price} end' } }
        : {}),
    },
    values: { country_iso_code: 'US', symbol: stemOf(sample).toUpperCase() },
    // A file is named as its map file is, also of the time before it had its ticker.
    hasPresentSymbols: true,
    parts: [dividends, splits],
    taken: ['price_factor', 'split_factor'],
    ...(odd.length === 0
      ? {}
      : { doubt: `its factors make splits of odd numbers of shares (${odd.join(', ')}): are they right?` }),
  };
}

export const leanFactors: Preset = {
  name: 'lean-factors',
  says: 'QuantConnect LEAN factor files of US equities: dividends and splits',
  dataset: 'corporate-actions',
  example: ['20121106,0.8650639,0.03571430,582.86'],
  fits: (sample) => fitOf(sample, /^\d{8},[\d.einf+-]+,[\d.einf+-]+(,[\d.]+)?(,[^,]*)?$/i, 'factor_files'),
  mappingOf,
};
