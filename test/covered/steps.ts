// Random files, deletions, undos and changes of calendars, and how they come to a store.
import { DAY_MS, MINUTE_MS } from '../../src/base/instant.ts';
import type { Session } from '../../src/market/calendar/session.ts';
import { zoneOf } from '../../src/market/calendar/zone.ts';
import { fc } from '../seed.ts';
import { closeOf, type FileBar, hoursOf, openOf, type Stored, stepOf } from './facts.ts';
import { dayOf, type MarketName } from './journal.ts';
import { cellsOf } from './oracle.ts';
import type { World } from './world.ts';

const HOUR_MS = 60 * MINUTE_MS;
/** The last ones trade seldom. */
export const SYMBOLS = ['AA', 'BB', 'CC', 'DD', 'EE'];
const SESSIONS = 6;
const hash = (text: string): number => {
  let sum = 7;
  for (const char of text) sum = (sum * 31 + char.charCodeAt(0)) % 1_000_003;
  return sum;
};

/**
 * What traded: the bars of each symbol in the first sessions from 5 February 2024 on, by the calendar without
 * further holidays.
 */
export class Truth {
  readonly sessions: readonly Session[];
  readonly #bars = new Map<string, readonly FileBar[]>();
  readonly base: Stored;

  constructor(world: World, base: Stored) {
    this.base = base;
    this.sessions = world.journal.base.sessions(dayOf('2024-02-05'), dayOf('2024-02-20')).slice(0, SESSIONS);
  }

  /** The bars of a symbol in order. */
  bars(symbol: string, interval: Stored): readonly FileBar[] {
    const name = `${symbol} ${interval}`;
    const known =
      this.#bars.get(name) ?? this.sessions.flatMap((one) => this.#inSession(symbol, interval, one));
    this.#bars.set(name, known);
    return known;
  }

  #inSession(symbol: string, interval: Stored, session: Session): FileBar[] {
    const chance = hash(`${symbol} ${session.day}`);
    const rank = SYMBOLS.indexOf(symbol);
    // Seldom traded ones have sessions without a trade.
    if (rank >= 3 && chance % 3 === 0) return [];
    const price = (keyMs: number): number => 100 + (hash(`${symbol} ${keyMs}`) % 40);
    if (interval === 'DAY') {
      const keyMs = session.day * DAY_MS;
      return [{ symbol, keyMs, price: price(keyMs) }];
    }
    const stepMs = stepOf(interval);
    const cells = cellsOf(session, 'all', stepMs).map(({ fromMs }) => fromMs);
    // Of short bars one at the open, one in 30 minutes, and a dense stretch in the middle.
    const every = stepMs < 30 * MINUTE_MS ? (30 * MINUTE_MS) / stepMs : 1;
    const middleMs = session.openMs + 2 * HOUR_MS;
    const usual = cells.filter(
      (ms, at) =>
        ms === session.openMs ||
        at % every === (rank + 1) % every ||
        (every > 1 && ms >= middleMs && ms < middleMs + 12 * stepMs),
    );
    const kept =
      rank < 2 ? usual : usual.filter((_, at) => hash(`${chance} ${at}`) % (rank < 3 ? 3 : 9) === 0);
    return kept.map((keyMs) => ({ symbol, keyMs, price: price(keyMs) }));
  }
}

/** With any number where an arbitrary gives some. */
type Widened<T> = T extends number
  ? number
  : T extends string | boolean | null
    ? T
    : { [Name in keyof T]: Widened<T[Name]> };

/** What an arbitrary gives. */
type Given<A> = A extends fc.Arbitrary<infer T> ? Widened<T> : never;

/** Null, or seldom something. */
const seldom = <T>(arbitrary: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T | null> =>
  fc.oneof({ weight, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

// An instant: some part of the hours of a session, or hours after its end.
const instant = fc.record({
  session: fc.nat({ max: SESSIONS - 1 }),
  percent: fc.integer({ min: 0, max: 100 }),
  hoursAfter: seldom(fc.constantFrom(0, 0.25, 1, 12, 80), 2),
});
type Moment = Given<typeof instant>;

const cut = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('sessions' as const),
      first: fc.nat({ max: SESSIONS - 1 }),
      count: fc.integer({ min: 1, max: SESSIONS }),
      minutesAfter: fc.constantFrom(0, 20, 90, 600, 4000),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('begun' as const),
      at: instant,
      // Half an hour after the regular close.
      atClose: fc.boolean(),
      sessionsBefore: fc.nat({ max: 2 }),
      lag: fc.constantFrom(0, 15, 40),
      hasForming: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('window' as const),
      at: instant,
      count: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('midnight' as const),
      isLocal: fc.boolean(),
      day: fc.nat({ max: SESSIONS }),
      days: fc.integer({ min: 1, max: 4 }),
      minutesAfter: fc.constantFrom(-5, 10, 50, 600, 3000),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('half' as const),
      session: fc.nat({ max: SESSIONS - 1 }),
      isFirst: fc.boolean(),
      // Of the session, or at a midnight in it.
      percent: seldom(fc.constantFrom(40, 50, 60), 1),
      isLocal: fc.boolean(),
      minutesAfter: fc.constantFrom(0, 20, 90, 3000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('middle' as const), from: instant, to: instant, at: instant }),
  },
);

/** Which part of what traded a file has. */
type Cut = Given<typeof cut>;

const symbolsOfFile = fc.oneof(
  fc.constant(SYMBOLS),
  fc.subarray(SYMBOLS, { minLength: 3 }),
  fc.subarray(SYMBOLS, { minLength: 1, maxLength: 2 }),
);

const file = fc.record({
  kind: fc.constant('file' as const),
  isDay: fc.integer({ min: 0, max: 5 }).map((one) => one === 5),
  symbols: symbolsOfFile,
  lacking: seldom(
    fc.record({ symbol: fc.constantFrom(...SYMBOLS), session: fc.nat({ max: SESSIONS - 1 }) }),
    2,
  ),
  cut,
  isCorrection: fc.integer({ min: 0, max: 7 }).map((one) => one === 7),
  isSplit: fc.integer({ min: 0, max: 4 }).map((one) => one === 4),
  zone: fc.constantFrom(null, null, 'America/New_York', 'Asia/Tokyo'),
  from: seldom(instant, 8),
  through: seldom(instant, 6),
});

/** A file a day, of all symbols but one, or of all: a feed that is taken up every night. */
const daily = fc.record({
  kind: fc.constant('daily' as const),
  without: seldom(fc.constantFrom(...SYMBOLS), 2),
  isDay: file.map(({ isDay }) => isDay),
  first: fc.nat({ max: SESSIONS - 1 }),
  count: fc.integer({ min: 2, max: SESSIONS }),
  by: fc.constantFrom('session', 'session', 'utc', 'local'),
  minutesAfter: fc.constantFrom(-5, 10, 50, 600),
  isSplit: fc.integer({ min: 0, max: 2 }).map((one) => one === 2),
});

const again = fc.record({
  kind: fc.constant('again' as const),
  which: fc.nat(),
  at: instant,
  through: seldom(instant, 1),
});
/** A file without rows, with the flags that say what it covers. */
const empty = fc.record({
  kind: fc.constant('empty' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  from: instant,
  through: instant,
  at: instant,
});
const undo = fc.record({ kind: fc.constant('undo' as const), which: fc.nat() });
const deletion = fc.record({
  kind: fc.constant('delete' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  range: fc.oneof(
    fc.record({ first: fc.nat({ max: SESSIONS - 1 }), days: fc.integer({ min: 0, max: 2 }) }),
    fc.record({ from: instant, to: instant }),
  ),
});
const holiday = fc.record({
  kind: fc.constant('holiday' as const),
  session: fc.nat({ max: SESSIONS - 1 }),
  template: fc.constantFrom('EARLY_CLOSE', 'EARLY_CLOSE', 'CLOSED', 'REGULAR'),
});
const terms = fc.record({
  kind: fc.constant('terms' as const),
  symbol: fc.constantFrom(...SYMBOLS),
  listing: seldom(fc.nat({ max: SESSIONS - 1 }), 1),
  delisting: seldom(fc.nat({ max: SESSIONS - 1 }), 1),
  isInactive: fc.boolean(),
});

const step = fc.oneof(
  { weight: 10, arbitrary: file },
  { weight: 5, arbitrary: daily },
  { weight: 3, arbitrary: again },
  { weight: 1, arbitrary: empty },
  { weight: 3, arbitrary: undo },
  { weight: 2, arbitrary: deletion },
  { weight: 1, arbitrary: holiday },
  { weight: 1, arbitrary: terms },
);

/**
 * Files of a few days of some series each, and what becomes of instruments: who says what of which series.
 */
const seriesStep = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('file' as const),
      isDay: fc.constant(false),
      symbols: fc.subarray(SYMBOLS, { minLength: 1 }),
      lacking: fc.constant(null),
      cut: fc.record({
        kind: fc.constant('sessions' as const),
        first: fc.nat({ max: SESSIONS - 1 }),
        count: fc.integer({ min: 1, max: 3 }),
        minutesAfter: fc.constantFrom(-200, 20, 600, 4000),
      }),
      isCorrection: fc.boolean(),
      isSplit: fc.integer({ min: 0, max: 2 }).map((one) => one === 2),
      zone: fc.constant(null),
      from: fc.constant(null),
      through: fc.constant(null),
    }),
  },
  { weight: 4, arbitrary: daily },
  { weight: 1, arbitrary: undo },
  { weight: 3, arbitrary: deletion },
  { weight: 3, arbitrary: terms },
);

export type Step = Given<typeof step>;

const roundedDown = (ms: number): number => Math.floor(ms / (5 * MINUTE_MS)) * 5 * MINUTE_MS;

/** The instant that a moment is. */
export function msOf({ sessions }: Truth, { session, percent, hoursAfter }: Moment): number {
  const { fromMs, toMs } = hoursOf(sessions[session]!);
  if (hoursAfter !== null) return toMs + hoursAfter * HOUR_MS;
  return roundedDown(fromMs + ((toMs - fromMs) * percent) / 100);
}

type FileStep = Omit<Extract<Step, { kind: 'file' }>, 'cut' | 'zone'> & {
  readonly cut: Cut;
  readonly zone: string | null;
};

/** Which bars a cut takes, and when the import begins. */
function taken(world: World, truth: Truth, one: Cut, interval: Stored) {
  const { sessions } = truth;
  const hours = sessions.map(hoursOf);
  const closes = (bar: FileBar): number => closeOf(world.journal.base, interval, bar.keyMs);
  const opens = (bar: FileBar): number => openOf(world.journal.base, interval, bar.keyMs);
  if (one.kind === 'sessions') {
    const last = Math.min(one.first + one.count, SESSIONS) - 1;
    const [fromMs, toMs] = [hours[one.first]!.fromMs, hours[last]!.toMs];
    return {
      startMs: toMs + one.minutesAfter * MINUTE_MS,
      of: (bars: readonly FileBar[]) => bars.filter((bar) => opens(bar) >= fromMs && opens(bar) < toMs),
    };
  }
  if (one.kind === 'begun') {
    const session = sessions[one.at.session]!;
    const startMs = one.atClose ? session.closeMs + 30 * MINUTE_MS : msOf(truth, one.at);
    const fromMs = hours[Math.max(0, one.at.session - one.sessionsBefore)]!.fromMs;
    const toMs = startMs - one.lag * MINUTE_MS;
    return {
      startMs,
      of: (bars: readonly FileBar[]) =>
        bars.flatMap((bar) => {
          if (opens(bar) < fromMs) return [];
          if (closes(bar) <= toMs) return [bar];
          // A bar of which there is a part has other values than the whole one.
          return one.hasForming && opens(bar) < toMs ? [{ ...bar, price: bar.price + 500 }] : [];
        }),
    };
  }
  if (one.kind === 'window') {
    const startMs = msOf(truth, one.at);
    return {
      startMs,
      of: (bars: readonly FileBar[]) => bars.filter((bar) => closes(bar) <= startMs).slice(-one.count),
    };
  }
  if (one.kind === 'midnight') {
    const zone = one.isLocal ? world.journal.base.zone : zoneOf('UTC');
    const day = sessions[0]!.day + one.day;
    const [fromMs, toMs] = [zone.instantOf(day, 0), zone.instantOf(day + one.days, 0)];
    const startMs = toMs + one.minutesAfter * MINUTE_MS;
    return {
      startMs,
      of: (bars: readonly FileBar[]) =>
        bars.filter((bar) => opens(bar) >= fromMs && opens(bar) < toMs && closes(bar) <= startMs),
    };
  }
  if (one.kind === 'half') {
    const session = sessions[one.session]!;
    const { fromMs, toMs } = hours[one.session]!;
    const zone = one.isLocal ? world.journal.base.zone : zoneOf('UTC');
    const midnightMs = zone.instantOf(zone.dayAt(toMs - 1), 0);
    const isInside = fromMs < midnightMs && midnightMs < toMs;
    const middleMs =
      one.percent === null && isInside
        ? midnightMs
        : roundedDown(session.openMs + ((session.closeMs - session.openMs) * (one.percent ?? 50)) / 100);
    const [startsMs, endsMs] = one.isFirst ? [fromMs, middleMs] : [middleMs, toMs];
    return {
      startMs: endsMs + one.minutesAfter * MINUTE_MS,
      of: (bars: readonly FileBar[]) => bars.filter((bar) => opens(bar) >= startsMs && closes(bar) <= endsMs),
    };
  }
  const [fromMs, toMs] = [msOf(truth, one.from), msOf(truth, one.to)];
  return {
    startMs: msOf(truth, one.at),
    of: (bars: readonly FileBar[]) => bars.filter((bar) => opens(bar) >= fromMs && opens(bar) < toMs),
  };
}

/** Imports what a step takes of what traded. */
async function load(world: World, truth: Truth, one: FileStep, corrections: number): Promise<void> {
  const interval: Stored = one.isDay ? 'DAY' : truth.base;
  const { startMs, of } = taken(world, truth, one.cut, interval);
  const lacked = one.lacking === null ? null : truth.sessions[one.lacking.session]!;
  const bySymbol = one.symbols.map((symbol) => {
    const bars = of(truth.bars(symbol, interval)).filter(({ keyMs }) => {
      if (lacked === null || one.lacking!.symbol !== symbol) return true;
      const day = interval === 'DAY' ? keyMs / DAY_MS : world.journal.base.labelAt(keyMs);
      return day !== lacked.day;
    });
    return one.isCorrection ? bars.map((bar) => ({ ...bar, price: bar.price + 1000 * corrections })) : bars;
  });
  const files = (one.isSplit ? bySymbol : [bySymbol.flat()]).filter(({ length }) => length > 0);
  if (files.length === 0) return;
  const [fromMs, throughMs] = [one.from, one.through].map((at) => (at === null ? null : msOf(truth, at)));
  await world.import({ startMs, interval, files, zone: one.zone, fromMs: fromMs!, throughMs: throughMs! });
}

/** Whether a live file has bars of a symbol. */
const isHeld = (world: World, symbol: string): boolean =>
  world.journal.files.some(({ bars }) => bars.some((bar) => bar.symbol === symbol));

/** Does what a step says. */
export async function take(world: World, truth: Truth, one: Step, corrections: number): Promise<void> {
  const { sessions } = truth;
  if (one.kind === 'file') return load(world, truth, one, corrections);
  if (one.kind === 'daily') {
    const { without, isDay, first, count, by, minutesAfter, isSplit } = one;
    const symbols = SYMBOLS.filter((symbol) => symbol !== without);
    const usual = {
      kind: 'file',
      lacking: null,
      isCorrection: false,
      zone: null,
      from: null,
      through: null,
    } as const;
    for (let day = first; day < Math.min(first + count, SESSIONS); day++) {
      const cut =
        by === 'session'
          ? ({ kind: 'sessions', first: day, count: 1, minutesAfter } as const)
          : ({ kind: 'midnight', isLocal: by === 'local', day, days: 1, minutesAfter } as const);
      const zone = by === 'local' ? world.journal.base.zone.name : null;
      await load(world, truth, { ...usual, isDay, symbols, cut, isSplit, zone }, corrections);
    }
    return;
  }
  if (one.kind === 'undo') return world.undo(one.which);
  if (one.kind === 'again') {
    const { files } = world.journal;
    if (files.length === 0) return;
    const { interval, zone, bars, fromMs, named, throughMs: before } = files.at(one.which % files.length)!;
    const [symbol] = named;
    const startMs = msOf(truth, one.at);
    const throughMs = one.through === null ? before : msOf(truth, one.through);
    const said = { startMs, interval, zone, files: [bars], fromMs, throughMs };
    return world.import(symbol === undefined ? said : { ...said, symbol });
  }
  if (one.kind === 'empty') {
    const { symbol } = one;
    const [startMs, fromMs, throughMs] = [one.at, one.from, one.through].map((when) => msOf(truth, when));
    const said = { startMs: startMs!, fromMs: fromMs!, throughMs: throughMs! };
    // A file without rows says nothing of a series without bars.
    if (fromMs! < throughMs! && world.journal.oracle.stored(symbol, truth.base).length > 0)
      await world.import({ ...said, interval: truth.base, files: [[]], symbol });
    return;
  }
  if (one.kind === 'delete') {
    if (!isHeld(world, one.symbol)) return;
    if ('first' in one.range) {
      const fromDay = sessions[one.range.first]!.day;
      return world.delete(one.symbol, null, { fromDay, toDay: fromDay + one.range.days });
    }
    // Of days there are dates.
    if (truth.base === 'DAY') return;
    const [fromMs, toMs] = [msOf(truth, one.range.from), msOf(truth, one.range.to)];
    if (fromMs < toMs) await world.delete(one.symbol, truth.base, { fromMs, toMs });
    return;
  }
  if (one.kind === 'holiday') {
    // Coins and currencies have no holidays that files could change.
    if (world.journal.market === 'crypto' || world.journal.market === 'forex') return;
    const { day, openMs } = sessions[one.session]!;
    // The row of a closed day whose evening opens the next session is part of that one (contract 3.10): no
    // truth has such rows.
    if (world.journal.market === 'future' && one.template === 'CLOSED') return;
    // Hours of a post-market that begins earlier are off its grid (contract 3.10).
    if (one.template === 'EARLY_CLOSE' && truth.base === '60M') return;
    const closeMs = one.template === 'EARLY_CLOSE' ? openMs + 210 * MINUTE_MS : null;
    return world.holiday({ day, template: one.template, closeMs });
  }
  const dayAt = (at: number | null): number | null => (at === null ? null : sessions[at]!.day);
  const { symbol, isInactive } = one;
  const before = world.journal.termsOf(symbol);
  const [listing, delisting] = [dayAt(one.listing), dayAt(one.delisting)];
  const [first, last] = [listing ?? before?.listing ?? null, delisting ?? before?.delisting ?? null];
  // No instrument is listed after the day on which it was last traded.
  if (first !== null && last !== null && first > last) return;
  await world.terms({ symbol, listing, delisting, isInactive });
}

const markets: readonly MarketName[] = ['stock', 'stock', 'stock', 'crypto', 'forex', 'future'];

/** A market, the interval of its minutes, what is done, and a moment to ask at. */
export const worlds = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      market: fc.constantFrom(...markets),
      base: fc.constantFrom<Stored>('1M', '1M', '5M', '30M', '60M', 'DAY'),
      steps: fc.array(step, { minLength: 1, maxLength: 8 }),
      moment: instant,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      market: fc.constantFrom<MarketName>('stock', 'stock', 'future'),
      base: fc.constantFrom<Stored>('60M', 'DAY'),
      steps: fc.array(seriesStep, { minLength: 2, maxLength: 8 }),
      moment: instant,
    }),
  },
);
