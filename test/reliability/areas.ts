// Files of every area but bars, each import over the one before: all earlier rows corrected, and new ones in
// between.
import { DAY_MS } from '../../src/base/instant.ts';
import type { FileRow, Filling } from '../importing.ts';

/** A record as it came. */
export type Fields = Readonly<Record<string, unknown>>;

/** One list of the service, and the files that are imported while it is walked. */
export type Area = {
  readonly dataset: Filling[0];
  readonly rowOf: (position: number, revision: number) => FileRow;
  /** Path and query of the whole list, to which `limit` and `sort` may be added. */
  readonly address: string;
  readonly sorts: readonly ('asc' | 'desc')[];
  readonly positionOf: (record: Fields) => number;
  readonly revisionOf: (record: Fields) => number;
};

/** Rows that a first file has, and that every later one adds. */
export const ROWS = 40;
/** Positions from one row of a file to its next: those of later files lie between. */
const STEP = 16;
/** Later files that there is room for; with them a list is still one page. */
export const ROUNDS_MAX = STEP - 1;

/** Where the rows of a round stand in the order of their list. */
export const positionsOf = (round: number): number[] =>
  Array.from({ length: ROWS }, (_, index) => index * STEP + round);

/** The round that brought a record. */
export const roundOf = (position: number): number => position % STEP;

const FIRST_MS = Date.parse('2001-01-01T00:00:00Z');
const dayAt = (position: number): string => new Date(FIRST_MS + position * DAY_MS).toISOString().slice(0, 10);
const positionAt = (day: unknown): number => (Date.parse(String(day).slice(0, 10)) - FIRST_MS) / DAY_MS;

/** Rows of no instrument: news and events. */
const between = 'from_date=2000-01-01&to_date=2030-01-01';

/** The lists that are walked by time or by date. */
export const dated: readonly Area[] = [
  {
    dataset: 'news',
    rowOf: (position, revision) => ({
      published_date: `${dayAt(position)}T12:00:00Z`,
      title: `News ${position}`,
      publisher_url: `https://example.com/${position}`,
      sentiment_score: revision,
    }),
    address: `/api/v2/news/list?${between}`,
    sorts: ['asc', 'desc'],
    positionOf: ({ published_date }) => positionAt(published_date),
    revisionOf: ({ sentiment_score }) => Number(sentiment_score),
  },
  {
    dataset: 'economic-events',
    rowOf: (position, revision) => ({
      ...{ country_iso_code: 'US', event_code: 'ODD', event_name: 'Odd' },
      ...{ event_timestamp: `${dayAt(position)}T12:00:00Z`, actual_value: revision },
      source_id: position.toString(16).padStart(64, '0'),
    }),
    address: `/api/v2/economic_calendar/event_list?${between}&format=json`,
    sorts: ['asc', 'desc'],
    positionOf: ({ event_timestamp }) => positionAt(event_timestamp),
    revisionOf: ({ actual_value }) => Number(actual_value),
  },
  {
    dataset: 'corporate-actions',
    rowOf: (position, revision) => ({
      ...{ country_iso_code: 'US', symbol: 'ACTS', action_type: 'dividend', ex_date: dayAt(position) },
      cash_amount: revision + 1,
    }),
    address: `/api/v2/stock/stock_corporate_action/list/US:ACTS?from_date=2000-01-01`,
    sorts: ['asc'],
    positionOf: ({ ex_date }) => positionAt(ex_date),
    revisionOf: ({ cash_amount }) => Number(cash_amount) - 1,
  },
  {
    dataset: 'holidays',
    rowOf: (position, revision) => ({
      ...{ asset_name: 'stock', country_iso_code: 'ZZ', symbol: '*', calendar_date: dayAt(position) },
      ...{ name: `${revision}`, holiday_code: 'HOLIDAY_ODD', session_template: 'CLOSED' },
    }),
    address: '/api/v2/holiday/list?full_symbol=stock:ZZ:*&format=json',
    sorts: ['asc', 'desc'],
    positionOf: ({ calendar_date }) => positionAt(calendar_date),
    revisionOf: ({ name }) => Number(name),
  },
];

/** The underlying of the contracts. */
export const UNDERLYING = 'ROOT';
const FIRST_STRIKE = 1;

/** The date on which one contract of each round expires, and no other. */
const ownDate = (round: number): string => `2100-01-${String(round + 1).padStart(2, '0')}`;

/** The round that brought an expiration; -1 of those that all rounds have. */
export const roundOfExpiration = (date: string): number =>
  date < ownDate(0) ? -1 : Number(date.slice(8)) - 1;

/**
 * When a contract expires: one of each round on its own date, the others long ago, far ahead, or while the
 * walks go on.
 */
function expirationOf(position: number, startMs: number): string {
  const index = Math.floor(position / STEP);
  if (index === 0) return `${ownDate(position)}T21:00:00Z`;
  if (index % 4 === 0) return '2020-01-17T21:00:00Z';
  if (index % 4 === 1) return `209${index % 10}-12-18T21:00:00Z`;
  const atSeconds = Math.floor(startMs / 1_000) + index * 2;
  return new Date(atSeconds * 1_000).toISOString().replace('.000', '');
}

/** Calls of one underlying, a strike each; `startMs` is when the walks begin. */
export const contracts = (startMs: number): Area => ({
  dataset: 'option-contracts',
  rowOf(position, revision) {
    const instant = expirationOf(position, startMs);
    return {
      ...{ symbol: `${UNDERLYING}${position}`, country_iso_code: 'US', parent_asset_schema: 'stock' },
      ...{ underlying_name: UNDERLYING, strike_price: position + FIRST_STRIKE, option_type: 'call' },
      ...{ expiration_date: instant.slice(0, 10), expiration_datetime: instant },
      contract_value: revision + 1,
    };
  },
  address: `/api/v2/option/search/stock/US:${UNDERLYING}/call/moneyness/in_the_money?`,
  sorts: [],
  positionOf: ({ strike_price }) => Number(strike_price) - FIRST_STRIKE,
  revisionOf: ({ contract_value }) => Number(contract_value) - 1,
});

/** Above every strike. */
export const PRICE_ABOVE = ROWS * STEP + 2 * FIRST_STRIKE;

/** The price of the underlying after so many rounds: far from the one before. */
export const priceAfter = (round: number): number => (PRICE_ABOVE / 4) * (1 + ((round * 2) % 3)) + 0.5;

const FIRST_WEDNESDAY_MS = Date.parse('2024-01-03T00:00:00Z');

/** A day's bar of the underlying with that price, a week after the one before. */
export const barAfter = (round: number): FileRow => {
  const price = priceAfter(round);
  const datetime = new Date(FIRST_WEDNESDAY_MS + round * 7 * DAY_MS).toISOString().slice(0, 10);
  return {
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: UNDERLYING, interval: 'DAY' },
    ...{ datetime, open: price, high: price, low: price, close: price },
  };
};

/** The instrument whose record is asked for, as a round's file has it. */
export const instrumentAfter = (round: number): FileRow => ({
  ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: 'KEPT', name: `${round}` },
});
