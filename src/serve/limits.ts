// Bounds of connections, of answers on their way and of what is taken for a key, each with its reason.

const MEGABYTE = 1024 * 1024;

export const httpLimits = {
  /** Connections of one serving process, each of 15 kB, under TLS 60 kB. */
  connectionsMax: 8_192,
  /** Connections that are allowed even where the process may have fewer open files than it needs. */
  connectionsMin: 16,
  /**
   * Files that a process needs beside its connections: those of the store, of threads, of the metrics' port.
   */
  filesReserved: 256,
  /** Connections of the port that serves metrics alone. */
  metricsConnectionsMax: 64,
  /** Handshakes of TLS that begin in one turn of the event loop, each of 0.5 ms with the usual keys. */
  handshakesPerTurn: 4,
  /**
   * Bytes that a caller may send before the service's first answer: the largest record of TLS, where usual
   * are 0.3 to 2 kB.
   */
  helloBytesMax: 16_389,
  /**
   * Bytes of a connection that are read in one turn of the event loop. Most requests are smaller; as 230
   * requests of the least size they take 2 ms, where all that Node.js reads at once, 64 kB, took 25 ms.
   */
  readPieceBytes: 4_096,
  /**
   * Requests that are read and not answered yet, above which others wait unread. The objects of so many are
   * collected while they are young; those of thousands grow old, and collecting them then takes more of the
   * HTTP thread than the answers do. A request counts for as long as others may wait (`queueWaitMs`): those
   * that wait for long answers hold up nobody.
   */
  placesMax: 128,
  /**
   * Requests of one connection that wait for their answers before reading pauses; bytes that arrived before,
   * up to 64 kB, are kept.
   */
  pipelinedMax: 2,
  /**
   * Unanswered requests of all connections: above this a connection with several is ended. Each takes some 5
   * kB.
   */
  unansweredMax: 20_000,
  /** Bytes of the body of a message of an assistant: the longest arguments of a tool have some 2 kB. */
  bodyBytesMax: 65_536,
  /** Time in which such a body arrives. */
  bodyTimeoutMs: 10_000,
  /** Bytes that a message is expected to take: its body, and an answer of 20,000 tokens. */
  messageBytes: 196_608,
  /**
   * Bytes of all answers that are not sent yet, of one serving process: they take up to twice as much until
   * garbage is collected.
   */
  unsentBytesMax: 128 * MEGABYTE,
  /** Bytes of one key's answers that are not sent yet: four of the largest, 8 MB, at a time. */
  unsentBytesPerKeyMax: 32 * MEGABYTE,
  /** The same of all callers without a key together: pages and errors are at most 220 kB. */
  unsentBytesAnonymousMax: 8 * MEGABYTE,
  /**
   * Bytes of a built-in page that is made for callers without a key even at their bound: health, readiness,
   * metrics.
   */
  smallPageBytes: 65_536,
  /**
   * Bytes given to a connection at once. The next follow when the kernel has taken these: TLS copies what it
   * is given.
   */
  sendPieceBytes: 65_536,
  /**
   * At least `sendBytesLeast` of an answer must leave in each such time. A receiver's kernel announces free
   * space in steps of up to 64 kB, so a caller that reads 2 kB a second may be seen to read nothing for 30 s.
   */
  sendIntervalMs: 30_000,
  sendBytesLeast: 16_384,
  /** Time after which the connections that have something to send are looked at again. */
  sendCheckMs: 5_000,
  /**
   * Share of its bound from which a caller's bytes are looked at before it reaches that bound: refusing it
   * then waits for nothing.
   */
  lookFromShare: 0.5,
  /**
   * Pause between two looks at the kernel's queues. With 8,192 connections one takes 6 to 16 ms of a thread
   * of its own.
   */
  lookPauseMs: 100,
  /**
   * Bytes that may count as read without a look, because their connections have sent a further request: the
   * kernel holds so many of callers who ask without reading.
   */
  assumedBytesMax: 64 * MEGABYTE,
  /** Time that a request waits for such a look. */
  lookWaitMs: 250,
  /**
   * A connection is unread where nothing of its answers has arrived for this time: a caller that reads at all
   * shows it in each round trip. Above the bound of all callers such connections are ended.
   */
  unreadMs: 500,
  /** Share of the bound of all callers that is made free then: one of the largest answers, 8 MB. */
  roomShare: 1 / 16,
  /**
   * Time that requests wait for this room: until those who have not read since the bound was reached count as
   * unread.
   */
  roomWaitMs: 1_000,
  /**
   * A connection with so many unread bytes is closed instead of answered while its caller is over its bound.
   */
  unreadBytesMax: 65_536,
  /** Streamed answers of one serving process at a time: each keeps two steps, about a megabyte each. */
  streamedAnswersMax: 8,
  /** The same of one key: its callers may read slowly, and then leave the other places to others. */
  streamedAnswersPerKeyMax: 4,
  /** Bytes that the first step of a streamed answer is expected to have. */
  streamedStepBytes: MEGABYTE,
  /** Bytes of all Parquet files that a serving process keeps, and of the largest one: 200 million bars. */
  spoolBytesMax: 2_048 * MEGABYTE,
  /** Processes that make Parquet at a time, one of each key: each takes up to 250 MB. */
  spoolMakersMax: 2,
  /** Attempts at a file that somebody else removes each time. */
  spoolAttemptsMax: 3,
  /**
   * Time for which a Parquet file is kept after it was last read: a caller comes for its ranges one after the
   * other.
   */
  spoolKeptMs: 600_000,
  /** Time after which old files are looked for. */
  spoolSweepMs: 60_000,
  /** Files that are kept: each is open, and `filesReserved` has room for them. */
  spoolFilesMax: 100,
  /** Time after which a file that is made is looked at: its size, and whether its callers have gone. */
  spoolCheckMs: 100,
  /** Bytes of a file that are read at once. */
  spoolPieceBytes: 262_144,
  /** Bytes of the response cache of a serving process. */
  cachedBytesMax: 32 * MEGABYTE,
  /** Bytes of a cached answer: most lists are smaller, and a few must not fill the cache. */
  cachedAnswerBytesMax: MEGABYTE,
  /** Bytes of the largest body that is cached at its first asking. */
  cachedAtOnceBytesMax: 16_384,
  /**
   * Until its second asking a larger answer is remembered by its name, which counts as its body, or so many
   * times its characters where that is more.
   */
  askedOnceNameWeight: 16,
  /**
   * Cached answers that are looked at when one is asked for: those that are right no more give their bytes
   * back.
   */
  cachedSweptPerRequest: 2,
  /** Bytes of a cached answer beside its body and its texts, as measured. */
  cachedOverheadBytes: 2_600,
  /** The same of an encoded body. */
  cachedEncodingOverheadBytes: 1_000,
  /**
   * Encoded forms of one cached answer: two codings, each by caller where it has the address of a next page.
   */
  cachedEncodingsMax: 4,
  /** Bytes of known requests, without their answers: some 2,000 of two kilobytes. */
  knownBytesMax: 4 * MEGABYTE,
  /** The same of one beside its texts. */
  knownOverheadBytes: 600,
  /** Time for which a request is known: then the stages are asked once more. */
  knownMs: 1_000,
  /**
   * Time in which readiness is answered: who asks for it asks again soon, and must not take a late answer for
   * none.
   */
  readinessMs: 900,
  /** Characters of a part of a key that no request id may be: a shorter part tells nobody the rest. */
  keyPartCharactersMin: 20,
  /**
   * Characters of a text in the place of a key: a shorter one is no secret, and a request id may hold it by
   * chance.
   */
  secretCharactersMin: 8,
} as const;
