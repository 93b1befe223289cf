// A server under load: what it holds, what is asked of it, and the generator that asks.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { minuteTexts, SESSION_MINUTES, symbolOf, writeMinutes } from '../../bench/minutes.ts';
import type { Workshop } from '../service.ts';
import type { Outcome, Plan } from './arrivals.ts';

const SYMBOLS = 20;
const MINUTES = 5 * SESSION_MINUTES;
const FAST_TARGETS = 997;
const SLOW_TARGETS = 997;
const SLOW_PAGE_MINUTES = 6_000;

/**
 * Requests to ask in turn: pages of 150 minutes; and pages that fold 6,000 minutes each. Bars made of so few
 * are not kept, and there are too many of these pages for the response cache.
 */
export type Targets = { readonly fast: readonly string[]; readonly slow: readonly string[] };

/**
 * Fills a workshop's store: some symbols with a few sessions, and one with as many as the slow requests read
 * of.
 */
export async function fill(shop: Workshop, slowSessions: number): Promise<Targets> {
  const named = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
  const files = [
    { path: shop.path('some.csv'), symbols: SYMBOLS, rows: SYMBOLS * MINUTES },
    { path: shop.path('long.csv'), symbols: 1, rows: slowSessions * SESSION_MINUTES },
  ];
  for (const file of files) {
    writeMinutes({ ...file, order: 'symbol' });
    await shop.must('import', 'bars', file.path, ...named);
  }
  const key = `secret_key=${await shop.must('keys', 'create', 'load')}`;
  const starts = minuteTexts(MINUTES - 150);
  const fast = Array.from({ length: FAST_TARGETS }, (_, index) => {
    const symbol = symbolOf(1 + (index % (SYMBOLS - 1)));
    return `/api/v2/stock/bars/US:${symbol}/1M/from/${starts[(index * 37) % starts.length]}/to/2030-01-01?limit=150&${key}`;
  });
  const ends = minuteTexts(slowSessions * SESSION_MINUTES).slice(SLOW_PAGE_MINUTES);
  const slow = Array.from({ length: SLOW_TARGETS }, (_, index) => {
    const end = ends[(index * 389) % ends.length];
    return `/api/v2/stock/bars/US:${symbolOf(0)}/6M/from/2015-01-01/to/${end}?limit=1000&sort=desc&${key}`;
  });
  return { fast, slow };
}

/** A page of as many minutes as there may be: 270 kB. */
export const largePage = ({ fast }: Targets): string => fast[0]!.replace('limit=150', 'limit=1000');

/** Every target once, a slow one before each hundredth. */
export const mixed = ({ fast, slow }: Targets): string[] =>
  fast.flatMap((target, index) => (index % 100 === 0 ? [slow[index]!, target] : [target]));

/** Runs a plan in a process of its own. @throws when that fails */
export async function generate(plan: Plan): Promise<Outcome[]> {
  const child = spawn(process.execPath, [new URL('./arrivals.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(plan));
  return JSON.parse(await text(child.stdout)) as Outcome[];
}
