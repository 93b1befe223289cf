// Bounds of imports and of the reports of runs, each with its reason.

export const historyLimits = {
  /** Files of one group: what a kill may lose, and what waits for the others to be reported. */
  groupFilesMax: 1_000,
  /** Time after which no further file joins a group: other writers wait for it. */
  groupMsMax: 5_000,
  /** Bytes of text in a group: the log of the store grows with them until the group is committed. */
  groupBytesMax: 64 * 1024 * 1024,
  /** Pause between two groups, longer than that of another writer between two attempts to begin. */
  groupPauseMs: 75,
  /** Removed rows that a report names: enough to look through, and bounded. */
  removedRowsNamed: 1_000,
} as const;
