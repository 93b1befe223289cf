// One service: its requests, tried again where that may help, what its answers say, and the error that a
// request may end with instead of one.
import type { ErrorWord } from './contract.ts';

/**
 * Why there is no answer: a word of the service's catalogue (contract 6.3), or one of the client's own.
 * `unreachable`: no answer came, or a part of one. `timed_out`: none came in time. `bad_answer`: the
 * server is not a Bourse service. `ignored_parameter`: the service does not know a parameter, so its answer
 * is to another question.
 */
export type ErrorCode = ErrorWord | 'unreachable' | 'timed_out' | 'bad_answer' | 'ignored_parameter';

/** The facts of an error, beside its message. */
type ErrorFacts = {
  readonly error: ErrorCode;
  readonly status?: number | undefined;
  readonly param?: string | undefined;
  readonly hint?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterMs?: number | undefined;
};

/**
 * A request that failed. None of its texts has the key. An aborted call rejects with the reason of
 * its signal.
 */
export class BourseError extends Error {
  override readonly name = 'BourseError';
  /** The word of the error, for programs. */
  readonly error: ErrorCode;
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** The parameter at fault, as it is on the wire. */
  readonly param: string | undefined;
  /** Advice, such as symbols similar to the requested one. */
  readonly hint: string | undefined;
  /** The id of the request in the log of the service. */
  readonly requestId: string | undefined;
  /** Milliseconds to wait before the next try, if the service gave them. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, facts: ErrorFacts) {
    super(message);
    this.error = facts.error;
    this.status = facts.status;
    this.param = facts.param;
    this.hint = facts.hint;
    this.requestId = facts.requestId;
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** The options of a client. */
export type ServiceOptions = {
  /** The address, such as `http://127.0.0.1:8080`, with its path where the service has one. */
  readonly url: string;
  /** The key. It is sent only in a header. */
  readonly key: string;
  /** The number of retries of a request; default 5. */
  readonly retries?: number | undefined;
  /** Milliseconds that one try may take, including its body; default 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * The longest pause that the client accepts from the service; a longer one is an error at once.
   * Default 60,000 ms.
   */
  readonly retryAfterMaxMs?: number | undefined;
};

/** Options of one call. */
export type Call = {
  /** Ends the call, its pauses too; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that one try may take, instead of the client's. */
  readonly timeoutMs?: number | undefined;
};

/** An answer that was as asked. */
type Answer = { readonly result: object; readonly headers: Headers };

/** The object in an answer of the service, or of another program on the way. */
type Body = Readonly<Record<string, unknown>>;

/** Errors after which the same request may be answered. */
const transient: ReadonlySet<ErrorCode> = new Set([
  ...(['unreachable', 'timed_out', 'timeout', 'rate_limited', 'unavailable'] as const),
]);

/** Statuses of others on the way, whose answers have no word. */
const wordOfStatus: Readonly<Record<number, ErrorCode>> = {
  408: 'timeout',
  429: 'rate_limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

export class Service {
  readonly #url: string;
  readonly #key: string;
  readonly #retries: number;
  readonly #timeoutMs: number;
  readonly #retryAfterMaxMs: number;

  /** @throws TypeError if the address or the key is invalid; its message does not have the key */
  constructor({ url, key, retries = 5, timeoutMs = 30_000, retryAfterMaxMs = 60_000 }: ServiceOptions) {
    this.#url = baseOf(url);
    // RFC 6750, 2.1: anything else would be a header's error, whose message has the key.
    if (!/^[\w.~+/-]+=*$/.test(key)) throw new TypeError('key: this is not a key of a service');
    this.#key = key;
    this.#retries = retries;
    this.#timeoutMs = timeoutMs;
    this.#retryAfterMaxMs = retryAfterMaxMs;
  }

  /**
   * Asks until there is an answer, with the pauses that the service asks for.
   * @throws BourseError, or the reason of the call's signal
   */
  ask(address: string, { signal, timeoutMs = this.#timeoutMs }: Call): Promise<Answer> {
    return this.#retried(signal, () => this.#try(address, signal, timeoutMs));
  }

  /**
   * Like `ask`, for an answer in bytes, as they come. `timeoutMs` is the time until it begins.
   * @throws BourseError, or the reason of the call's signal
   */
  stream(
    address: string,
    { signal, timeoutMs = this.#timeoutMs }: Call,
  ): Promise<ReadableStream<Uint8Array>> {
    return this.#retried(signal, () => this.#begin(address, signal, timeoutMs));
  }

  async #retried<T>(signal: AbortSignal | undefined, attempt: () => Promise<T>): Promise<T> {
    for (let tried = 0; ; tried++) {
      signal?.throwIfAborted();
      try {
        return await attempt();
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof BourseError) || !this.#isWorthTrying(error, tried)) throw error;
        await pause(pauseMs(error, tried), signal);
      }
    }
  }

  #isWorthTrying({ error, retryAfterMs = 0 }: BourseError, tried: number): boolean {
    return transient.has(error) && tried < this.#retries && retryAfterMs <= this.#retryAfterMaxMs;
  }

  async #try(address: string, signal: AbortSignal | undefined, timeoutMs: number): Promise<Answer> {
    const late = AbortSignal.timeout(timeoutMs);
    let response: Response;
    let text: string;
    try {
      response = await this.#fetch(address, 'application/json', late, signal);
      text = await response.text();
    } catch (error) {
      throw this.#failed(error, late, timeoutMs);
    }
    return this.#read(response, text);
  }

  async #begin(
    address: string,
    signal: AbortSignal | undefined,
    timeoutMs: number,
  ): Promise<ReadableStream<Uint8Array>> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    let response: Response;
    try {
      response = await this.#fetch(address, '*/*', late.signal, signal);
      if (response.status !== 200) {
        const body = parsed(this.#redacted(await response.text()));
        throw this.#refused(response, body);
      }
      if (!isBulk(response.headers)) {
        await response.body!.cancel();
        throw this.#otherAnswer(200);
      }
    } catch (error) {
      throw error instanceof BourseError ? error : this.#failed(error, late.signal, timeoutMs);
    } finally {
      clearTimeout(timer);
    }
    this.#checkKnown(response);
    return response.body!;
  }

  #fetch(
    address: string,
    accept: string,
    late: AbortSignal,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    return fetch(this.#url + address, {
      headers: { Accept: accept, Authorization: `Bearer ${this.#key}` },
      credentials: 'omit',
      // The key is for this address alone.
      redirect: 'manual',
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
  }

  /** The error of a request without an answer. */
  #failed(error: unknown, late: AbortSignal, timeoutMs: number): BourseError {
    if (late.aborted)
      return new BourseError(`${this.#url} has not answered in ${timeoutMs} ms`, { error: 'timed_out' });
    return this.#unreachable(whyOf(error));
  }

  #unreachable(why: string, status?: number): BourseError {
    return new BourseError(this.#redacted(`${this.#url}: ${why}`), { error: 'unreachable', status });
  }

  /** An answer of the service. @throws BourseError where it is none, or one to another question */
  #read(response: Response, text: string): Answer {
    const { status, headers } = response;
    if (status !== 200) throw this.#refused(response, parsed(this.#redacted(text)));
    const body = parsed(text);
    if (body === null && isJson(headers)) throw this.#unreachable('the answer was cut', status);
    if (body?.status !== 'ok' || typeof body.result !== 'object' || body.result === null)
      throw this.#otherAnswer(status);
    this.#checkKnown(response);
    return { result: body.result, headers };
  }

  #otherAnswer(status: number): BourseError {
    return new BourseError(`${this.#url}: this is not a Bourse service`, { error: 'bad_answer', status });
  }

  /** @throws BourseError where the service does not know a parameter: its answer is to another question */
  #checkKnown({ headers, status }: Response): void {
    const ignored = headers.get('X-Ignored-Parameters');
    if (ignored !== null)
      throw new BourseError(this.#redacted(`the service does not know these parameters: ${ignored}`), {
        error: 'ignored_parameter',
        status,
        param: this.#redacted(ignored.split(/[ ,]/)[0]!),
        requestId: headers.get('X-Request-Id') ?? undefined,
      });
  }

  #refused({ status, headers }: Response, body: Body | null): BourseError {
    const place = headers.get('Location');
    const answered = `${this.#url} answered ${status}${place === null ? '' : `; it refers to ${place}`}`;
    const { message = this.#redacted(answered) } = textsIn(body);
    const { error, param, hint, request_id } = textsIn(body?.detail);
    return new BourseError(message, {
      error: (error as ErrorCode | undefined) ?? wordOfStatus[status] ?? 'bad_answer',
      status,
      param,
      hint,
      requestId: request_id ?? (this.#redacted(headers.get('X-Request-Id') ?? '') || undefined),
      retryAfterMs: retryAfterMs(headers.get('Retry-After')),
    });
  }

  #redacted(text: string): string {
    return text.replaceAll(this.#key, '[key]');
  }
}

/**
 * An address without slashes at its end. @throws TypeError, which does not repeat it: it may have a password
 */
function baseOf(url: string): string {
  const { protocol, origin, pathname, username, search, hash } = URL.parse(url) ?? {};
  if (!/^https?:$/.test(protocol ?? '') || username || search || hash)
    throw new TypeError('url: this is not the address of a service, such as http://127.0.0.1:8080');
  let path = pathname!;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return origin! + path;
}

const isBulk = (headers: Headers): boolean =>
  /^(?:text\/csv|application\/vnd\.apache\.)/.test(headers.get('Content-Type') ?? '');

const isJson = (headers: Headers): boolean => /\bjson\b/.test(headers.get('Content-Type') ?? '');

/** The object that a text is; null for another one, such as a part of it. */
function parsed(text: string): Body | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? (value as Body | null) : null;
  } catch {
    return null;
  }
}

/**
 * The texts of an object. Another program, such as a proxy, may answer with anything under the names of the
 * service.
 */
const textsIn = (value: unknown): Readonly<Partial<Record<string, string>>> =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, text]) => typeof text === 'string')) as Record<
    string,
    string
  >;

/** What `fetch` says, and what Node.js says beneath it. */
function whyOf(error: unknown): string {
  const { message, cause } = error as Error & {
    cause?: { readonly code?: string; readonly message?: string };
  };
  const why = cause?.code ?? cause?.message;
  return why === undefined ? message : `${message} (${why})`;
}

/** `Retry-After`: seconds or a date. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/**
 * The pause after a try: the one that the service asks for, plus a random one that grows with each try.
 */
function pauseMs({ retryAfterMs = 0 }: BourseError, tried: number): number {
  return retryAfterMs + Math.min(FIRST_PAUSE_MS * 2 ** tried, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
