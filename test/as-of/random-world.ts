// A store of random rows, and what of them could be known at a moment: worked out from the contract alone
// (contract 9.8).
import type { Random } from '../fuzz/random.ts';
import type { FileRow, Filling } from './asked.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** The clock of the service that has everything. */
export const NOW = Date.parse('2026-01-01T00:00:00Z');

/** Sessions of three weeks, with the change to daylight saving on 9 March. */
const dates = Array.from({ length: 21 }, (_, at) =>
  new Date(Date.UTC(2025, 2, 3 + at)).toISOString().slice(0, 10),
);
const weekdays = dates.filter((date) => ![0, 6].includes(new Date(date).getUTCDay()));

/** Midnight of New York in UTC. */
const midnight = (date: string): number =>
  Date.parse(`${date}T00:00:00Z`) + (date < '2025-03-10' && date !== '2025-03-09' ? 5 : 4) * 60 * MINUTE;

/** The date of a moment in New York. */
export const dateAt = (ms: number): string =>
  new Date(ms - (ms < Date.parse('2025-03-09T07:00:00Z') ? 5 : 4) * 60 * MINUTE).toISOString().slice(0, 10);

/** Since when a row is known: a bar from its close on. */
type Dated = { readonly row: FileRow; readonly knownMs: number };

/** Everything, and what of it was known at the moment `ms`. */
export type RandomWorld = {
  readonly ms: number;
  readonly all: readonly Filling[];
  readonly known: readonly Filling[];
};

const us = { country_iso_code: 'US' };
const RENAMED = { symbol: 'RNM', former: 'OLDN', from: '2015-01-02', to: '2025-03-11' };
const LISTED = '2025-03-10';
const DELISTED = '2025-03-13';
/** Symbols of stocks by what they are, in the store that has everything. */
const stocks = ['AAA', RENAMED.symbol, 'LST', 'DEL'];

/**
 * A day on which the market is closed, and from which date that was known; absent where it was known in
 * advance.
 */
type Closing = { readonly date: string; readonly announced?: string };

function closingsOf(random: Random): Closing[] {
  const closed = weekdays.filter(() => random.chance(0.12));
  return closed.map((date) => {
    const before = dates.filter((other) => other <= date);
    const announced = random.pick([date, before.at(-2) ?? date, random.pick(before)]);
    return random.chance(0.8) ? { date, announced } : { date };
  });
}

const closingRow = ({ date, announced }: Closing): FileRow => ({
  ...{ name: 'Closed', holiday_code: 'HOLIDAY_OWN', calendar_date: date, asset_name: 'stock' },
  ...{ ...us, symbol: '*', session_template: 'CLOSED' },
  ...(announced !== undefined && { announced }),
});

/**
 * From when it is known that nothing of a week is still to come: at its last close, unless a later closing is
 * announced after it.
 */
function endOfWeek(monday: string, closings: readonly Closing[]): number {
  const days = weekdays.slice(weekdays.indexOf(monday), weekdays.indexOf(monday) + 5);
  const closed = new Map(closings.map((closing) => [closing.date, closing]));
  const last = days.findLastIndex((date) => !closed.has(date));
  const announcements = days
    .slice(last + 1)
    .map((date) => midnight(closed.get(date)!.announced ?? dates[0]!));
  return Math.max(...announcements, last < 0 ? 0 : closeOf(days[last]!));
}

const priced = (random: Random): FileRow => {
  const [open, close] = [random.between(100, 200), random.between(100, 200)];
  return {
    open,
    close,
    high: Math.max(open, close) + 1,
    low: Math.min(open, close) - 1,
    volume: random.between(1, 99),
  };
};

/** Segments of a US session in minutes of the day. */
const segments = [
  [240, 570],
  [570, 960],
  [960, 1200],
] as const;

/** Bars of some minutes on the grid of their segments, at random; `offGridFrom` on they are clock hours. */
function minuteBars(random: Random, minutes: number, perDay: number, offGridFrom: string | null): Dated[] {
  const found: Dated[] = [];
  for (const date of weekdays) {
    if (random.chance(0.15)) continue;
    const isOff = offGridFrom !== null && date >= offGridFrom;
    const opens = new Map<number, number>();
    for (let at = 0; at < perDay; at++) {
      if (isOff) {
        const open = 60 * random.between(7, 18);
        opens.set(open, open + minutes);
        continue;
      }
      const [from, to] = segments[random.pick([0, 1, 1, 1, 2])]!;
      const open = from + minutes * random.below(Math.ceil((to - from) / minutes));
      opens.set(open, Math.min(open + minutes, to));
    }
    for (const [open, close] of opens) {
      const datetime = new Date(midnight(date) + open * MINUTE).toISOString();
      found.push({
        row: { interval: `${minutes}M`, datetime, ...priced(random) },
        knownMs: midnight(date) + close * MINUTE,
      });
    }
  }
  return found;
}

const closeOf = (date: string): number => midnight(date) + 960 * MINUTE;

function periodBars(random: Random, closings: readonly Closing[]): Dated[] {
  const bar = (interval: string, datetime: string, knownMs: number): Dated => ({
    row: { interval, datetime, ...priced(random) },
    knownMs,
  });
  const days = weekdays.filter(() => random.chance(0.8)).map((date) => bar('DAY', date, closeOf(date)));
  const mondays = weekdays.filter((date) => new Date(date).getUTCDay() === 1);
  const weeks = mondays
    .filter(() => random.chance(0.6))
    .map((date) => bar('WEEK', date, endOfWeek(date, closings)));
  return [...(random.chance(0.7) ? days : []), ...(random.chance(0.3) ? weeks : [])];
}

function stockBars(random: Random, symbol: string, closings: readonly Closing[]): Dated[] {
  const wanted = [
    ...(random.chance(0.7) ? minuteBars(random, 1, 12, null) : []),
    ...(random.chance(0.4) ? minuteBars(random, 5, 8, null) : []),
    ...(random.chance(0.6)
      ? minuteBars(random, 60, 5, random.pick([null, null, '2025-03-03', '2025-03-12']))
      : []),
    ...periodBars(random, closings),
  ];
  const ends = symbol === 'DEL' ? midnight(DELISTED) + DAY : Number.POSITIVE_INFINITY;
  const begins = symbol === 'LST' ? midnight(LISTED) : 0;
  // Nothing trades on a closed day.
  const isOpen = ({ row: { interval, datetime } }: Dated): boolean =>
    interval === 'WEEK' ||
    !closings.some(
      ({ date }) => date === (interval === 'DAY' ? datetime : dateAt(Date.parse(datetime as string))),
    );
  return wanted
    .filter(isOpen)
    .filter(({ knownMs }) => knownMs > begins + 20 * 60 * MINUTE && knownMs <= ends)
    .map(({ row, knownMs }) => ({ row: { asset_schema: 'stock', ...us, symbol, ...row }, knownMs }));
}

function cryptoBars(random: Random): Dated[] {
  const named = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  return dates.flatMap((date) => {
    const fromMs = Date.parse(date);
    const hours = Array.from({ length: 24 }, (_, hour) => hour).filter(() => random.chance(0.2));
    const bars = hours.map((hour) => ({
      row: {
        ...named,
        interval: '60M',
        datetime: new Date(fromMs + hour * 60 * MINUTE).toISOString(),
        ...priced(random),
      },
      knownMs: fromMs + (hour + 1) * 60 * MINUTE,
    }));
    const day = {
      row: { ...named, interval: 'DAY', datetime: date, ...priced(random) },
      knownMs: fromMs + DAY,
    };
    return random.chance(0.4) ? [...bars, day] : bars;
  });
}

const someInstant = (random: Random): number =>
  Math.floor(random.between(Date.parse('2025-03-03'), Date.parse('2025-03-22')) / 1_000) * 1_000;

const isoOf = (ms: number): string => new Date(ms).toISOString();

function newsOf(random: Random): Dated[] {
  return Array.from({ length: 40 }, (_, at) => {
    const knownMs = someInstant(random);
    const isLater = knownMs > midnight(LISTED) + DAY;
    const symbol = random.pick([...stocks.filter((one) => one !== 'LST' || isLater), null]);
    const named = symbol === null ? {} : { asset_name: 'stock', ...us, symbol };
    return {
      row: {
        ...{ ...named, published_date: isoOf(knownMs), title: `Title ${at}` },
        publisher_url: `https://news.example.com/${at}`,
      },
      knownMs,
    };
  });
}

type Declared = FileRow & { readonly ex_date: string; readonly declaration_date?: string };

function actionsOf(random: Random): Declared[] {
  const rows = Array.from({ length: 10 }, () => {
    const ex_date = random.pick(weekdays);
    const declared = random.pick(weekdays.filter((date) => date <= ex_date));
    const type = random.pick(['dividend', 'split']);
    return {
      ...{ ...us, symbol: random.pick(['AAA', 'AAA', RENAMED.symbol, 'DEL']), action_type: type, ex_date },
      ...(random.chance(0.5) && { declaration_date: declared }),
      ...(type === 'split'
        ? { split_from: 1, split_to: random.between(2, 4) }
        : { cash_amount: random.between(1, 5) }),
      ...(type === 'dividend' && random.chance(0.5) && { reference_price: 150 }),
    };
  });
  return [...new Map(rows.map((row) => [`${row.symbol} ${row.ex_date} ${row.action_type}`, row])).values()];
}

function eventsOf(random: Random): (FileRow & { event_timestamp: string; event_code: string })[] {
  return Array.from({ length: 40 }, (_, at) => ({
    ...{ country_iso_code: random.pick(['US', 'ZZ']), event_code: random.pick(['ONE', 'TWO', 'THREE']) },
    ...{ event_name: `Event ${at}`, event_timestamp: isoOf(someInstant(random)), period: `P${at}` },
    ...(random.chance(0.3) && { event_driven_type: random.pick(['data_driven', 'time_driven']) }),
    ...(random.chance(0.8) && { actual_value: random.between(1, 9), change: random.between(1, 9) }),
    ...(random.chance(0.8) && { previous_value: random.between(1, 9) }),
    ...(random.chance(0.8) && { forecast_value: random.between(1, 9) }),
    ...(random.chance(0.8) && { impact: random.pick(['low', 'medium', 'high']) }),
  }));
}

/** Contract 9.8: what of the events was known at a moment. */
function knownEvents(all: readonly ReturnType<typeof eventsOf>[number][], ms: number): FileRow[] {
  return all.flatMap((event) => {
    const at = Date.parse(event.event_timestamp);
    if (at <= ms) return [event];
    const row: Record<string, unknown> = { ...event };
    if (row.event_driven_type === 'data_driven') return [];
    delete row.actual_value;
    delete row.change;
    const isBehind = all.some(
      (other) =>
        other.country_iso_code === event.country_iso_code &&
        other.event_code === event.event_code &&
        ms < Date.parse(other.event_timestamp) &&
        Date.parse(other.event_timestamp) < at,
    );
    if (isBehind) for (const name of ['previous_value', 'forecast_value']) delete row[name];
    return [row];
  });
}

type ContractRow = FileRow & { listing_date?: string; quote_datetime?: string };

/** The contract of a row as it was known at a moment: without a quote of later. */
function contractAt({ bid, quote_datetime, ...row }: ContractRow, ms: number): FileRow {
  const isQuoted = quote_datetime !== undefined && Date.parse(quote_datetime) <= ms;
  return isQuoted ? { ...row, bid: bid!, quote_datetime } : row;
}

function contractsOf(random: Random): ContractRow[] {
  const rows = Array.from({ length: 60 }, () => {
    const date = random.pick(['2025-03-07', '2025-03-14', '2025-03-21', '2025-06-20']);
    const [type, strike] = [random.pick(['call', 'put']), random.between(10, 20) * 10];
    // AAA1 is the root of adjusted contracts.
    const root = random.pick(['AAA', 'AAA', 'AAA1', RENAMED.symbol]);
    const listing = random.pick(['2025-02-03', ...weekdays.filter((day) => day <= date)]);
    return {
      symbol: `${root}${date.replaceAll('-', '').slice(2)}${type === 'call' ? 'C' : 'P'}${String(strike * 1_000).padStart(8, '0')}`,
      ...{
        ...us,
        parent_asset_schema: 'stock',
        underlying_name: root === 'AAA1' ? 'AAA' : root,
        option_type: type,
        strike_price: strike,
      },
      expiration_date: date,
      ...(random.chance(0.7) && { listing_date: listing }),
      ...(random.chance(0.7) && { bid: random.between(1, 9) }),
      ...(random.chance(0.8) && { quote_datetime: new Date(someInstant(random)).toISOString() }),
    };
  });
  return [...new Map(rows.map((row) => [row.symbol, row])).values()];
}

/** The instruments as a file had them at a moment. */
function instrumentsAt(today: string): FileRow[] {
  const named = { asset_schema: 'stock', ...us };
  const isRenamed = today > RENAMED.to;
  const former_symbols = `${RENAMED.former}:${RENAMED.from}..${RENAMED.to}`;
  return [
    { ...named, symbol: 'AAA', name: 'Alpha Holdings' },
    isRenamed
      ? { ...named, symbol: RENAMED.symbol, name: 'Renamed Holdings', former_symbols }
      : { ...named, symbol: RENAMED.former, name: 'Renamed Holdings' },
    ...(today >= LISTED ? [{ ...named, symbol: 'LST', name: 'Listed Alpha', listing_date: LISTED }] : []),
    {
      ...{ ...named, symbol: 'DEL', name: 'Delisted Holdings' },
      ...(today > DELISTED && { status: 'inactive', delisting_date: DELISTED }),
    },
  ];
}

/** A random world, and a moment of it: often one at which something closes. */
export function randomWorld(random: Random): RandomWorld {
  const closings = closingsOf(random);
  const bars = [...stocks.flatMap((symbol) => stockBars(random, symbol, closings)), ...cryptoBars(random)];
  const closes = random.chance(0.6) ? bars.map(({ knownMs }) => knownMs) : [someInstant(random)];
  const ms = random.pick(closes) + random.pick([0, 0, -1_000, 1_000]);
  const today = dateAt(ms);
  const news = newsOf(random);
  const [actions, events, contracts] = [actionsOf(random), eventsOf(random), contractsOf(random)];
  /** A stored symbol as it was at the moment. */
  const then = (row: FileRow): FileRow => {
    if (today > RENAMED.to) return row;
    const names = ['symbol', 'underlying_name'].filter((name) => row[name] === RENAMED.symbol);
    return { ...row, ...Object.fromEntries(names.map((name) => [name, RENAMED.former])) };
  };
  const knownOf = (dated: readonly Dated[]) =>
    dated.filter(({ knownMs }) => knownMs <= ms).map(({ row }) => then(row));
  const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL', symbol: 'BTCUSD' };
  const filling = (known: boolean): Filling[] => [
    ['instruments', [...instrumentsAt(known ? today : '2025-12-31'), crypto]],
    ['holidays', closings.filter(({ announced = today }) => !known || announced <= today).map(closingRow)],
    ['bars', known ? knownOf(bars) : bars.map(({ row }) => row)],
    ['news', known ? knownOf(news) : news.map(({ row }) => row)],
    [
      'corporate-actions',
      known
        ? actions
            .filter(({ ex_date, declaration_date }) => ex_date <= today || (declaration_date ?? '~') < today)
            .map(then)
        : actions,
    ],
    ['economic-events', known ? knownEvents(events, ms) : events],
    [
      'option-contracts',
      known
        ? contracts
            .filter(({ listing_date = '' }) => listing_date <= today)
            .map((row) => then(contractAt(row, ms)))
        : contracts,
    ],
  ];
  const filled = (known: boolean) => filling(known).filter(([, rows]) => rows.length > 0);
  return { ms, all: filled(false), known: filled(true) };
}
