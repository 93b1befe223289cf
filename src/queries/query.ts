// A query: a plain request in, bytes and headers out, so that it can run in a query thread
// (docs/architecture.md); and the dates of a request as half-open ranges (contract 2.2, 2.3).

import { areInOrder, endOf, formatDay, type ParsedInstant, startOf } from '../base/instant.ts';
import type { Endpoint, ParametersOf } from '../contract/endpoint.ts';
import { type ErrorFacts, type ErrorWord, Refusal } from '../contract/errors.ts';
import type { Keep } from '../series/calendars.ts';
import type { TrackedReader } from '../store/known-changes.ts';
import type { KnownMoment } from '../store/schema/dataset.ts';
import type { DataState, Part, RowLists } from '../store/store.ts';
import type { Lookup } from './lookup.ts';
import type { PageKeys } from './pages/page-key.ts';

/** From `from` up to but not including `to`; a missing end is unbounded. */
export type Bounds = { readonly from?: number; readonly to?: number };

/** Bounds of those ends that are given. */
export const boundsOf = (from: number | undefined, to: number | undefined): Bounds => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** The days from one date to another, both included. @throws Refusal where `from` is after `to` */
export function dayBounds(from: number | undefined, to: number | undefined): Bounds {
  if (from !== undefined && to !== undefined && from > to) throw wrongOrder(formatDay(from), formatDay(to));
  return boundsOf(from, to === undefined ? undefined : to + 1);
}

type Sent = ParsedInstant & { readonly text: string };

/**
 * The instants from one to another, both included; a date is a UTC day. @throws Refusal where `from` is after
 * `to`
 */
export function instantBounds(from: Sent | undefined, to: Sent | undefined): Bounds {
  const bounds = boundsOf(from && startOf(from, 'instant'), to && endOf(to, 'instant'));
  if (from !== undefined && to !== undefined && !areInOrder(from, bounds.from!, bounds.to!, 'instant'))
    throw wrongOrder(from.text, to.text);
  return bounds;
}

/** The refusal of a range whose end is before its start. */
export function wrongOrder(from: string, to: string): Refusal {
  return new Refusal('invalid_parameter', {
    message: `from_date is after to_date: ${from} is later than ${to}.`,
    param: 'from_date',
    got: from,
    hint: 'Swap the two dates.',
  });
}

/** One request for the query thread. It can be cloned, and never holds the caller's key. */
export type QueryRequest = {
  /** The name of an endpoint of the contract. */
  readonly endpoint: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The moment of the request, epoch milliseconds. */
  readonly nowMs: number;
  /**
   * The moment that the caller's key is pinned to, epoch milliseconds; absent for most keys (contract 9.8).
   */
  readonly pinnedMs?: number;
  /** Whether CSV goes into the JSON envelope (contract 5.3). */
  readonly wrapCsv: boolean;
  /** Of a request about the service itself: what the query thread does not know. */
  readonly service?: ServiceFacts | undefined;
  /** Where the next step of a streamed answer begins; absent for its first. */
  readonly from?: StepPlace;
};

/**
 * Between two steps of a streamed answer: the last row so far, and the state of the store that the first step
 * was read from.
 */
export type StepPlace = {
  readonly data: DataState;
  readonly symbol: string;
  /** The requested symbols by their instruments' own ones; absent where all are. */
  readonly symbols?: readonly string[];
  /** The key of the last bar; null where all bars of the symbol have been given. */
  readonly keyMs: number | null;
  /** Why the symbols until here have no bars; absent once one has some. */
  readonly none?: NoBars;
};

/** Why instruments have no bars: the reasons of the first ones, and how many there are. */
export type NoBars = { readonly reasons: readonly string[]; readonly count: number };

/**
 * Actions that adjust bars by less than they should, with the reasons, and those that no list shows unasked.
 */
export type Adjusted = {
  readonly incomplete: Set<string>;
  readonly unlisted: Set<string>;
  /** The last symbol of the first step of an answer, if later steps have other symbols; null otherwise. */
  readThrough: string | null;
};

export const noActions = (): Adjusted => ({ incomplete: new Set(), unlisted: new Set(), readThrough: null });

/** Names of actions: the first ones, and how many there are. */
export type ActionNames = { readonly first: readonly string[]; readonly count: number };

/** The names of all actions that the headers of an answer, or of one of its steps, tell. */
export type AdjustedNames = { readonly incomplete: ActionNames; readonly unlisted: ActionNames };

/**
 * The base address of a request, without a trailing slash, the version of the program, and for a request
 * about it the state of the service.
 */
export type ServiceFacts = {
  readonly baseAddress: string;
  readonly version: string;
  /** A `ServiceState` (`service-state.ts`). */
  readonly state?: unknown;
};

/**
 * The address of the next page; the request handler adds the base address and the caller's key (contract
 * 4.3).
 */
type NextPage = {
  /** Path and query, ending before `next_page_key`. */
  readonly address: string;
  readonly key: string;
  /** Where the whole address belongs in the body; null where the body does not hold it. */
  readonly at: number | null;
};

/** The page of a list that follows; `next` is null on its last page. */
export type Paging = { readonly next: Pick<NextPage, 'address' | 'key'> | null };

/** A finished answer, or a refusal. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly contentType: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
      readonly next: NextPage | null;
      /**
       * Where the next step of a streamed answer begins; absent where this is its last, and on all other
       * answers.
       */
      readonly rest?: StepPlace;
      /** Rows of a step of a streamed answer. */
      readonly rows?: number;
      /** Names for the headers of a streamed answer: those of one step. */
      readonly adjusted?: AdjustedNames & Pick<Adjusted, 'readThrough'>;
      /** The version of the store that it was read from; absent where damage hides it. */
      readonly dataVersion?: number;
      /**
       * The same request has this answer until then, unless what it depends on is changed. A query that reads
       * the clock says it, where it knows; any other answer is good for ever.
       */
      readonly goodUntilMs?: number;
      /** Where it was read; absent where it cannot be cached. */
      readonly source?: AnswerSource;
      /** To call once the body is sent: its memory is used again. Calling it again changes nothing. */
      readonly release?: () => void;
    }
  | { readonly kind: 'refusal'; readonly word: ErrorWord; readonly facts: ErrorFacts };

/** The state that an answer was read from, and the parts that it depends on (docs/decisions/0029). */
export type AnswerSource = DataState & { readonly parts: readonly Part[] };

/**
 * Marks how long an answer of a query that has read the clock stays good, epoch milliseconds: infinite until
 * what it depends on is changed.
 */
export const goodUntil = (answer: Answer, goodUntilMs: number): Answer =>
  answer.kind === 'answer' ? { ...answer, goodUntilMs } : answer;

/** Allocates memory for a body of so many bytes. */
export type Allocate = (length: number) => Uint8Array;

/** Allocates new memory for every body. */
export const allocateFresh: Allocate = (length) => Buffer.allocUnsafeSlow(length);

/** The means of a query. All its reads see one state of the store. */
export type QueryContext = {
  /** Its `nowMs` is the moment as of which it is answered, where it has one. */
  readonly request: QueryRequest;
  readonly endpoint: Endpoint;
  /** `always` where the request is answered from everything that is stored. */
  readonly moment: KnownMoment;
  /** The clock, epoch milliseconds. */
  readonly clockMs: number;
  /** The parts of the answer that the data do not date: they are as last imported. A query adds to them. */
  readonly undated: Set<string>;
  /** Notes about adjusted bars; a query adds to them. */
  readonly adjusted: Adjusted;
  /** Reads all that is stored: facts. */
  readonly reader: TrackedReader;
  /** Reads lists as they were known at the moment. */
  readonly known: RowLists;
  readonly lookup: Lookup;
  readonly pageKeys: PageKeys;
  readonly allocate: Allocate;
  readonly lane: LaneBounds;
};

/** Keeps values as `Lookup.cached` does, those of each moment apart. */
export const keepOf =
  ({ reader, lookup, moment }: Pick<QueryContext, 'reader' | 'lookup' | 'moment'>): Keep =>
  async (name, make) =>
    (await lookup.cached(reader, `as of ${moment.ms}|${name}`, make)).value;

/** The bounds of what a request of a lane may read: the others of its lane wait for it. */
export type LaneBounds = {
  /** The most stored bars of which it makes its own. */
  readonly baseBarsMax: number;
  /** The most characters of texts in its answer. */
  readonly charactersMax: number;
};

/** A request reads more than its lane allows: another lane answers it (`serve/threads/README.md`). */
export class TooDear extends Error {
  override readonly name = 'TooDear';
}

/** Counts the bars that a request reads. @throws TooDear if another lane must read so many */
export function barsCounted({ lane }: Pick<QueryContext, 'lane'>): (count: number) => void {
  let read = 0;
  return (count) => {
    read += count;
    if (read > lane.baseBarsMax) throw new TooDear();
  };
}

/** Answers one endpoint. @throws Refusal for a mistake that shows only in the data */
export type Query<E extends Endpoint> = (
  parameters: ParametersOf<E>,
  context: QueryContext,
) => Promise<Answer>;
