// Asks a service again and again while its database fails, and tells how it answered.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Server, Workshop } from '../service.ts';

/** One request and its answer. */
export type Asked = {
  readonly target: string;
  readonly sentMs: number;
  readonly tookMs: number;
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
};

/** The bounds of the design, and what a machine that does other work may take beside them. */
const ANSWER_MS = 2_000;
const READY_MS = 1_000;
const RETURN_MS = 5_000;
const SLACK_MS = 300;
const SLACK_FACTOR = 4;

/** Nothing takes longer, whatever the machine does. */
const GIVE_UP_MS = 20_000;

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
    const response = await this.#server.get(target, { headers, signal: AbortSignal.timeout(GIVE_UP_MS) });
    const body = await response.text();
    const tookMs = performance.now() - sentMs;
    const retryAfter = response.headers.get('retry-after');
    this.answers.push({ target, sentMs, tookMs, status: response.status, retryAfter, body });
  }

  /** Waits until everything is answered with 200; the time that it took. */
  async untilWell(): Promise<number> {
    const fromMs = performance.now();
    for (;;) {
      const wanted = new Set([...targets, '/readyz']);
      for (const { target, status, sentMs } of this.answers.toReversed()) {
        if (sentMs < fromMs) break;
        if (status === 200) wanted.delete(target);
      }
      const tookMs = performance.now() - fromMs;
      if (wanted.size === 0) return tookMs;
      assert.ok(tookMs < GIVE_UP_MS, `not well after ${tookMs} ms: ${[...wanted].join()}`);
      await sleep(PAUSE_MS);
    }
  }

  /** Ends once every request is answered; an answer that does not come is an error. */
  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /** What the machine takes in vain: health is answered from memory. */
  get slackMs(): number {
    const slowest = Math.max(...this.#of('/healthz').map(({ tookMs }) => tookMs));
    return SLACK_MS + SLACK_FACTOR * slowest;
  }

  #of(beginning: string): Asked[] {
    return this.answers.filter(({ target }) => target.startsWith(beginning));
  }

  /** What holds whatever happens to the database: answers are there soon, and are data or a refusal to be repeated. */
  checkAlways(): void {
    for (const { target, status, tookMs, retryAfter, body } of this.answers) {
      const what = `${target}: ${status} after ${Math.round(tookMs)} ms, with ${Math.round(this.slackMs)} ms of slack: ${body.slice(0, 300)}`;
      if (target === '/healthz') assert.equal(status, 200, what);
      else if (status !== 200) {
        assert.equal(status, 503, what);
        assert.match(retryAfter ?? '', /^[1-9]\d*$/, what);
        assert.equal(JSON.parse(body).detail.error, 'unavailable', what);
      }
      assert.ok(tookMs <= (target === '/readyz' ? READY_MS : ANSWER_MS) + this.slackMs, what);
    }
  }

  /** Between two moments nothing could be read. */
  checkAway(fromMs: number, toMs: number): void {
    const within = this.answers.filter(
      ({ target, sentMs, tookMs }) => target !== '/healthz' && fromMs <= sentMs && sentMs + tookMs <= toMs,
    );
    assert.ok(within.length > 0, 'the service was asked meanwhile');
    for (const { target, status } of within) assert.equal(status, 503, target);
  }

  /** The service was well again soon enough. */
  checkReturn(tookMs: number): void {
    assert.ok(tookMs <= RETURN_MS + this.slackMs, `well again after ${Math.round(tookMs)} ms`);
  }
}

type LogLine = {
  readonly msg: string;
  readonly time: number;
  readonly cause?: string;
  readonly where?: string;
};

/** The least time between two lines about an absent store: a second, less what timers are early. */
const AWAY_PAUSE_MS = 950;

/** What a service logs while its database fails: the cause, a line a second at most, and no fault. Gives the causes. */
export function checkLog({ log }: Server, secrets: readonly string[], since = 0): string[] {
  const lines = log.slice(since);
  for (const secret of secrets)
    assert.ok(!lines.some((line) => line.includes(secret)), 'a secret is in the log');
  const isJson = (line: string): boolean => line.startsWith('{');
  // Node itself writes otherwise.
  assert.deepEqual(
    lines.filter((line) => !isJson(line)),
    [],
  );
  const entries = lines.filter(isJson).map((line) => JSON.parse(line) as LogLine);
  assert.deepEqual(
    entries.filter(({ msg }) => msg === 'fault'),
    [],
  );
  const away = entries.filter(({ msg }) => msg === 'unavailable');
  for (const [at, { time }] of away.entries())
    if (at > 0) assert.ok(time - away[at - 1]!.time >= AWAY_PAUSE_MS, 'the cause is logged once a second');
  return away.map(({ cause }) => cause ?? '');
}
