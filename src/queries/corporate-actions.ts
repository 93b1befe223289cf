// The corporate actions of one stock (spec 4.3, contract 8.2, 8.10).
import { END_DAY, formatDay } from '../base/instant.ts';
import {
  type ActionKind,
  type corporateActions as endpoint,
  listedKinds,
} from '../contract/corporate-actions.ts';
import { Refusal } from '../contract/errors.ts';
import type { CountrySymbol } from '../contract/identifiers.ts';
import {
  type Action,
  asTraded,
  factorOf,
  factorText,
  needsClose,
  referencePrice,
  scaleOf,
} from '../series/adjust/factors.ts';
import { RawCloses } from '../series/closes.ts';
import { corporateActions, isOfShares } from '../store/schema/corporate-actions.ts';
import {
  instrumentOrNull,
  isNobodys,
  shownSymbol,
  tellingHistory,
  unknownSymbol,
} from './known-instrument.ts';
import type { DayRange, Found } from './lookup.ts';
import { answerPage } from './pages/dataset-page.ts';
import { dayBounds, type Query, type QueryContext } from './query.ts';
import type { WireRecord } from './render/records.ts';

const order = ['ex_date', 'occurrence', 'action_type'] as const;

/**
 * The stock of a name; null where only corporate actions have the name. @throws Refusal `unknown_instrument`
 * where nothing has it
 */
async function stockOf(context: QueryContext, named: CountrySymbol, days: DayRange): Promise<Found | null> {
  const found = await instrumentOrNull(context, 'stock', named, days);
  if (found !== null) return found;
  const where = { country_iso_code: named.country, symbol: named.symbol };
  const read = { where, order: order.map((column) => [column, 'asc'] as const), limit: 1 };
  const rows = (await isNobodys(context, 'stock', named))
    ? await context.known.rows(corporateActions, read)
    : [];
  if (rows.length === 0) throw await unknownSymbol(context, 'stock', named);
  return null;
}

const dayOrNull = (day: number | null): string | null => (day === null ? null : formatDay(day));

/** The stock of some records, and what is computed for all of them. */
type OfStock = {
  readonly symbol: string;
  readonly stock: Found | null;
  readonly closes: RawCloses | null;
  /** All its actions. */
  readonly all: () => Promise<readonly Action[]>;
  readonly kindOf: (action: Action) => ActionKind | null;
};

/**
 * Without `extended` a special dividend is a dividend, and kinds other than the two are not listed: null
 * (contract 8.10).
 */
function listedKind({ action_type }: Action): ActionKind | null {
  if (action_type === 'special_dividend') return 'dividend';
  return listedKinds.find((kind) => kind === action_type) ?? null;
}

/** @throws Refusal for a kind that is listed with `extended=true` alone */
function checkKind(type: ActionKind | undefined, extended: boolean): void {
  if (type === undefined || extended || (listedKinds as readonly string[]).includes(type)) return;
  throw new Refusal('invalid_parameter', {
    message: `action_type must be one of ${listedKinds.join(', ')}; ${type} goes with extended=true.`,
    param: 'action_type',
    got: type,
    allowed: listedKinds,
    hint: 'Add extended=true.',
  });
}

/**
 * An action that is still to come, as it was declared: the close before it is not known, and neither is what
 * depends on it.
 */
const asDeclared = (action: Action): Action => ({
  ...action,
  reference_price: null,
  adjustment_factor: isOfShares(action.action_type) ? action.adjustment_factor : null,
});

/** An action on the wire; of one that is still to come nobody knows the close before it. */
async function recordOf({ moment }: QueryContext, stored: Action, of: OfStock): Promise<WireRecord> {
  const { symbol, stock, closes, kindOf } = of;
  // A plain record asks for no other row: where one is lost, it is still right.
  const all = stored.split_adjusted_on !== null || needsClose(stored) ? await of.all() : [];
  const isComing = stored.ex_date > moment.dayIn('stock', stored.country_iso_code);
  const traded = asTraded(stored, all);
  const action = isComing ? asDeclared(traded) : traded;
  const price = isComing ? null : await referencePrice(action, all, closes);
  const noStock = { country_iso_code: stored.country_iso_code, currency: null, calendar_key: null };
  const scale = scaleOf(action, stock?.instrument ?? noStock);
  return {
    ...action,
    action_type: kindOf(action),
    symbol,
    asset_schema: 'STOCK',
    exchange: action.exchange ?? stock?.instrument.exchange ?? null,
    ex_date: formatDay(action.ex_date),
    ex_date__1: formatDay(action.ex_date),
    adjustment_factor: factorText(factorOf(action, price, scale)),
    declaration_date: dayOrNull(action.declaration_date),
    record_date: dayOrNull(action.record_date),
    pay_date: dayOrNull(action.pay_date),
    reference_price: price,
  };
}

/** `GET …/stock/stock_corporate_action/list/{country_symbol}` */
export const answerCorporateActions: Query<typeof endpoint> = async (parameters, context) => {
  const {
    country_symbol: named,
    from_date: from,
    to_date: to,
    action_type: type,
    extended = false,
  } = parameters;
  checkKind(type, extended);
  const range = dayBounds(from, to);
  const days = { from, to: to ?? END_DAY };
  const stock = await stockOf(context, named, days);
  // Only an action whose factor needs a close reads the clock: which bars are finished.
  const nowMs = (): number => context.request.nowMs;
  const closes = stock === null ? null : new RawCloses(context.reader, stock, nowMs);
  const { country_iso_code, symbol } = stock?.instrument ?? {
    country_iso_code: named.country,
    symbol: named.symbol,
  };
  const shown = stock === null ? symbol : shownSymbol(context, stock.instrument);
  const kindOf = extended ? ({ action_type }: Action) => action_type as ActionKind : listedKind;
  const isAsked = (kind: ActionKind | null): boolean =>
    kind !== null && (type === undefined || kind === type);
  const isStored = type !== undefined && (extended || type === 'split');
  let read: Promise<readonly Action[]> | null = null;
  const all = () => (read ??= context.reader.group(corporateActions, { country_iso_code, symbol }));
  const of = { symbol: shown, stock, closes, all, kindOf };
  const answer = await answerPage(context, {
    parameters,
    understood: { country_symbol: `${country_iso_code}|${symbol}` },
    dataset: corporateActions,
    where: { country_iso_code, symbol, ...(isStored && { action_type: type }) },
    range,
    order,
    direction: parameters.sort,
    holds: (action) => isAsked(kindOf(action)),
    recordOf: (action) => recordOf(context, action, of),
  });
  return tellingHistory(context, { assetSchema: 'stock', ...named, days }, shown, answer);
};
