// Callers of several servers over one store, and what they do beside other work.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server, Workshop } from '../service.ts';
import { until } from '../until.ts';

/** A result of the service with whatever records it holds. */
export type Result<Data> = { readonly data: Data; readonly next_page_url: string | null };

/** An answer in its envelope. */
export type Envelope<T> = { readonly reference: string | null; readonly result: T };

/** How often a request is tried that a busy service refuses. */
const TRIES_MAX = 120;

/** Requests of one key to several servers, each on a connection of its own, so that every worker is asked. */
export class Callers {
  readonly key: string;
  requests = 0;
  constructor(key: string) {
    this.key = key;
  }

  /** A good answer; who gets a 503 comes again (contract 6.3). */
  async ask<T>(url: string): Promise<Envelope<T>> {
    for (let left = TRIES_MAX; ; left--) {
      this.requests++;
      const answer = await fetch(url, { headers: { connection: 'close' } });
      const text = await answer.text();
      if (answer.status === 200) return JSON.parse(text) as Envelope<T>;
      assert.ok(answer.status === 503 && left > 0, text.slice(0, 300));
      await sleep(1_000 * Number(answer.headers.get('retry-after')));
    }
  }

  /** The data of each page of a whole walk. */
  async pages<Data>(url: string): Promise<Data[]> {
    const found: Data[] = [];
    for (let next: string | null = url; next !== null; ) {
      const { result }: Envelope<Result<Data>> = await this.ask(next);
      found.push(result.data);
      next = result.next_page_url;
    }
    return found;
  }

  /** Minute bars of a symbol. */
  barsUrl(server: Server, symbol: string, from: string, to: string, rest: string): string {
    return `${server.url}/api/v2/stock/bars/US:${symbol}/1M/from/${from}/to/${to}?secret_key=${this.key}&${rest}`;
  }

  /** The instants of the bars of a whole walk. */
  async walkBars(url: string): Promise<number[]> {
    const pages = await this.pages<readonly { datetime: string }[]>(url);
    return pages.flat().map((bar) => Date.parse(bar.datetime));
  }
}

/** Runs `look` again and again beside `work`, at least once, with a pause in between; how often. */
export async function beside(
  work: { readonly done: boolean },
  look: () => Promise<unknown>,
  pauseMs = 0,
): Promise<number> {
  let times = 0;
  do {
    await look();
    times++;
    if (pauseMs > 0) await sleep(pauseMs);
  } while (!work.done);
  return times;
}

/** Servers over one store: two workers, and a process apart. */
export async function serversOf(shop: Workshop): Promise<Server[]> {
  const servers = [await shop.serve('--workers', '2'), await shop.serve()];
  await until('two workers', () => servers[0]!.listeningPids.length === 2);
  return servers;
}
