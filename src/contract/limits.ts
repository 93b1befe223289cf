// Bounds of what callers send and of what several modules share, each with its reason. A bound of one module
// stands there.

export const limits = {
  /**
   * Bytes of a request target: 1,000 symbols as `US%3AGOOGL%2C`, and others; the longest request of the
   * specification, page key included, is under 1 kB.
   */
  uriBytesMax: 24_576,
  /** Symbols that a request for bars names: as many as fit its address. */
  symbolsMax: 1_000,
  /** Bytes of a request's head; above the address bound, so that a long address gets its own answer. */
  headerBytesMax: 32_768,
  /**
   * Characters of a header that a proxy forwards; of ten proxies, each with a name of 60 characters, it has
   * fewer.
   */
  forwardedCharactersMax: 1_024,
  /** Characters of what a caller sent that an error repeats (contract 6.2). */
  echoCharactersMax: 80,
  /** Ignored query parameters that a header names; the others are counted (contract 4.4). */
  ignoredNamesMax: 10,
  /** Characters of an ignored parameter's name: more than any declared one has, and fewer than any key. */
  ignoredNameCharactersMax: 30,
  /** Characters of a caller's own request id (contract 6.5). */
  requestIdCharactersMax: 64,
  /**
   * Connections that wait to be accepted: the caller of one that the kernel drops tries again only after a
   * second.
   */
  connectionBacklogMax: 4_096,
  /** Time for a request's head to arrive; it is one small packet. */
  headersTimeoutMs: 10_000,
  /** Time for a TLS handshake; it is two small packets each way. */
  handshakeTimeoutMs: 10_000,
  /** Time that unfinished handshakes have once the service stops. */
  handshakeGraceMs: 1_000,
  /** Time for which browsers come by HTTPS only: a year, as is usual. It begins anew with each answer. */
  strictTransportSeconds: 31_536_000,
  /** Time after which the keys of session tickets change: a day, within the week of RFC 9325, 3.4. */
  ticketKeysMs: 86_400_000,
  /** A changed certificate is found within this time. */
  certificateCheckMs: 5_000,
  /** Time for a whole request to arrive; only messages of assistants have a body that is read. */
  requestTimeoutMs: 15_000,
  /** Idle time after which a kept connection is closed; longer than common proxies hold theirs. */
  keepAliveTimeoutMs: 65_000,
  /**
   * Wait above which a request is refused: less than the half second that an answer may take. Of 1,000
   * callers who ask again as soon as they are answered, each waits 0.2 s at 5,000 a second.
   */
  queueWaitMs: 300,
  /**
   * The same of the second lane, whose requests take up to 0.2 s each: its callers wait for each other, and
   * for nobody else.
   */
  dearWaitMs: 3_000,
  /**
   * The same of the steps of streamed answers, which wait for each other: each takes some 20 ms, on a busy
   * machine ten times as long.
   */
  streamedWaitMs: 30_000,
  /**
   * Work of a new thread in which it is slow: it compiles its code. The 256 requests of a burst take it a
   * quarter of this, on a busy machine all of it. Nobody behind it is refused for a wait of less than twice
   * this.
   */
  queueWarmUpMs: 1_000,
  /** Work in the query thread: with more, refusing the rest would lack processor time. */
  queueInFlightMs: 25,
  /**
   * Of so many requests that waited too long to be read one is answered all the same: at four times the peak
   * all have, and nothing else would be done than to refuse.
   */
  lateAnsweredEvery: 10,
  /** Requests of one batch. A full one is flushed at once; a smaller one at the end of the tick. */
  batchRequestsMax: 64,
  /** Stored bars that a request of the first lane may read to derive its own: two to six milliseconds. */
  laneBaseBarsMax: 60_000,
  /**
   * Characters of texts in an answer of the first lane: four milliseconds, where the longest answers take
   * forty.
   */
  laneCharactersMax: 1_000_000,
  /** Time that a query thread has to tell the metrics its memory: it may be in the middle of a long read. */
  threadMemoryWaitMs: 200,
  /** A query thread gives spare memory back at most so often: that takes 10 to 80 ms. */
  threadMemoryBackMs: 60_000,
  /** Smallest body that is encoded: a smaller one fits into a packet anyway. */
  encodedBytesLeast: 1_024,
  /**
   * Largest body that is encoded in the HTTP thread, in at most 0.2 ms: handing it to another thread costs as
   * much.
   */
  encodedAtOnceBytesMax: 65_536,
  /** Seconds named by Retry-After when the queue is full; it drains in less. */
  retryAfterSeconds: 1,
  /**
   * Time that kept connections have for one more request once the service stops: more than any network takes.
   */
  stopIdleMs: 1_000,
  /** Time that open requests have to finish once the service stops. */
  stopTimeoutMs: 10_000,
  /** A revocation holds on every worker within this time (contract 7.3 allows 5 s). */
  keyRefreshMs: 1_000,
  /** Without the store keys hold for so long after they were read: a revocation stays within its bound. */
  keyGoodMs: 4_000,
  /** Time that requests wait for keys to be read again while those that are known hold. */
  keyWaitMaxMs: 100,
  /** After this time an unknown key is looked up anew: it may be new, and guessing must not cost much. */
  keyMissRefreshMs: 100,
  /**
   * A key that is pinned to an instant is moved on every worker within this time: a backtest waits for it at
   * each step (contract 9.8).
   */
  pinnedKeyRefreshMs: 100,
  /**
   * Time after which a worker writes when keys were last used: as exact as anyone needs, and one write a
   * minute.
   */
  keyUseWriteMs: 60_000,
  /**
   * Time after which a worker reports what keys have used of their quotas, and reads what all workers have
   * counted.
   */
  quotaSyncMs: 1_000,
  /**
   * Part of a quota that a worker gives out before it reports: each other worker may exceed the quota by this
   * much.
   */
  quotaUnreportedShare: 0.02,
  /**
   * Time that requests wait for a report; on a healthy disk it takes a millisecond, so after this the control
   * file is locked.
   */
  quotaWaitMaxMs: 250,
  /** Keys, and failed files, that the state of a service lists; and its runs. */
  stateRowsMax: 1_000,
  stateRunsMax: 10,
  /** Characters of an issued key: 256 bits in base64url. */
  issuedKeyCharacters: 43,
  /** Characters of a key as sent. */
  keyCharactersMax: 256,
  /** Shortest key that the economic endpoints accept (spec 4.12, contract 7.2). */
  economicKeyCharactersMin: 20,
  /** Characters of a symbol (contract 1.3). */
  symbolCharactersMax: 40,
  /**
   * Characters of a page key as sent. The longest has 279: the time, rank, longest code and identifier of an
   * economic event.
   */
  pageKeyCharactersMax: 320,
  /**
   * Characters of a list of fields to sort by: every field of the longest list with its direction has 118.
   */
  sortByCharactersMax: 200,
  /** Characters of a holiday code or an event code; the longest that is shipped has half as many. */
  codeCharactersMax: 100,
  /** Characters of an event's `source_id`: exactly so many (spec 4.12). */
  sourceIdCharacters: 64,
  /** Characters of the text that an instrument search looks for: longer than any name. */
  searchCharactersMax: 100,
  /** Near symbols that an unknown instrument's hint names (contract 6.3). */
  nearSymbolsMax: 3,
  /** Instruments that an import or an export caches. */
  instrumentCacheMax: 10_000,
  /**
   * Base bars read and resampled in one step: bounds memory and how long one step blocks the query thread.
   */
  barsPerStepMax: 20_000,
  /** Bytes of open blocks that an import keeps in memory before it writes them out. */
  importOpenBytesMax: 400 * 1024 * 1024,
  /** Bytes of one row of a file: a text of a million characters, whatever they are, and the other cells. */
  importRowBytesMax: 4_100_000,
  /**
   * Keys of an object of JSON: a page of Alpaca may have 10,000 symbols, the widest tables of vendors have
   * some 2,000 columns.
   */
  jsonKeysMax: 10_000,
  /** Objects and arrays of JSON within each other: answers of vendors have some 10. */
  jsonDepthMax: 100,
  /**
   * Bytes of the texts that rows of one list of JSON repeat, in the rows that are made at a time: an article
   * of 30 kB, or a longer one in fewer rows.
   */
  repeatedBytesMax: 64 * 1024 * 1024,
  /** Bytes that any packed file may unpack to, and the lists of any JSON. */
  unpackedBytesFree: 256 * 1024 * 1024,
  /** Times of its own size that a larger one may; minute bars pack to a tenth, at the best a thirtieth. */
  unpackedRatioMax: 200,
  /** Bytes of text for which a row of Parquet counts at least: about those of a bar in a CSV. */
  parquetRowBytesLeast: 64,
  /** Files of a zip archive. */
  archiveMembersMax: 20_000,
  /**
   * Bytes of a file that a preset converts whole, in memory: LEAN's have some 20 kB, OCC's series of one
   * underlying some MB.
   */
  convertedBytesMax: 16 * 1024 * 1024,
  /** Bytes of a file of refused rows: more than anyone corrects. The report counts the rows beyond. */
  rejectedBytesMax: 64 * 1024 * 1024,
  /** Characters of a cell there: those of the longest article. */
  rejectedCellMax: 1_000_000,
  /** Refused rows that the report of an import shows. */
  reportedRefusalsMax: 20,
  /** Characters of a refused cell that a report shows. */
  reportedValueMax: 80,
  /** Rows that `bourse import --explain` shows: enough to see what columns are. */
  explainedRows: 5,
  /** Memory that DuckDB may use to read a file. */
  importReaderMemory: '400MB',
} as const;

/** `limit` of an endpoint: what it is without the parameter, and its bound (spec 8). */
export type ListLimit = { readonly default: number; readonly max: number };

export const listLimits = {
  corporateActions: { default: 150, max: 1000 },
  news: { default: 100, max: 1001 },
  holidays: { default: 100, max: 1001 },
  economicEvents: { default: 100, max: 1001 },
  latestEconomicEvents: { default: 5, max: 1001 },
  bars: { default: 150, max: 1000 },
  latestOfMany: { default: 1, max: 10 },
  optionSearch: { default: 100, max: 1000 },
  instrumentSearch: { default: 20, max: 100 },
  runs: { default: 150, max: 1000 },
  coverage: { default: 150, max: 1000 },
  findings: { default: 150, max: 1000 },
} as const satisfies Record<string, ListLimit>;
