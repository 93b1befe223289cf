// Bounds of the reports of runs, each with its reason.

export const historyLimits = {
  /** Series of hidden bars that a report names; it counts the others. A holiday may concern every series of a market. */
  hiddenNamedMax: 1_000,
} as const;
