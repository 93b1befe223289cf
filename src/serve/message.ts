// A request and a response, without a socket, so that tests can make and read them.

/** A request as the request handler gets it. */
export type HttpRequest = {
  readonly method: string;
  /** The request target as sent. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The address that its connection comes from; absent where there is none. */
  readonly address?: string | undefined;
  /** When its handling could have begun, by `performance.now()`; absent for now. */
  readonly arrivedMs?: number;
  /** How long it waited then until it was read (`request-gate.ts`); absent where it did not. */
  readonly waitedMs?: number;
  /** The batch that it is handled in: all requests of a batch arrived before it. */
  readonly batch?: number;
  /** Reads the body; nothing is read of it before. Absent where a test sends none. */
  readonly body?: () => Promise<Uint8Array>;
  /** The bytes of all of it, where these may be known when they come again (`known-requests.ts`). */
  readonly bytes?: Buffer | undefined;
  /** Whether its caller has gone. */
  readonly isGone: () => boolean;
};

/** A whole response; the pieces of its body follow each other. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: readonly Uint8Array[];
  /** The id of the key that its unsent bytes count for; null or absent for callers without a valid one. */
  readonly owner?: string | null;
  /**
   * Gives the bytes that follow `body` and those it gave before, null at the end; absent where `body` is
   * whole. It rejects where they cannot be had.
   */
  readonly rest?: () => Promise<Uint8Array | null>;
  /** Releases what it holds, once it has been sent or never will be; calling it again changes nothing. */
  readonly release?: () => void;
};

/** A response whose head is written already. */
export type WrittenResponse = Required<Pick<HttpResponse, 'body' | 'owner' | 'release'>> & {
  /** Status line and headers with their end, as latin1. */
  readonly head: string;
};
