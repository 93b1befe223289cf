// Bounds of what one query reads and answers.

const MEGABYTE = 1024 * 1024;

export const queryLimits = {
  /** Bytes of the instruments, with their series, that a query thread caches: some 20,000. */
  instrumentBytesMax: 24 * MEGABYTE,
  /** Bytes of the other values that it caches until what they were read from is changed: records of 1 kB, lists of a few kB. */
  valueBytesMax: 16 * MEGABYTE,
  /** Characters of the texts in one answer: more than 1,001 common news items have, and few enough to write in a moment. */
  answerCharactersMax: 8_000_000,
  /** Rows that a page reads at a time: bounds the memory that the longest ones take. */
  rowsPerReadMax: 128,
  /** Former bearers of a symbol that a header names: most symbols have had one or two. */
  formerBearersMax: 5,
  /** Events of a code, of any country, among which a query looks for one that an index has lost. */
  newerEventsMax: 64,
} as const;
