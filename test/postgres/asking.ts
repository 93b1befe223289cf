// Asks a service again and again while its database fails, and checks how it answers.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server, Workshop } from '../service.ts';
import { until } from '../until.ts';

/** One request and its answer. */
export type Asked = {
  readonly target: string;
  readonly sentMs: number;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
};

/** A request without an answer for so long is one that hangs. */
const GIVE_UP_MS = 110_000;

const PAUSE_MS = 60;

/** Requests for data, of bars and of lists, cached and not. */
const targets = [
  '/api/v2/stock/bars/US:AAPL/1M/from/2025-02-03T14:30:00Z/to/2025-02-04T20:00:00Z?limit=50',
  '/api/v2/stock/bars/US:AAPL/5M/latest?limit=20',
  '/api/v2/stock/bars/US:MSFT/DAY/latest?limit=5',
  '/api/v2/economic_calendar/event_codes/US',
];

/** Bars of some sessions of two stocks: every open is `price`, so that a mixture of two imports shows. */
export function minutesOf(price: number, sessions = 2): string {
  const rows = ['AAPL', 'MSFT'].flatMap((symbol) =>
    Array.from({ length: sessions * 390 }, (_, index) => {
      const ms = Date.UTC(2025, 1, 3 + Math.floor(index / 390), 14, 30 + (index % 390));
      return `${symbol},${new Date(ms).toISOString()},${price},${price},${price},${price},${index}`;
    }),
  );
  return `symbol,datetime,open,high,low,close,volume\n${rows.join('\n')}\n`;
}

export const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** Writes a file of bars; its path. */
export function barsFile(shop: Workshop, price: number, sessions = 2): string {
  const path = shop.path(`bars-${price}.csv`);
  writeFileSync(path, minutesOf(price, sessions));
  return path;
}

/** Asks one service for data, for its health and for its readiness, all the time. */
export class Asking {
  readonly answers: Asked[] = [];
  readonly #server: Server;
  readonly #key: string;
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(server: Server, key: string, others: readonly string[] = []) {
    this.#server = server;
    this.#key = key;
    this.#loops = [...targets, ...others, '/healthz', '/readyz'].map((target) => this.#loop(target));
  }

  async #loop(target: string): Promise<void> {
    while (!this.#isOver) {
      await this.#ask(target);
      await sleep(PAUSE_MS);
    }
  }

  async #ask(target: string): Promise<void> {
    const sentMs = performance.now();
    const headers = target.startsWith('/api/') ? { authorization: `Bearer ${this.#key}` } : {};
    const response = await this.#server.getOnce(target, { headers, signal: AbortSignal.timeout(GIVE_UP_MS) });
    const body = await response.text();
    const retryAfter = response.headers.get('retry-after');
    this.answers.push({ target, sentMs, status: response.status, retryAfter, body });
  }

  /** Waits until everything that is asked from now on is answered with 200. */
  untilWell(): Promise<void> {
    return this.#untilAll(200);
  }

  /** Waits until everything that is asked from now on is refused. What is asked after that is refused too. */
  async untilAway(): Promise<void> {
    await this.#untilAll(503);
    const fromMs = performance.now();
    await this.#untilAll(503);
    for (const { target, status, sentMs } of this.answers)
      if (target !== '/healthz' && sentMs >= fromMs) assert.equal(status, 503, target);
  }

  async #untilAll(status: number): Promise<void> {
    const fromMs = performance.now();
    const wanted = new Set([...targets, '/readyz']);
    await until(
      () => `answered with ${status}: ${[...wanted].join()}`,
      () => {
        for (const answer of this.answers.toReversed()) {
          if (answer.sentMs < fromMs) break;
          if (answer.status === status) wanted.delete(answer.target);
        }
        return wanted.size === 0;
      },
    );
  }

  /** Ends once every request is answered; an answer that does not come is an error. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /**
   * Every request is answered, whatever happens to the database: with data, or with a refusal that says when
   * to ask again.
   */
  checkAlways(): void {
    for (const { target, status, retryAfter, body } of this.answers) {
      const what = `${target}: ${status}: ${body.slice(0, 300)}`;
      if (target === '/healthz') assert.equal(status, 200, what);
      else if (status !== 200) {
        assert.equal(status, 503, what);
        assert.match(retryAfter ?? '', /^[1-9]\d*$/, what);
        assert.equal(JSON.parse(body).detail.error, 'unavailable', what);
      }
    }
  }
}

type LogLine = { readonly msg: string; readonly cause?: string; readonly where?: string };

const linesOf = (log: readonly string[]): LogLine[] =>
  log.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as LogLine);

/** What the log names as causes of refusals. */
export const causesIn = (log: readonly string[]): string[] =>
  linesOf(log)
    .filter(({ msg }) => msg === 'unavailable')
    .map(({ cause }) => cause ?? '');

/**
 * What a service logs in a time while its database fails: the cause, a line a second at most, and no fault.
 */
export function checkLog(log: readonly string[], secrets: readonly string[], tookMs: number): void {
  for (const secret of secrets)
    assert.ok(!log.some((line) => line.includes(secret)), 'a secret is in the log');
  // Node itself writes otherwise.
  assert.deepEqual(
    log.filter((line) => !line.startsWith('{')),
    [],
  );
  assert.deepEqual(
    linesOf(log).filter(({ msg }) => msg === 'fault'),
    [],
  );
  const lines = causesIn(log).length;
  assert.ok(lines <= Math.floor(tookMs / 1_000) + 1, `${lines} lines about the cause in ${tookMs} ms`);
}
