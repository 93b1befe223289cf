// A request on its way through the stages of the request handler: what they find out about it, and the parts
// of the service that they work with.
import type { Observe } from '../base/observe.ts';
import type { ErrorWord } from '../contract/errors.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import type { ServiceState } from '../queries/service-state.ts';
import type { ApiKey } from '../store/control.ts';
import type { Assistants } from './assistants.ts';
import type { AddressSettings } from './base-address.ts';
import type { BuiltInPage, BuiltInPages } from './built-in-pages.ts';
import type { AnswerForm, CachedAnswer, ResponseCache } from './cache/response-cache.ts';
import type { EncodedPages } from './encoding.ts';
import type { KeyRing } from './keys/api-keys.ts';
import type { CountedRequest, Quotas } from './keys/quotas.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import type { AnswerSizes, UnsentBytes } from './outgoing/unsent-bytes.ts';
import type { Caller } from './request.ts';
import type { Match, RawQuery } from './route.ts';
import type { StartMaker } from './spool/making.ts';
import type { ParquetSpool } from './spool/parquet-spool.ts';
import type { StreamedAnswers } from './streamed-answers.ts';

/** The parts of a service that the request handler works with. */
export type HandlerParts = {
  readonly pages: BuiltInPages;
  readonly keys: Pick<KeyRing, 'verify' | 'holds'>;
  readonly quotas: Pick<Quotas, 'count' | 'countNow'>;
  readonly cache: ResponseCache;
  readonly unsent: UnsentBytes;
  /**
   * True if this thread keeps up well enough to answer one more request of a key, which has waited to be
   * read.
   */
  readonly admits: (keyId: string | null, waitedMs: number) => boolean;
  readonly submit: (
    request: QueryRequest,
    isGone: () => boolean,
    keyId: string | null,
    waitedMs?: number,
  ) => Promise<Answer>;
  readonly address: AddressSettings;
  readonly spool: ParquetSpool;
  readonly startParquet: StartMaker;
  /** Absent where no assistant is answered. */
  readonly assistants?: Assistants;
  /** The version of the program. */
  readonly version: string;
  /** The state of the service for whoever operates it; absent where nobody asks for it. */
  readonly state?: () => Promise<ServiceState>;
  readonly observe: Observe;
  readonly nowMs: () => number;
};

/** The parts of a service, and what one request handler keeps from request to request. */
export type Service = HandlerParts & {
  readonly sizes: AnswerSizes;
  readonly streamed: StreamedAnswers;
  readonly encodedPages: EncodedPages;
  /** Handles a request that an assistant makes; never throws. */
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  /** Tells the log what was thrown once a response had begun. */
  readonly reportProblem: (error: unknown, requestId: string) => void;
};

/** The subject of a path: a built-in page, messages of assistants, or data. */
type Subject =
  | { readonly kind: 'page'; readonly page: BuiltInPage }
  | { readonly kind: 'message'; readonly assistants: Assistants }
  | { readonly kind: 'data'; readonly match: Match };

/**
 * The parameters of a request, and its name: everything that they say, in their order and with defaults,
 * however they were written.
 */
export type ParsedRequest = {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly name: string;
};

/** An answer, and its name in the cache; null where it is not there. */
type FoundAnswer = {
  readonly name: string | null;
  readonly cached: CachedAnswer;
  /** Whether the cache had it before. */
  readonly isHit: boolean;
  /** The version of the store that has this answer; undefined where damage hides it. */
  readonly dataVersion: number | undefined;
};

/** One request, and what the stages have found out about it: each reads what those before it have set. */
export class RequestContext {
  /** Its Host is that of the target, where that has one. */
  request: HttpRequest;
  readonly requestId: string;
  /** The pattern of the path. */
  route: string | null = null;
  keyId: string | null = null;
  word: ErrorWord | null = null;
  /** Null where the key has no quota. */
  counted: CountedRequest | null = null;
  /** The value of `X-Ignored-Parameters`; null where no parameter is ignored. */
  ignored: string | null = null;
  /** The count of the bytes that the answer is expected to have: released once there is a response. */
  readonly expected = new DisposableStack();
  /** Resources of the response: released once, when it has been sent or never will be. */
  held = new DisposableStack();

  /** Set by the stage `route`. */
  subject!: Subject;
  query!: RawQuery;
  /** Set by the stage `identify`. */
  caller!: Caller;
  key!: ApiKey;
  /** Set by the stage `parameters`, for data. */
  base!: string;
  parsed!: ParsedRequest;
  asked!: QueryRequest;
  /** The bytes that the answer is expected to have, once it is admitted. */
  expectedBytes = 0;
  /** Set by the stages `cached` or `answer`, for data that is not streamed. */
  found: FoundAnswer | null = null;
  /** Set by the stage `encode` for an answer that was in the cache. */
  form: AnswerForm | null = null;

  constructor(request: HttpRequest, requestId: string) {
    this.request = request;
    this.requestId = requestId;
  }
}
