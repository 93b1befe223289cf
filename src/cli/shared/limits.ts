// Bounds of the commands, each with its reason.

const HOUR_MS = 3_600_000;

export const cliLimits = {
  /**
   * Damaged parts that one reading of a store keeps in the control file: a store with more is to be restored.
   */
  scrubDamageMax: 200,
  /**
   * After each step the reading rests so many times as long as it took, up to a bound: a large table and its
   * indexes are one step.
   */
  scrubRestFactor: 9,
  scrubRestMsMax: 2_000,
  /** A service that has just begun has other work than to read its store. */
  scrubFirstMs: 60_000,
  /** How often a process asks whether a reading is due: another may have begun or ended one. */
  scrubAskMs: HOUR_MS,
  /** Damaged parts that a serving process knows of. */
  knownDamageMax: 20,
  /** Pause between two lines of the log about ended connections: an attack ends thousands. */
  endsLogPauseMs: 10_000,
  /** Pause between two lines of the log about a store that cannot be reached: each request meets it. */
  awayLogPauseMs: 1_000,
  /** Log lines are written together: so many bytes, or what came within so long. */
  logBufferBytes: 4_096,
  logFlushMs: 1_000,
  /**
   * Bytes of lines that are held for a reader that is slow, some 10,000 requests: further lines are dropped
   * and counted.
   */
  logHeldBytesMax: 4_194_304,
  /** The longest run of the command of --on-failure: the next file waits for it. */
  onFailureMs: 30_000,
  /** Characters of a reason that it gets. */
  onFailureReasonMax: 2_000,
  /**
   * Files of watched folders that failed, of which so many are read: a watch tries the others again, and
   * those whose row is damaged.
   */
  failedFilesMax: 100_000,
  /** Runs that are listed when none was named, or one that does not exist. */
  runsListed: 20,
  /** Later runs that are named as the reason why an undo kept something. */
  keepersNamed: 5,
} as const;
