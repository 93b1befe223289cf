// Bounds of what one query reads and answers.

const MEGABYTE = 1024 * 1024;

export const queryLimits = {
  /** Bytes of the instruments, with their series, that a query thread caches: some 20,000. */
  instrumentBytesMax: 24 * MEGABYTE,
  /**
   * Bytes of the other values that it caches until what they were read from is changed: records of 1 kB,
   * lists of a few kB.
   */
  valueBytesMax: 16 * MEGABYTE,
  /**
   * Characters of the texts in one answer: more than 1,001 common news items have, and few enough to write in
   * a moment.
   */
  answerCharactersMax: 8_000_000,
  /** Rows that a page reads at a time: bounds the memory that the longest ones take. */
  rowsPerReadMax: 128,
  /** Expirations of which one read has the contracts: some ten thousand of them. */
  expirationsPerReadMax: 32,
  /** Former bearers of a symbol that a header names: most symbols have had one or two. */
  formerBearersMax: 5,
  /** Corporate actions that a header names. */
  actionsNamedMax: 10,
  /** Events of a code, of any country, among which a query looks for one that an index has lost. */
  newerEventsMax: 64,
  /**
   * Bytes of changed rows of earlier versions that a query thread keeps, and that one dataset of one version
   * may have.
   */
  formerBytesMax: 32 * MEGABYTE,
  /**
   * Earlier versions whose look-ups a query thread keeps, and the part of the room above that each of them
   * has.
   */
  pastLookupsMax: 4,
  pastLookupPart: 1 / 8,
  /**
   * Changes of one dataset that a request for an earlier version looks through: about a second; and in the
   * lane of short requests.
   */
  formerEntriesMax: 250_000,
  formerEntriesOfFastLane: 5_000,
  /** Bars of one step of a streamed answer: about a megabyte of CSV, made in some 10 ms. */
  barsPerStepMax: 8_192,
  /**
   * Instruments of one step: so many have fewer parts than one value may depend on, so that commits to others
   * do not matter. And those times the days of the range: as many may be read before a bar is made of them.
   */
  instrumentsPerStepMax: 64,
  symbolDaysPerStepMax: 4_000,
  /** Instruments of one answer whose reads are under way together: on another machine each would wait for its own. */
  instrumentsAtOnce: 64,
  /** Instruments without bars of which a header says why. */
  missingNamedMax: 5,
  /** Characters of the header that names them: proxies take 4,096 to 8,192 bytes of all headers. */
  missingCharactersMax: 2_000,
  /** Stored bars as which each instrument of such an answer counts: it takes as long as to read so many. */
  barsPerInstrument: 1_000,
  /**
   * Symbols times days of a bulk request: 40 days of a whole market, counted as 10,000 symbols; at DAY and
   * above 100 times as many.
   */
  bulkSymbolDaysMax: 400_000,
  bulkMarketSymbols: 10_000,
  bulkPeriodFactor: 100,
} as const;
