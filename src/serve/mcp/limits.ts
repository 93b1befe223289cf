// Bounds of answers to assistants, each with its reason.

export const mcpLimits = {
  /** Tokens of an answer: small beside what an assistant keeps in mind. */
  tokensDefault: 8_000,
  /** The most tokens that a caller may ask for: some assistants cut an answer above 25,000. */
  tokensMax: 20_000,
  /** Tokens kept for what stands above the table: counts, constant columns, the key of the next page. */
  headTokens: 900,
  /** Tokens of a long text that a table shows: the first two or three sentences. */
  textTokens: 150,
  /** Requests of one answer: the first, and one or two for as many rows as fit. */
  requestsMax: 3,
  /** Time of one message: a query waits for some seconds at the most, and an answer asks three times. */
  answerMs: 30_000,
  /**
   * Memory of the thread that answers over HTTP: the largest answers of the service have 8 MB, and take ten
   * times as much as objects.
   */
  threadMegabytes: 256,
} as const;
