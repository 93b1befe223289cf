// Bounds of what one thread keeps of the series that it reads.

export const seriesLimits = {
  /**
   * Bytes of derived bars that a thread keeps: 50 series with 1,000 bars of four intervals. Two threads
   * answer queries.
   */
  keptBytesMax: 16 * 1024 * 1024,
  /**
   * Bars that are read at once while bars are skipped: about as many as a block has, so that hardly any block
   * is read in vain.
   */
  skippedBarsPerStep: 512,
  /**
   * Fewest stored bars that make a bar which is kept: one that fewer make is made again almost as fast as it
   * is copied.
   */
  keptBaseBarsMin: 7,
  /** Bars up to which neighbouring pieces of kept bars become one. */
  keptPieceBarsMax: 512,
  /** Bytes of what holds the kept bars of one interval, before there are any. */
  keptCellsBytes: 1_000,
  /** Bytes of one kept bar: ten numbers of eight or four bytes. */
  keptBarBytes: 76,
  /** Bytes of a piece of kept bars beside its bars: the objects of its arrays. */
  keptPieceBytes: 1_500,
  /** Bytes of what a kept WEEK or MON bar is made of, where its days are of one series: most are. */
  keptMadeOfBytes: 200,
} as const;
