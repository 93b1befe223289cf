// Series of a market with faults of many kinds, and what of them could be known at a moment: worked out from
// the contract alone (contract 9.8, 9.9, 9.10).
import type { Random } from '../fuzz/random.ts';
import type { FileRow, Filling } from './asked.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const HALF_HOUR = 30 * MINUTE;

/** The weekdays of a stretch with one holiday and the change to daylight saving. */
const sessions = Array.from({ length: 95 }, (_, at) => new Date(Date.UTC(2025, 1, 18 + at)))
  .filter((date) => ![0, 6].includes(date.getUTCDay()))
  .map((date) => date.toISOString().slice(0, 10))
  .filter((date) => date !== '2025-04-18');

const offsetHours = (date: string): number => (date < '2025-03-09' ? 5 : 4);
const openOf = (date: string): number => Date.parse(`${date}T09:30:00Z`) + offsetHours(date) * 60 * MINUTE;
/** The close of the DAY bar of a session of stocks. */
export const closeOf = (date: string): number => openOf(date) + 13 * HALF_HOUR;

/** When a row closes, and the close of the DAY bar of the session that it is of. */
type Dated = { readonly row: FileRow; readonly knownMs: number; readonly overMs: number };

/** Everything, what of it was known at the moment `ms`, and what of sessions that were over. */
export type JudgedWorld = {
  readonly ms: number;
  readonly all: readonly Filling[];
  readonly known: readonly Filling[];
  readonly over: readonly Filling[];
};

const us = { country_iso_code: 'US' };
const stock = { asset_schema: 'stock', ...us };
const crypto = { asset_schema: 'crypto', country_iso_code: 'GLOBAL' };
const coins = ['BTCUSD', 'ETHUSD', 'XRPUSD'];
const RENAMED = { symbol: 'RNM', former: 'OLDN', from: '2015-01-02', to: '2025-04-15' };
const LISTED = '2025-04-08';
const DELISTED = '2025-05-05';
export const symbols = ['AAA', 'BBB', 'CCC', 'DDD', RENAMED.symbol, 'LST', 'DEL'];

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** A bar around a price, calm but for what is planted. */
function bar(random: Random, price: number, at: number): FileRow {
  const [open, close] = [rounded(price), rounded(price * (1 + random.between(-5, 5) / 1_000))];
  const flaw = random.chance(0.06) ? random.pick(['high', 'low', 'vwap', 'high']) : null;
  return {
    ...{ open, close },
    high: rounded(Math.max(open, close) * (flaw === 'high' ? random.pick([1.3, 2]) : 1.004)),
    low: rounded(Math.min(open, close) * (flaw === 'low' ? 0.6 : 0.996)),
    volume: 1_000 + at,
    ...(flaw === 'vwap' && { vwap: rounded(price * 3) }),
  };
}

/** The sessions in which a symbol is traded and stored. */
function tradedOf(random: Random, symbol: string): string[] {
  const first = symbol === 'LST' ? sessions.findIndex((date) => date >= LISTED) : random.pick([0, 0, 0, 9]);
  const last = symbol === 'DEL' ? sessions.findIndex((date) => date >= DELISTED) : sessions.length;
  const kept = random.pick([1, 1, 0.95, 0.8]);
  const hole = random.chance(0.3) ? random.between(20, 50) : Number.POSITIVE_INFINITY;
  return sessions.filter(
    (_, at) => at >= first && at < last && random.chance(kept) && !(at >= hole && at < hole + 4),
  );
}

function stockBars(random: Random, symbol: string): Dated[] {
  const traded = tradedOf(random, symbol);
  const found: Dated[] = [];
  let price = 100;
  let last: FileRow | null = null;
  const hasMinutes = random.chance(0.5);
  for (const [at, date] of traded.entries()) {
    price *= random.chance(0.03) ? random.pick([0.5, 2, 1 / 3]) : 1 + random.between(-9, 9) / 1_000;
    const overMs = closeOf(date);
    const named = { ...stock, symbol };
    const day: FileRow = last !== null && random.chance(0.03) ? last : bar(random, price, at);
    last = day;
    if (random.chance(0.97))
      found.push({ row: { ...named, interval: 'DAY', datetime: date, ...day }, knownMs: overMs, overMs });
    if (!hasMinutes || random.chance(0.05)) continue;
    // Sometimes the session stops early, has a hole, or bars before it opens.
    const [from, to] = [random.pick([0, 0, 0, 0, -2]), random.chance(0.1) ? 6 : 13];
    const gap = random.chance(0.08) ? random.between(2, 8) : Number.POSITIVE_INFINITY;
    for (let part = from; part < to; part++) {
      if (part >= gap && part < gap + 3) continue;
      const openMs = openOf(date) + part * HALF_HOUR;
      const row = { ...named, interval: '30M', datetime: new Date(openMs).toISOString() };
      found.push({
        row: { ...row, ...bar(random, price, part + 10) },
        knownMs: openMs + HALF_HOUR,
        overMs,
      });
    }
  }
  return found;
}

function cryptoBars(random: Random): Dated[] {
  return coins.flatMap((symbol) =>
    Array.from({ length: 60 }, (_, at): Dated[] => {
      const fromMs = Date.UTC(2025, 2, 1 + at);
      if (random.chance(0.05)) return [];
      const overMs = fromMs + DAY;
      const datetime = new Date(fromMs).toISOString().slice(0, 10);
      const row = { ...crypto, symbol, interval: 'DAY', datetime, ...bar(random, 100, at) };
      return [{ row, knownMs: overMs, overMs }];
    }).flat(),
  );
}

/**
 * Other values of some bars, as a second import has them: of the first one of every series, so that it holds
 * all at any moment.
 */
const corrected = (random: Random, bars: readonly Dated[]): Dated[] =>
  bars
    .filter(({ row }, at) => {
      const isOther = ({ row: before }: Dated) =>
        row.symbol !== before.symbol || row.interval !== before.interval;
      return bars.slice(0, at).every(isOther) || random.chance(0.02);
    })
    .map(({ row, ...known }) => ({ ...known, row: { ...row, volume: Number(row.volume) + 7 } }));

type Declared = FileRow & { readonly ex_date: string; readonly declaration_date?: string };

function actionsOf(random: Random): Declared[] {
  const rows = Array.from({ length: 14 }, (): Declared => {
    const ex_date = random.pick(sessions);
    const declared = random.pick(sessions.filter((date) => date <= ex_date));
    const type = random.pick(['dividend', 'split']);
    return {
      ...{ ...us, symbol: random.pick(symbols.slice(0, 5)), action_type: type, ex_date },
      ...(random.chance(0.6) && { declaration_date: declared }),
      ...(type === 'split'
        ? { split_from: 1, split_to: random.between(2, 3) }
        : { cash_amount: random.between(1, 90) }),
    };
  });
  return [
    ...new Map(
      rows.map((row) => [`${String(row.symbol)} ${String(row.ex_date)} ${String(row.action_type)}`, row]),
    ).values(),
  ];
}

/** The instruments as a file had them on a date. */
function instrumentsOn(today: string): FileRow[] {
  const former_symbols = `${RENAMED.former}:${RENAMED.from}..${RENAMED.to}`;
  return [
    ...['AAA', 'BBB', 'CCC', 'DDD'].map((symbol) => ({ ...stock, symbol })),
    today > RENAMED.to
      ? { ...stock, symbol: RENAMED.symbol, former_symbols }
      : { ...stock, symbol: RENAMED.former },
    ...coins.map((symbol) => ({ ...crypto, symbol })),
    ...(today >= LISTED ? [{ ...stock, symbol: 'LST', listing_date: LISTED }] : []),
    {
      ...{ ...stock, symbol: 'DEL' },
      ...(today > DELISTED && { status: 'inactive', delisting_date: DELISTED }),
    },
  ];
}

/** The date of a moment in New York. */
export const dateAt = (ms: number): string =>
  new Date(ms - offsetHours(new Date(ms).toISOString().slice(0, 10)) * 60 * MINUTE)
    .toISOString()
    .slice(0, 10);

/** A random market, and a moment: often one at which something closes. */
export function judgedWorld(random: Random): JudgedWorld {
  const bars = [...symbols.flatMap((symbol) => stockBars(random, symbol)), ...cryptoBars(random)];
  const corrections = corrected(random, bars);
  const actions = actionsOf(random);
  const ms = random.pick(bars).knownMs + random.pick([0, 0, -1_000, 1_000, 5 * HALF_HOUR, -HALF_HOUR]);
  const today = dateAt(ms);
  const filling = (isKnown: ((one: Dated) => boolean) | null): Filling[] => {
    /**
     * Files name an instrument as it was called on the day; what was declared before a change has the name of
     * then.
     */
    const named = (row: FileRow, date: string): FileRow => {
      const isFormer = date <= RENAMED.to || (isKnown !== null && today <= RENAMED.to);
      return isFormer && row.symbol === RENAMED.symbol ? { ...row, symbol: RENAMED.former } : row;
    };
    const rowsOf = (dated: readonly Dated[]) =>
      dated.filter((one) => isKnown?.(one) ?? true).map(({ row, overMs }) => named(row, dateAt(overMs)));
    return [
      ['instruments', instrumentsOn(isKnown === null ? '2025-12-31' : today)],
      ['bars', rowsOf(bars)],
      ['bars', rowsOf(corrections)],
      [
        'corporate-actions',
        actions
          .filter(
            ({ ex_date, declaration_date = '~' }) =>
              isKnown === null || ex_date <= today || declaration_date < today,
          )
          .map((row) => named(row, row.ex_date)),
      ],
    ];
  };
  const stored = (isKnown: ((one: Dated) => boolean) | null) =>
    filling(isKnown).filter(([, rows]) => rows.length > 0);
  return {
    ms,
    all: stored(null),
    known: stored(({ knownMs }) => knownMs <= ms),
    over: stored(({ overMs }) => overMs <= ms),
  };
}
