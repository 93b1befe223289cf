// The size and length of the benchmark: its full form, and a short one that covers every group in two
// minutes.

/** Sizes of stores and files, and how often each thing is measured. */
export type Scale = {
  /** Rounds of a line, of which the median counts. */
  readonly rounds: number;
  /** Seconds of load in a round, and before the first one. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Milliseconds of requests one after the other, of one kind in a round. */
  readonly serialMs: number;
  /** Sessions of each of the 50 series that most groups ask for. */
  readonly sessions: number;
  /** Minutes of each of the 5,000 series. */
  readonly minutesOfMany: number;
  /** Years of minutes that bars are derived from. */
  readonly years: number;
  /** Bars of the largest store. */
  readonly bars: number;
  /** Symbols of a market of which a day is asked for in bulk, and minutes of the series that is. */
  readonly bulkSymbols: number;
  readonly bulkMinutes: number;
  /** Rows of an imported file, and rounds of it. */
  readonly rows: number;
  readonly importRounds: number;
  /** Small files, a symbol and day each. */
  readonly files: number;
  /** Days that are appended one by one, and of how many symbols. */
  readonly days: number;
  readonly symbolsADay: number;
  /** Starts of a process. */
  readonly starts: number;
  /** Commits beside requests. */
  readonly commits: number;
  /** News items; the store of lists has this share of its full size otherwise. */
  readonly news: number;
  readonly listShare: number;
  /** Walks to a late page, and the pages they end at. */
  readonly walks: number;
  readonly lateNewsPage: number;
  readonly lateSearchPage: number;
};

/** The full form. */
export const fullScale: Scale = {
  rounds: 5,
  seconds: 5,
  warmUpSeconds: 2,
  serialMs: 1_000,
  sessions: 60,
  minutesOfMany: 780,
  years: 20,
  bars: 10_000_000,
  bulkSymbols: 10_000,
  bulkMinutes: 1_000_000,
  rows: 10_000_000,
  importRounds: 3,
  files: 1_000,
  days: 21,
  symbolsADay: 1_000,
  starts: 9,
  commits: 9,
  news: 200_000,
  listShare: 1,
  walks: 24,
  lateNewsPage: 500,
  lateSearchPage: 50,
};

/** The short form. */
export const shortScale: Scale = {
  rounds: 1,
  seconds: 1,
  warmUpSeconds: 1,
  serialMs: 150,
  sessions: 10,
  minutesOfMany: 240,
  years: 2,
  bars: 1_000_000,
  bulkSymbols: 300,
  bulkMinutes: 100_000,
  rows: 300_000,
  importRounds: 1,
  files: 100,
  days: 4,
  symbolsADay: 300,
  starts: 3,
  commits: 2,
  news: 20_000,
  listShare: 0.05,
  walks: 3,
  lateNewsPage: 50,
  lateSearchPage: 20,
};
