// The store of 50 series that most groups ask, and the requests for 150 bars of it.
import type { Requests } from './load.ts';
import { minuteTexts, SESSION_MINUTES, symbolOf } from './minutes.ts';
import { type Running, startBourse } from './process.ts';
import type { BenchStore, Workshop } from './workshop.ts';

const SERIES = 50;

/** Bars of one request. */
export const BARS = 150;

/**
 * More starts than these are as good as all, and a script for the load generator holds 65,536 texts at most.
 */
const STARTS_MAX = 20_000;

/** Requests for 150 bars of series that have so many minutes from the first one on. */
export function requestsFor(secret: string, series: number, minutes: number): Requests {
  const texts = minuteTexts(minutes);
  // After every start there are the bars asked for and one more.
  const starts = texts.slice(0, minutes - BARS);
  const step = Math.ceil(starts.length / STARTS_MAX);
  return {
    symbols: Array.from({ length: series }, (_, index) => symbolOf(index)),
    starts: starts.filter((_, index) => index % step === 0),
    end: texts[minutes - 1]!,
    limit: BARS,
    secret,
  };
}

/** The filled store. */
export class UsualStore {
  readonly store: BenchStore;
  /** The file that it was filled from. */
  readonly csv: string;
  readonly requests: Requests;
  readonly #folder: string;

  private constructor(store: BenchStore, csv: string, requests: Requests, folder: string) {
    this.store = store;
    this.csv = csv;
    this.requests = requests;
    this.#folder = folder;
  }

  static async fill(workshop: Workshop, sessions: number): Promise<UsualStore> {
    const minutes = sessions * SESSION_MINUTES;
    const csv = workshop.minutes({ rows: SERIES * minutes, order: 'symbol', symbols: SERIES });
    const store = workshop.freshStore('usual');
    await store.importMinutes(csv);
    const requests = requestsFor(await store.createKey(), SERIES, minutes);
    return new UsualStore(store, csv, requests, workshop.folder);
  }

  /** Starts a server of it. */
  serve(...flags: readonly string[]): Promise<Running> {
    return startBourse(this.#folder, this.store.url, flags);
  }
}
