// What was done to a store, run by run, and the facts that follow: without a store, so that the reading can
// be held by itself.
import { DAY_MS, formatDay, parseDay } from '../../src/base/instant.ts';
import type { AssetSchema } from '../../src/contract/identifiers.ts';
import { type Calendar, calendarOf } from '../../src/market/calendar/calendar.ts';
import { type CalendarOverride, withOverrides } from '../../src/market/calendar/overrides.ts';
import { zoneOf } from '../../src/market/calendar/zone.ts';
import type { Deletion, Fact, FileBar, FileRun, Instrument, Stored } from './facts.ts';
import { Oracle } from './oracle.ts';

/** A market whose instruments a world has. */
export type MarketName = 'stock' | 'london' | 'crypto' | 'forex' | 'future';

/** How files and requests name a market. */
export const placeOf: Readonly<
  Record<MarketName, { readonly schema: AssetSchema; readonly country: string }>
> = {
  stock: { schema: 'stock', country: 'US' },
  london: { schema: 'stock', country: 'UK' },
  crypto: { schema: 'crypto', country: 'GLOBAL' },
  forex: { schema: 'forex', country: 'GLOBAL' },
  future: { schema: 'future', country: 'US' },
};

/** One command that imports files of bars; each file is a run. */
export type Command = {
  readonly startMs: number;
  readonly interval: Stored;
  /** The bars of each file. */
  readonly files: readonly (readonly FileBar[])[];
  /** `--zone`: then times are written in it. */
  readonly zone?: string | null;
  readonly fromMs?: number | null;
  readonly throughMs?: number | null;
  /** `--symbol`, of a file without rows. */
  readonly symbol?: string;
};

/** What becomes of a session of the market, by an import of holidays. */
export type Holiday = { readonly day: number; readonly template: string; readonly closeMs: number | null };

/** What an import of instruments says of one. */
export type Terms = {
  readonly symbol: string;
  readonly listing: number | null;
  readonly delisting: number | null;
  readonly isInactive: boolean;
};

/** What a run changed. */
type Change =
  | { readonly kind: 'bars'; readonly run: FileRun | Deletion }
  | { readonly kind: 'holiday'; readonly holiday: Holiday }
  | { readonly kind: 'terms'; readonly terms: Terms };

/** A run, and what it did. */
export type Entry = { readonly words: string; readonly change: Change; isUndone: boolean };

/**
 * The terms of an instrument after a file about it: empty cells change nothing, but an active instrument is
 * not delisted.
 */
const withTerms = (before: Terms | undefined, { listing, delisting, ...terms }: Terms): Terms => ({
  ...terms,
  listing: listing ?? before?.listing ?? null,
  delisting: delisting ?? (terms.isInactive ? (before?.delisting ?? null) : null),
});

export const iso = (ms: number): string => new Date(ms).toISOString();

/** The day number of a date. */
export const dayOf = (date: string): number => parseDay(date)!;

/** The text of a file of a command. */
export function textOf({ interval, zone = null, symbol }: Command, bars: readonly FileBar[]): string {
  const timeOf = (ms: number): string => {
    if (interval === 'DAY') return formatDay(ms / DAY_MS);
    if (zone === null) return iso(ms);
    return iso(ms + zoneOf(zone).offsetAt(ms)).slice(0, 19);
  };
  const header = `${symbol === undefined ? 'symbol,' : ''}datetime,open,high,low,close,volume`;
  const lines = bars.map(({ symbol: own, keyMs, price }) =>
    [...(symbol === undefined ? [own] : []), timeOf(keyMs), price, price, price, price, 1].join(),
  );
  return `${[header, ...lines].join('\n')}\n`;
}

/** The runs of one market in order. */
export class Journal {
  readonly market: MarketName;
  /** The calendar of the market without holidays of files. */
  readonly base: Calendar;
  readonly #left = new Set<Entry>();
  readonly #entries: Entry[] = [];
  #commands = 0;
  #known: { readonly calendar: Calendar; readonly oracle: Oracle } | null = null;

  constructor(market: MarketName) {
    this.market = market;
    const { schema, country } = placeOf[market];
    this.base = calendarOf(schema, country);
  }

  #enter(words: string, change: Change): Entry {
    const entry = { words, change, isUndone: false };
    this.#entries.push(entry);
    this.#known = null;
    return entry;
  }

  /** The files of one command, each a run; the entries in order. */
  import(command: Command): Entry[] {
    const { startMs, interval, zone = null, fromMs = null, throughMs = null, symbol } = command;
    const number = ++this.#commands;
    return command.files.map((bars, at) => {
      const run = {
        ...({ kind: 'file', command: number, startMs, interval, zone, bars, fromMs, throughMs } as const),
        named: symbol === undefined ? [] : [symbol],
        // Texts are equal where bytes are.
        sha: textOf(command, bars),
      };
      return this.#enter(wordsOf(command, at, number), { kind: 'bars', run });
    });
  }

  /**
   * A deletion of the bars of a symbol between dates of the market, both included, or between instants; null
   * where there are none.
   */
  delete(symbol: string, interval: Stored | null, range: Deletion['range']): Entry | null {
    if (!this.oracle.hasIn(symbol, interval, range)) return null;
    const [from, to] = boundsOf(range);
    const run = { kind: 'deletion', symbol, interval, range } as const;
    return this.#enter(`delete ${symbol} ${interval ?? 'all'} ${from} ${to}`, { kind: 'bars', run });
  }

  /** What becomes of a session of the market. */
  holiday(holiday: Holiday): Entry {
    const { day, template, closeMs } = holiday;
    const words = `holiday ${formatDay(day)} ${template} ${closeMs === null ? '' : iso(closeMs)}`;
    return this.#enter(words, { kind: 'holiday', holiday });
  }

  /** What is known of an instrument. */
  terms(terms: Terms): Entry {
    const { symbol, listing, delisting, isInactive } = terms;
    const dates = [listing, delisting].map((day) => (day === null ? '' : formatDay(day))).join('..');
    const words = `instrument ${symbol} ${isInactive ? 'inactive' : 'active'} ${dates}`;
    return this.#enter(words, { kind: 'terms', terms });
  }

  /** Takes the live run of some place back, counted around, -1 the last one; null where there is none. */
  undo(place: number): Entry | null {
    const live = this.#entries.filter((entry) => !entry.isUndone && !this.#left.has(entry));
    if (live.length === 0) return null;
    const entry = live.at(place % live.length)!;
    entry.isUndone = true;
    this.#known = null;
    return entry;
  }

  /** What is known of an instrument now; undefined where no file is about it. */
  termsOf(symbol: string): Terms | undefined {
    return this.#entries
      .flatMap(({ change, isUndone }) => (!isUndone && change.kind === 'terms' ? [change.terms] : []))
      .filter((one) => one.symbol === symbol)
      .reduce<Terms | undefined>(withTerms, undefined);
  }

  /** Notes that what an undone run said stays, because a later one needs it (contract 10). */
  leave(entry: Entry): void {
    entry.isUndone = false;
    this.#left.add(entry);
    this.#known = null;
  }

  /** The live files of bars so far. */
  get files(): readonly FileRun[] {
    return this.#entries.flatMap(({ change, isUndone }) =>
      !isUndone && change.kind === 'bars' && change.run.kind === 'file' ? [change.run] : [],
    );
  }

  /** What was done, run by run. */
  get words(): string {
    return this.#entries
      .map(({ words, isUndone }, at) => `  ${at + 1}. ${words}${isUndone ? ' (undone)' : ''}`)
      .join('\n');
  }

  get #state(): { readonly calendar: Calendar; readonly oracle: Oracle } {
    this.#known ??= this.#read();
    return this.#known;
  }

  /** The calendar of the market as it is now. */
  get calendar(): Calendar {
    return this.#state.calendar;
  }

  /** What the facts so far say. */
  get oracle(): Oracle {
    return this.#state.oracle;
  }

  #read(): { readonly calendar: Calendar; readonly oracle: Oracle } {
    const live = this.#entries.filter(({ isUndone }) => !isUndone).map(({ change }) => change);
    const holidays = new Map<number, CalendarOverride>();
    const terms = new Map<string, Terms>();
    for (const change of live) {
      if (change.kind === 'terms')
        terms.set(change.terms.symbol, withTerms(terms.get(change.terms.symbol), change.terms));
      if (change.kind !== 'holiday') continue;
      const { day, template, closeMs } = change.holiday;
      holidays.set(day, {
        ...{ symbol: '*', calendar_date: day, priority: 1, name: 'A day', holiday_code: 'HOLIDAY_A_DAY' },
        ...{ session_template: template, open_timestamp: null, close_timestamp: closeMs, announced: null },
      });
    }
    const calendar = withOverrides(this.base, [...holidays.values()], '*');
    const instrumentOf = (symbol: string): Instrument => {
      const { listing = null, delisting = null, isInactive = false } = terms.get(symbol) ?? {};
      return { market: this.market, calendar, listing, delisting, isInactive };
    };
    const runs: Fact<FileRun | Deletion>[] = this.#entries.flatMap(({ change, isUndone }) =>
      change.kind === 'bars' ? [{ run: change.run, isUndone }] : [],
    );
    return { calendar, oracle: new Oracle({ runs, instrumentOf }) };
  }
}

function wordsOf(command: Command, at: number, number: number): string {
  const { startMs, interval, files, zone = null, fromMs = null, throughMs = null } = command;
  const bars = files[at]!;
  const series = [...Map.groupBy(bars, ({ symbol }) => symbol)].map(([symbol, own]) => {
    const keys = own.map(({ keyMs }) => iso(keyMs).slice(5, interval === 'DAY' ? 10 : 16));
    const times = keys.length <= 6 ? keys.join(' ') : `${keys[0]} .. ${keys.at(-1)} (${keys.length})`;
    return `${symbol}[${times} at ${own[0]!.price}]`;
  });
  const flags = [
    ...(files.length > 1 ? [`file ${at + 1} of command ${number}`] : []),
    ...(zone === null ? [] : [`--zone ${zone}`]),
    ...(fromMs === null ? [] : [`--complete-from ${iso(fromMs)}`]),
    ...(throughMs === null ? [] : [`--complete-through ${iso(throughMs)}`]),
  ];
  return `import at ${iso(startMs)} ${interval} ${series.join(' ')} ${flags.join(' ')}`.trimEnd();
}

/** The bounds of a deletion as words of the command line, both included. */
export function boundsOf(range: Deletion['range']): [from: string, to: string] {
  if ('fromDay' in range) return [formatDay(range.fromDay), formatDay(range.toDay)];
  return [iso(range.fromMs), iso(range.toMs - 1)];
}
