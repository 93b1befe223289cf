// Bounds of the calendars that a thread keeps, each with its reason.

const MEGABYTE = 1024 * 1024;

export const calendarLimits = {
  /**
   * Bytes of built years: some 220 of them, such as twenty years of eleven markets. Building one takes 1 ms.
   */
  yearBytesMax: 32 * MEGABYTE,
  /** Bytes of calendars with overrides, without their years. Most instruments of a market share one. */
  overlaidBytesMax: 4 * MEGABYTE,
  /**
   * The states of one calendar before announcements that are kept: backtests that run at the same time ask
   * for some.
   */
  knownBeforeMax: 8,
  /**
   * Bytes of one session of a built year, as measured: the object; of each of its segments beside the
   * columns.
   */
  sessionBytes: 250,
  segmentBytes: 100,
} as const;
