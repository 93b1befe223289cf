// Bounds of reading whole stores and of copies, each with its reason.

export const storeLimits = {
  /** Rows and blocks that one step of reading a whole store takes: a step keeps no writer from emptying its log for long. */
  scrubRowsPerStep: 2_000,
  scrubBlocksPerStep: 256,
  /** Findings of SQLite's own check that are told of one table. */
  findingsPerTableMax: 20,
  /** Attempts at a copy while imports end between the beginnings of its two reads. */
  copyAttemptsMax: 3,
  /** Damaged parts that the refusal of a copy names. */
  copyDamageNamedMax: 5,
  /** Disk space for what a backup says about itself, without the control file. */
  manifestBytes: 2 ** 20,
} as const;
