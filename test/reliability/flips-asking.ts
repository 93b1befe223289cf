// What the flips ask of a store: every endpoint by the request handler, every export, the content hash, the
// state, and undo.

import { startParquet } from '../../src/queries/export/parquet-process.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { ResponseCache } from '../../src/serve/cache/response-cache.ts';
import { RequestHandler } from '../../src/serve/handler.ts';
import { UnsentBytes } from '../../src/serve/outgoing/unsent-bytes.ts';
import { matchRoute } from '../../src/serve/route.ts';
import { ParquetSpool } from '../../src/serve/spool/parquet-spool.ts';
import type { Store } from '../../src/store/store.ts';
import { ASKED_MS } from './flips-data.ts';

const SECRET = 'flips-flips-flips-flips-flips-flips';
const key = {
  ...{ key_id: 'flips', name: 'flips', hash: new Uint8Array(), created_ms: 0, expires_ms: null },
  ...{ per_minute: null, per_day: null, revoked_ms: null, last_used_ms: null, as_of_ms: null, scope: null },
};

/** An answer as it came; `why` has the cause of a fault. */
export type Got = { readonly status: number; readonly body: Buffer; readonly why: string };

/** A service over an open store, with caches of its own, as a server that has just started. */
export class Service {
  readonly #handler: RequestHandler;
  #fault = '';

  constructor(store: Store) {
    const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
    this.#handler = new RequestHandler({
      unsent: new UnsentBytes(),
      pages: new Map(),
      keys: { verify: async () => key, holds: () => true },
      quotas: { count: () => null, countNow: () => null },
      cache: new ResponseCache(store),
      admits: () => true,
      spool: new ParquetSpool(),
      startParquet,
      submit: (request) => runner.run(request),
      address: { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' },
      version: '0.0.0',
      observe: (observation) => {
        if (observation.kind === 'fault') this.#fault = observation.cause;
      },
      nowMs: () => ASKED_MS,
    });
  }

  async get(target: string): Promise<Got> {
    const response = await this.#handler.handle({
      method: 'GET',
      target,
      headers: { host: 'localhost', authorization: `Bearer ${SECRET}`, 'x-request-id': 'flips' },
      isGone: () => false,
    });
    // The memory of a body may be used again.
    const pieces = [Buffer.concat(response.body)];
    try {
      for (let piece = await response.rest?.(); piece; piece = await response.rest?.())
        pieces.push(Buffer.from(piece));
    } catch (error) {
      // What has begun is cut off: the caller sees no end.
      return { status: 500, body: Buffer.alloc(0), why: String(error) };
    } finally {
      response.release?.();
    }
    const { status } = response;
    return { status, body: Buffer.concat(pieces), why: status < 500 ? '' : this.#fault };
  }
}

type Result = Readonly<Record<string, unknown>>;

/** A page of any endpoint: its records as texts, and the target of the next page. */
export function pageOf(target: string, body: Buffer): { rows: string[]; next: string | null } {
  const { shape, isStreamed } = matchRoute(target.split('?')[0]!)!.route.endpoint;
  if (isStreamed) return { rows: body.toString().split('\r\n'), next: null };
  const { result } = JSON.parse(body.toString()) as { result: Result };
  const next = (result.next_page_url ?? null) as string | null;
  return {
    rows: rowsOf(shape, result).map((row) => JSON.stringify(row)),
    next: next === null ? null : next.replace(/^http:\/\/[^/]+/, ''),
  };
}

function rowsOf(shape: string, result: Result): unknown[] {
  if (shape === 'single') return [result];
  if (shape === 'array') return result as unknown as unknown[];
  if (shape === 'map') return Object.entries(result);
  const { data } = result;
  return Array.isArray(data) ? data : Object.entries(data as Result).flatMap(rowsOfGroup);
}

/** The contracts of one expiration of an option search. */
const rowsOfGroup = ([name, group]: [string, unknown]): unknown[] =>
  Array.isArray(group) ? group.map((row) => [name, row]) : [[name, group]];
