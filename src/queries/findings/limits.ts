// Bounds of what is read of a market for the findings of one of its series.
export const findingLimits = {
  /** Other series of a market that are looked at, the first by symbol: enough to see what all of it does. */
  witnessesMax: 200,
  /** Of them, those with bars on a session that are asked which runs brought them. */
  presencesMax: 8,
  /** Bars of one read. */
  barsPerRead: 65_536,
  instrumentsPerRead: 500,
  /** What it takes to read an instrument with its series, in bars. */
  barsPerMember: 500,
  /**
   * Series whose findings an import tells, and the bars that it reads for that: half a second. More is for
   * `bourse check`.
   */
  unaskedSeriesMax: 100,
  unaskedBarsMax: 500_000,
} as const;
