// What a query is: a plain request in, bytes and headers out, so that it runs in a query thread (docs/architecture.md).
import type { Endpoint, ParametersOf } from '../contract/endpoint.ts';
import type { ErrorFacts, ErrorWord } from '../contract/errors.ts';
import type { EndpointName } from '../contract/index.ts';
import type { Reader } from '../store/store.ts';
import type { Lookup } from './lookup.ts';
import type { PageKeys } from './page.ts';

/** One request for the query thread: nothing in it that cannot be cloned, and never a key. */
export type QueryRequest = {
  readonly endpoint: EndpointName;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The moment of the request, epoch milliseconds. */
  readonly nowMs: number;
  /** CSV is to be wrapped in the JSON envelope (contract 5.3). */
  readonly wrapCsv: boolean;
};

/** The address of the next page without base and caller's key, which the request handler adds (contract 4.3). */
export type NextPage = {
  /** Path and query, ending before `next_page_key`. */
  readonly address: string;
  readonly key: string;
  /** Where in the body the whole address belongs; null where the body does not hold it. */
  readonly at: number | null;
};

/** A finished answer, or the refusal to give one. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly contentType: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      readonly next: NextPage | null;
      /** Until then the same request has this answer, unless anything is committed; absent where that is not known. */
      readonly goodUntilMs?: number;
      /** To be called when the body has been sent: its memory is used again. */
      readonly release?: () => void;
    }
  | { readonly kind: 'refusal'; readonly word: ErrorWord; readonly facts: ErrorFacts };

/** An answer that its request has until a moment, epoch milliseconds; by default for ever, while nothing is committed. */
export const goodUntil = (answer: Answer, goodUntilMs = Number.POSITIVE_INFINITY): Answer =>
  answer.kind === 'answer' ? { ...answer, goodUntilMs } : answer;

/** Gives memory for a body of so many bytes. */
export type Allocate = (length: number) => Uint8Array;

/** Memory of its own for every body. */
export const allocateFresh: Allocate = (length) => Buffer.allocUnsafeSlow(length);

/** What a query may use. Everything read through it belongs to one state of the store. */
export type QueryContext = {
  readonly request: QueryRequest;
  readonly reader: Reader;
  readonly lookup: Lookup;
  readonly pageKeys: PageKeys;
  readonly allocate: Allocate;
};

/** Answers one endpoint. @throws Refusal for a mistake that only the data shows. */
export type Query<E extends Endpoint> = (
  parameters: ParametersOf<E>,
  context: QueryContext,
) => Promise<Answer>;
