// Bounds of statements, of reading whole stores and of copies, each with its reason.

export const storeLimits = {
  /** Keys whose rows one statement of SQLite reads; a few keys have one each, which is faster. */
  keysTogether: 64,
  keysAloneMax: 3,
  /**
   * Statements of one file, or texts of one kind and dataset, that are cached: ranked reads have many orders.
   */
  statementsCachedMax: 500,
  /** Rows that one statement of PostgreSQL inserts. */
  rowsPerUpsertMax: 1_000,
  /** Transactions that one process has open on PostgreSQL at once; others wait. */
  transactionsMax: 8,
  /** Connections for the blocks of a store in PostgreSQL; on Citus for those of each worker. */
  blockConnections: 2,
  /**
   * Where the shards of Citus are is asked so often: they move seldom, and until it is known a read is
   * answered all the same.
   */
  shardsKnownMs: 60_000,
  /**
   * A worker of Citus that does not take a connection in this time counts as gone, and is tried again after a
   * pause.
   */
  workerConnectMs: 1_000,
  workerPauseMs: 500,
  /**
   * Bytes of blocks that one thread keeps of a store on another machine: 30 sessions of 200 series of
   * minutes. Two threads answer queries.
   */
  cachedBlockBytesMax: 32 * 2 ** 20,
  /** For so long a version that was told is tried first: less than replaced blocks are kept. */
  publishedUsedMs: 30_000,
  /**
   * A server of PostgreSQL without an answer for so long counts as gone: callers are told within two seconds,
   * and may have waited for their key before.
   */
  patienceMs: 1_500,
  /** A statement that takes longer is given up by the server of PostgreSQL itself. */
  statementMs: 1_250,
  /** Requests wait for a connection to PostgreSQL too. */
  connectMs: 1_000,
  /**
   * PostgreSQL notices within a minute that the machine of a connection has vanished, whatever it is waiting
   * for: its write would keep the lock of writers for two hours otherwise
   * (postgresql.org/docs/15/runtime-config-connection.html). On this side that holds while it waits for an
   * answer; what is just being sent to a server that vanished is given up when TCP does, after about 15
   * minutes.
   */
  keepAlive: { idleS: 30, intervalS: 10, count: 3 },
  /** Time for PostgreSQL to end its side of a connection: one that is silent would keep the process. */
  closeMs: 3_000,
  /**
   * Time in which it is asked whether a write was published whose connection was lost, and the pause between
   * two questions: a standby that takes over needs a part of it.
   */
  lostOutcomeMs: 30_000,
  lostPauseMs: 100,
  /** Time that a statement waits for another process' lock. */
  busyTimeoutMs: 10_000,
  /**
   * The same of a statement of an open store that only reads: whoever waits for it has an answer within two
   * seconds.
   */
  readBusyTimeoutMs: 1_500,
  /**
   * Rows and blocks that one step of reading a whole store takes: a step keeps no writer from emptying its
   * log for long.
   */
  scrubRowsPerStep: 2_000,
  scrubBlocksPerStep: 256,
  /** Findings that are reported of one table, and differing groups of its rows among them. */
  findingsPerTableMax: 20,
  /** Damaged parts that a command names; it counts the others. */
  damageNamedMax: 1_000,
  /** Attempts at a copy while imports end between the beginnings of its two reads. */
  copyAttemptsMax: 3,
  /** Rows that a copy into another store reads at once: some have whole blocks of bars. */
  copyRowsPerRead: 500,
  /** Changes of such a copy that are written together, and their bytes. */
  copyBatchChanges: 5_000,
  copyBatchBytes: 2 * 2 ** 20,
  /** Damaged parts that the refusal of a copy names. */
  copyDamageNamedMax: 5,
  /**
   * Parts that one write is known to have changed; one that changes more counts as a change of everything.
   */
  changedPartsMax: 5_000,
  /** Writes of which it is known what they changed: a caller that asks more seldom forgets everything. */
  changesKept: 128,
  /** Of these, the ones that one read takes: the first may already be too many for the caller. */
  changesPerRead: 16,
  /**
   * Rows of earlier states that a store keeps so that it can be read as it was; beyond them it forgets the
   * oldest versions. An import keeps about one for each of its series, of some 300 bytes: five years of
   * nightly imports of 2,500 symbols.
   */
  formerRowsMax: 5_000_000,
  /** How many of them a write forgets beyond twice as many as it adds. */
  formerRowsForgotten: 1_000,
  /**
   * How far a version leaps at most beyond the newest one where the clock is behind that: 12 days of
   * milliseconds.
   */
  versionLeapMax: 2 ** 30,
  /** Parts whose last change a thread knows: it forgets everything where there are more. */
  knownChangesMax: 20_000,
  /**
   * Parts that one value depends on: most depend on a few, and one of more on everything. A step of bars in
   * bulk has some 64 instruments, each of two parts and one of each of its series.
   */
  dependedPartsMax: 512,
  /** The time between two looks at the name of an open file: another file may have taken its place. */
  replacedCheckMs: 1_000,
  /** Disk space for what a backup says about itself, without the control file. */
  manifestBytes: 2 ** 20,
} as const;
