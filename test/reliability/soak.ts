// A server under mixed load while another process imports every minute: its memory, files and latencies are to stay as they are.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SESSION_MINUTES, symbolOf, writeMinutes } from '../../bench/minutes.ts';
import { bourse, type Running, startServer } from '../../bench/process.ts';
import { Workshop } from '../service.ts';
import { fill, mixed } from './load.ts';
import type { Figure } from './minutes.ts';

const SYMBOLS = 20;
/** Minutes of each symbol that are stored before, and those that each import adds. */
const STORED_MINUTES = 5 * SESSION_MINUTES;
const ADDED_MINUTES = 30;
const SLOW_SESSIONS = 250;
const CALLERS = 4;
const PAUSE_MS = 10;
const MINUTE_MS = 60_000;
/** Every so many-th import is undone. */
const UNDO_EVERY = 5;
/** Runs that filled the store. */
const FILLED_RUNS = 2;

/** What one minute came to. */
type Minute = {
  readonly megabytes: number;
  readonly files: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
};

/** Answers by status, and the times of those of the present minute. */
type Work = { isDone: boolean; readonly statuses: Map<number, number>; timesMs: number[] };

/** Asks for targets one after the other, every third in gzip. */
async function call(server: Running, targets: readonly string[], first: number, work: Work): Promise<void> {
  for (let turn = first; !work.isDone; turn++) {
    const encoding = turn % 3 === 0 ? 'gzip' : 'identity';
    const startedMs = performance.now();
    const response = await fetch(server.url + targets[turn % targets.length]!, {
      headers: { 'Accept-Encoding': encoding },
    });
    await response.arrayBuffer();
    work.timesMs.push(performance.now() - startedMs);
    work.statuses.set(response.status, (work.statuses.get(response.status) ?? 0) + 1);
    await sleep(PAUSE_MS);
  }
}

function measure({ pid }: Running, timesMs: readonly number[]): Minute {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const files = readdirSync(`/proc/${pid}/fd`).length;
  return {
    megabytes: Number(resident![1]) / 1024,
    files,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answers: sorted.length,
  };
}

/** Imports the next minutes of every symbol, and now and then undoes that. */
async function importNext(shop: Workshop, round: number): Promise<void> {
  const path = shop.path(`round-${round}.csv`);
  const firstMinute = STORED_MINUTES + round * ADDED_MINUTES;
  writeMinutes({ path, rows: SYMBOLS * ADDED_MINUTES, order: 'time', symbols: SYMBOLS, firstMinute });
  await shop.must('import', 'bars', path, '--schema', 'stock', '--country', 'US', '--interval', '1M');
  if (round % UNDO_EVERY === UNDO_EVERY - 1) await shop.must('undo', String(FILLED_RUNS + round + 1));
}

/** Pages of minutes, derived bars of every kind, and other endpoints, with one key. */
function targetsOf(pages: readonly string[]): string[] {
  const key = /secret_key=[^&]+/.exec(pages[0]!)![0];
  const others = Array.from({ length: SYMBOLS }, (_, index) => {
    const name = `US:${symbolOf(index)}`;
    const range = 'from/2015-01-01/to/2030-01-01';
    return [
      `/api/v2/stock/bars/${name}/60M/${range}?limit=100&${key}`,
      `/api/v2/stock/bars/${name}/1M/latest?limit=100&${key}`,
      `/api/v2/stock/bars/${name}/DAY/${range}?is_eth=true&sort=desc&limit=20&${key}`,
      `/api/v2/stock/bars/${name}/WEEK/latest?format=csv&${key}`,
      `/api/v2/stock/reference/${name}?${key}`,
      `/api/v2/stock/reference/search?query=${symbolOf(index)}&${key}`,
      `/api/v2/holiday/list?full_symbol=stock:US:*&from_date=20${10 + index}-01-01&${key}`,
      `/api/v2/economic_calendar/event_codes/US?${key}`,
    ];
  });
  return pages.flatMap((page, index) =>
    index % 4 === 0 ? [page, others.flat()[(index / 4) % 160]!] : [page],
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Runs for some minutes and compares the last quarter with the second. @throws where an answer was no answer */
export async function checkSoak({ minutes }: { readonly minutes: number }): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const targets = targetsOf(mixed(await fill(shop, SLOW_SESSIONS)));
    const words = ['serve', '--store', shop.store, '--log-level', 'silent', '--scrub-hours', '1'];
    const server = await startServer(shop.folder, bourse, words);
    const work: Work = { isDone: false, statuses: new Map(), timesMs: [] };
    const callers = Array.from({ length: CALLERS }, (_, caller) => call(server, targets, caller * 97, work));
    const measured: Minute[] = [];
    for (let round = 0; round < minutes; round++) {
      const startedMs = performance.now();
      await importNext(shop, round);
      await sleep(Math.max(0, MINUTE_MS - (performance.now() - startedMs)));
      measured.push(measure(server, work.timesMs));
      work.timesMs = [];
      process.stderr.write(`${JSON.stringify(measured.at(-1))}\n`);
    }
    work.isDone = true;
    await Promise.all(callers);
    await server.stop();
    const odd = [...work.statuses.keys()].filter((status) => status !== 200 && status !== 503);
    assert.deepEqual(odd, []);
    return [...figuresOf(measured), ['refused under load', String(work.statuses.get(503) ?? 0)]];
  } finally {
    shop.close();
  }
}

function figuresOf(measured: readonly Minute[]): Figure[] {
  const quarter = Math.max(1, Math.floor(measured.length / 4));
  const [early, late] = [measured.slice(quarter, 2 * quarter), measured.slice(-quarter)];
  const both = (figure: keyof Minute): string =>
    [early, late].map((part) => mean(part.map((minute) => minute[figure])).toFixed(1)).join(' -> ');
  return [
    ['minutes', String(measured.length)],
    ['answers', String(measured.reduce((sum, { answers }) => sum + answers, 0))],
    ['memory in MB, second quarter -> last', both('megabytes')],
    ['open files', both('files')],
    ['p50 in ms', both('p50Ms')],
    ['p99 in ms', both('p99Ms')],
    ['most memory in MB', Math.max(...measured.map(({ megabytes }) => megabytes)).toFixed(0)],
  ];
}
