// A service in this process, without a network: its request handler over a store, at a clock that a test
// sets. For tests of answers; those of the network and of processes start a server (`service.ts`).
import { setImmediate as giveWay } from 'node:timers/promises';
import { startParquet } from '../src/queries/export/parquet-process.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { ResponseCache } from '../src/serve/cache/response-cache.ts';
import { RequestHandler } from '../src/serve/handler.ts';
import { issueKey, KeyRing, noTerms } from '../src/serve/keys/api-keys.ts';
import { Quotas } from '../src/serve/keys/quotas.ts';
import type { HttpRequest } from '../src/serve/message.ts';
import { UnsentBytes } from '../src/serve/outgoing/unsent-bytes.ts';
import { ParquetSpool } from '../src/serve/spool/parquet-spool.ts';
import { addQuotaUses, readKeys } from '../src/store/control.ts';
import { openControl, openStore } from '../src/store/engines.ts';
import { openToWrite } from './stores.ts';

/** A service that a test asks: in this process, or a server. */
export type Asking = { readonly url: string; readonly get: (path: string) => Promise<Response> };

type Closing = { readonly close: () => Promise<void> };

/** The service over one store. */
export class LocalServer implements Asking {
  readonly url = 'http://localhost:8080';
  /** A key that is valid. */
  readonly key: string;
  readonly #handler: RequestHandler;
  readonly #opened: readonly Closing[];

  private constructor(key: string, handler: RequestHandler, opened: readonly Closing[]) {
    this.key = key;
    this.#handler = handler;
    this.#opened = opened;
  }

  /** Opens the store at an address, which is made where it is missing. */
  static async open(storeUrl: string, nowMs: () => number = Date.now): Promise<LocalServer> {
    await (await openToWrite(storeUrl)).close();
    const control = await openControl(storeUrl, 'write');
    const store = await openStore(storeUrl, 'read');
    const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
    const handler = new RequestHandler({
      keys: new KeyRing(() => readKeys(control)),
      cache: new ResponseCache(store),
      quotas: new Quotas({
        addUses: (uses) => addQuotaUses(control, uses, nowMs),
        observe: () => undefined,
        nowMs,
      }),
      unsent: new UnsentBytes(),
      spool: new ParquetSpool(),
      pages: new Map(),
      startParquet,
      admits: () => true,
      submit: (request) => runner.run(request),
      address: { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' },
      version: '0.0.0',
      observe: () => undefined,
      nowMs,
    });
    const { secret } = await issueKey(control, 'test', noTerms, nowMs());
    return new LocalServer(secret, handler, [store, control]);
  }

  /** Asks for a path, or for a whole address of this service. */
  async get(address: string): Promise<Response> {
    // As a network does: a test may ask until something else has happened.
    await giveWay();
    const target = address.startsWith(this.url) ? address.slice(this.url.length) : address;
    return this.ask({ method: 'GET', target, headers: { host: 'localhost:8080' } });
  }

  /** Asks anything. */
  async ask(sent: Pick<HttpRequest, 'method' | 'target' | 'headers'>): Promise<Response> {
    const { status, headers, body, rest, release } = await this.#handler.handle({
      ...sent,
      isGone: () => false,
    });
    const pieces = [...body];
    for (let piece = await rest?.(); piece; piece = await rest?.()) pieces.push(piece);
    const bytes = Buffer.concat(pieces);
    release?.();
    return new Response(bytes.length > 0 ? bytes : null, { status, headers });
  }

  async close(): Promise<void> {
    for (const one of this.#opened) await one.close();
  }
}
