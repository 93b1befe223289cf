// The response cache: the same request has the same answer until what it depends on is changed, or the answer
// is out of date.
import { heapBytes, SizedCache } from '../../base/sized-cache.ts';
import type { Answer, AnswerSource } from '../../queries/query.ts';
import { KnownChanges } from '../../store/known-changes.ts';
import type { Store } from '../../store/store.ts';
import { httpLimits } from '../limits.ts';

/** An answer without the base address and the key of a caller, so that all callers can share it. */
export type CachedAnswer = {
  readonly answer: Answer & { kind: 'answer' };
  readonly etag: string;
  /** Until when it is right. */
  readonly goodUntilMs: number;
};

/** The form in which an answer was sent: its coding, and the address of the next page that is in it. */
export type AnswerForm = { readonly coding: string | null; readonly url: string | null };

const formName = ({ coding, url }: AnswerForm): string => `${coding} ${url ?? ''}`;

/** What the cache needs of a store. */
type CachedStore = Pick<Store, 'id' | 'version' | 'changesAfter'>;

/**
 * A cached answer; where it was read; and its encoded bodies by the coding and the address of the next page
 * that is in them.
 */
type Entry = {
  readonly cached: CachedAnswer;
  readonly source: AnswerSource;
  readonly encodings: Map<string, Uint8Array>;
};

/** The answers of one process by what was asked, bounded in bytes. */
export class ResponseCache {
  readonly #store: CachedStore;
  readonly #changes = new KnownChanges();
  readonly #entries: SizedCache<Entry>;
  /**
   * Names of large answers that were asked for once, the latest last: as many as the cache could hold, for
   * one that is asked for again after more of them would be gone by its next asking.
   */
  readonly #askedOnce: SizedCache<true>;
  /** The sweep for expired entries goes on here. */
  #swept: ReturnType<SizedCache<Entry>['entries']>;
  /** The version as it was last read, and in which batch. */
  #read: { readonly batch: number; readonly version: Promise<number | null> } | null = null;

  constructor(store: CachedStore, bytesMax: number = httpLimits.cachedBytesMax) {
    this.#store = store;
    this.#entries = new SizedCache(bytesMax);
    this.#askedOnce = new SizedCache(bytesMax);
    this.#swept = this.#entries.entries();
  }

  /** Bytes of the answers that it holds. */
  get bytes(): number {
    return this.#entries.bytes;
  }

  /** Names the data whose version was read last; null before the first. */
  get id(): string | null {
    return this.#changes.id;
  }

  /**
   * Whether an answer has a name. Only then is there a reason to ask for the version: in another process's
   * store that takes as long as a query.
   */
  has(name: string): boolean {
    return this.#entries.has(name);
  }

  /**
   * The version of the store, read once a batch; without a batch, as it is now. Answers that a newer version
   * changes are found no more; without a version (`Versioned`) none are. Reading it never waits: a reader in
   * WAL mode waits for no writer.
   */
  version(batch?: number): Promise<number | null> {
    if (batch !== undefined && this.#read !== null && this.#read.batch >= batch) return this.#read.version;
    const version = this.#changes.follow(this.#store);
    this.#read = batch === undefined ? null : { batch, version };
    return version;
  }

  /** The cached answer to a request that arrived when the store had a version, or a newer one. */
  find(name: string, version: number, nowMs: number): CachedAnswer | undefined {
    this.#sweep(version, nowMs);
    const entry = this.#entries.get(name);
    if (entry === undefined || !this.#isRight(entry, version, nowMs)) {
      this.#entries.delete(name);
      return undefined;
    }
    return entry.cached;
  }

  /**
   * Removes some of the answers that are right no more: nobody may ask for these again. It goes on at every
   * request: a Map keeps all tables that it has outgrown since an iterator over it was last moved.
   */
  #sweep(version: number, nowMs: number): void {
    for (let count = 0; count < httpLimits.cachedSweptPerRequest; count++) {
      const next = this.#swept.next();
      if (next.done === true) {
        this.#swept = this.#entries.entries();
        return;
      }
      const [name, { value }] = next.value;
      if (!this.#isRight(value, version, nowMs)) this.#entries.delete(name);
    }
  }

  #isRight({ cached, source }: Entry, version: number, nowMs: number): boolean {
    return nowMs < cached.goodUntilMs && this.#isPresent(source, version);
  }

  /**
   * Whether an answer is as one that is read now. A query may have read a newer version than was met here.
   */
  #isPresent(source: AnswerSource, version: number): boolean {
    const { id } = source;
    if (id !== this.#changes.id) return false;
    return source.version >= version || this.#changes.isSame(source.parts, source, { id, version });
  }

  /**
   * Whether an answer with a body of so many bytes is kept. A large one is from its second asking on, if that
   * comes soon: others would only take each other's place, and leave their memory to the garbage collector.
   */
  takes(name: string, bodyBytes: number): boolean {
    if (bodyBytes > httpLimits.cachedAnswerBytesMax) return false;
    if (bodyBytes <= httpLimits.cachedAtOnceBytesMax) return true;
    const isSecond = this.#askedOnce.get(name) === true;
    if (isSecond) this.#askedOnce.delete(name);
    else this.#askedOnce.set(name, true, Math.max(bodyBytes, httpLimits.askedOnceNameWeight * name.length));
    return isSecond;
  }

  /**
   * Adds an answer with a body that shares no memory. An answer of another store, such as one that has taken
   * its place, is not added.
   */
  add(name: string, cached: CachedAnswer, source: AnswerSource): void {
    const bytes = 2 * name.length + bytesOf(cached) + heapBytes(source.parts);
    if (source.id !== this.#store.id || bytes > httpLimits.cachedAnswerBytesMax) return;
    this.#entries.set(name, { cached, source, encodings: new Map() }, bytes);
  }

  /**
   * The body of a cached answer in a form that was added for it; undefined where another answer has its name
   * by now.
   */
  encoding(name: string, cached: CachedAnswer, form: AnswerForm): Uint8Array | undefined {
    const entry = this.#entries.get(name);
    return entry?.cached === cached ? entry.encodings.get(formName(form)) : undefined;
  }

  /**
   * Adds an encoded body of the answer that has the name, and returns what is kept; the body itself where the
   * answer is cached no more.
   */
  addEncoding(name: string, cached: CachedAnswer, answerForm: AnswerForm, body: Uint8Array): Uint8Array {
    const entry = this.#entries.get(name);
    if (entry?.cached !== cached) return body;
    const form = formName(answerForm);
    let grown = encodingBytes(form, body) - takenEncoding(entry, form);
    const [oldest] = entry.encodings.keys();
    if (entry.encodings.size >= httpLimits.cachedEncodingsMax) grown -= takenEncoding(entry, oldest!);
    // A copy: what the encoder gives is a part of a larger buffer.
    const kept = Uint8Array.from(body);
    entry.encodings.set(form, kept);
    this.#entries.grow(name, entry, grown);
    return kept;
  }
}

const bytesOf = ({ answer, etag }: CachedAnswer): number => {
  const headers = Object.entries(answer.headers).flat();
  const texts = [etag, answer.contentType, answer.next?.address ?? '', answer.next?.key ?? '', ...headers];
  return texts.reduce((sum, text) => sum + text.length, answer.body.length + httpLimits.cachedOverheadBytes);
};

const encodingBytes = (form: string, body: Uint8Array): number =>
  body.length + form.length + httpLimits.cachedEncodingOverheadBytes;

/** Takes a form of an answer away; the bytes that it took. */
function takenEncoding({ encodings }: Entry, form: string): number {
  const body = encodings.get(form);
  encodings.delete(form);
  return body === undefined ? 0 : encodingBytes(form, body);
}
