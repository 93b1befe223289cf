// Observations, which the program reports about itself and which become logs and metrics; and the cause of a
// fault as text.

/**
 * Why the service ended a connection: its caller read too slowly; did not read, and asked for more or held
 * what all callers together may have; sent thousands of requests at once; it was idle, and a new one needed
 * its place; it was new, and there was no place.
 */
export const endReasons = ['slow', 'unread', 'pipelined', 'idle', 'refused', 'cut'] as const;
export type EndReason = (typeof endReasons)[number];

/** One thing that happened. No observation ever holds a key, a URL or a query string. */
export type Observation =
  | {
      readonly kind: 'request';
      readonly requestId: string;
      readonly method: string;
      /** The route's pattern, `null` where no route matched. */
      readonly route: string | null;
      /** `null` where the client had closed the connection before there was an answer. */
      readonly status: number | null;
      readonly word: string | null;
      readonly keyId: string | null;
      /**
       * The caller's address: the one that a trusted proxy names, else that of the connection; absent if it
       * is not known.
       */
      readonly address?: string;
      /** Until the answer could be sent; of one that is sent as it is read, until its first step. */
      readonly durationMs: number;
      /** Bytes of the body; of an answer that is sent as it is read, those that its connection has taken. */
      readonly bytes: number;
    }
  | {
      readonly kind: 'fault';
      readonly requestId: string | null;
      readonly where: string;
      readonly cause: string;
    }
  /** A request, or the count of a quota, met a store that cannot be reached now. */
  | { readonly kind: 'unavailable'; readonly cause: string }
  | { readonly kind: 'listening'; readonly url: string; readonly store: string; readonly pid: number }
  /** Metrics have a separate address. */
  | { readonly kind: 'metrics'; readonly url: string }
  /** The address can be reached from other machines, without HTTPS and without a proxy. */
  | { readonly kind: 'exposed'; readonly host: string; readonly words: string }
  /**
   * The certificate was read again; with `problem`: it could not be, and the previous one is still served.
   */
  | {
      readonly kind: 'certificate';
      readonly file: string;
      readonly expires: string;
      readonly problem: string | null;
    }
  /** An older store is brought to the newest layout. */
  | { readonly kind: 'updating'; readonly words: string }
  /**
   * An empty store was made where there was none; the store's file was removed, or another has taken its
   * place; a variable that is no setting has the name of one, nearly.
   */
  | { readonly kind: 'store made' | 'store replaced' | 'environment'; readonly words: string }
  /** The service ended a connection. */
  | { readonly kind: 'connection'; readonly reason: EndReason }
  | { readonly kind: 'stopping'; readonly reason: string; readonly open: number }
  | { readonly kind: 'stopped' };

/** Takes observations; never throws. */
export type Observe = (observation: Observation) => void;

/** The cause of a fault, for the log: its stack where it has one. */
export const causeOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);
