// A server under mixed load while another process imports every minute: its memory, files and latencies are
// to stay as they are.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { minuteTexts, random, SESSION_MINUTES, symbolOf, writeMinutes } from '../../bench/minutes.ts';
import { bourse, freePort, type Running, startServer } from '../../bench/process.ts';
import { readExposition, type Sample } from '../exposition.ts';
import { Workshop } from '../service.ts';
import { fill, mixed } from './load.ts';
import type { Figure } from './minutes.ts';
import { figuresOf, type Minute } from './soak-figures.ts';
import { initOf, type Sent, surfaces } from './surfaces.ts';

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

/** Pages of further symbols that are asked for. */
const FURTHER_SYMBOLS = 5_000;
const FURTHER_PAGES = 3_000;
const MEMORY_MS = 5_000;
const MEGABYTE = 1024 * 1024;

/** Answers by status, and the times of those of the present minute. */
type Work = { isDone: boolean; readonly statuses: Map<number, number>; timesMs: number[] };

async function ask(server: Running, target: string, init: RequestInit, work: Work): Promise<void> {
  const startedMs = performance.now();
  const response = await fetch(server.url + target, init);
  await response.arrayBuffer();
  work.timesMs.push(performance.now() - startedMs);
  work.statuses.set(response.status, (work.statuses.get(response.status) ?? 0) + 1);
  await sleep(PAUSE_MS);
}

/** Asks for targets one after the other, every third in gzip. */
async function call(server: Running, targets: readonly string[], first: number, work: Work): Promise<void> {
  for (let turn = first; !work.isDone; turn++) {
    const encoding = turn % 3 === 0 ? 'gzip' : 'identity';
    const headers = { 'Accept-Encoding': encoding };
    await ask(server, targets[turn % targets.length]!, { headers }, work);
  }
}

/** Asks each surface in turn, and for pages as they were before all imports of the soak. */
async function callSurfaces(server: Running, key: string, work: Work): Promise<void> {
  const symbol = symbolOf(1);
  const page = { target: `/api/v2/stock/bars/US:${symbol}/DAY/from/2015-01-01/to/2030-01-01?` };
  let version: string | null = null;
  // A refusal under load has no version.
  while (version === null)
    version = (await fetch(server.url + page.target, initOf(page, key))).headers.get('x-data-version');
  const past = { target: `${page.target}data_version=${version}` };
  const all = [...Object.values(surfaces(symbol)), (): Sent => past];
  for (let turn = 0; !work.isDone; turn++) {
    const sent = all[turn % all.length]!(turn);
    await ask(server, sent.target, initOf(sent, key), work);
  }
}

const residentMegabytes = ({ pid }: Running): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;

function measure({ pid }: Running, timesMs: readonly number[], memory: readonly number[]): Minute {
  const sorted = timesMs.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))]!;
  return {
    megabytes: memory.reduce((sum, value) => sum + value, 0) / memory.length,
    mostMegabytes: Math.max(...memory),
    files: readdirSync(`/proc/${pid}/fd`).length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    answers: sorted.length,
  };
}

/** Memory by kind, as the metrics tell it, in MB. */
async function memoryByKind(metricsPort: number): Promise<Record<string, number>> {
  const found = readExposition(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
  const samplesOf = (name: string): readonly Sample[] => found.get(name)!.samples;
  const kinds = [...samplesOf('bourse_cached_answers_bytes'), ...samplesOf('bourse_thread_memory_bytes')];
  const nameOf = ({ labels }: Sample): string => Object.values(labels).join(' ') || 'cached answers';
  return Object.fromEntries(kinds.map((one) => [nameOf(one), Math.round(one.value / MEGABYTE)]));
}

/** Imports the next minutes of every symbol, and now and then undoes that. */
async function importNext(shop: Workshop, round: number, filledRuns: number): Promise<void> {
  const path = shop.path(`round-${round}.csv`);
  const firstMinute = STORED_MINUTES + round * ADDED_MINUTES;
  writeMinutes({ path, rows: SYMBOLS * ADDED_MINUTES, order: 'time', symbols: SYMBOLS, firstMinute });
  await shop.must('import', 'bars', path, '--schema', 'stock', '--country', 'US', '--interval', '1M');
  if (round % UNDO_EVERY === UNDO_EVERY - 1) await shop.must('undo', String(filledRuns + round + 1));
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

/**
 * Imports bars of further symbols, and gives pages of them: the store is larger, and what is asked for is
 * spread over it.
 */
async function addFurther(shop: Workshop, bars: number, page: string): Promise<string[]> {
  const path = shop.path('further.csv');
  writeMinutes({ path, rows: bars, order: 'symbol', symbols: FURTHER_SYMBOLS });
  await shop.must('import', 'bars', path, '--schema', 'stock', '--country', 'US', '--interval', '1M');
  const starts = minuteTexts(Math.ceil(bars / FURTHER_SYMBOLS));
  const next = random(11);
  return Array.from({ length: FURTHER_PAGES }, () => {
    const symbol = symbolOf(SYMBOLS + Math.floor(next() * (FURTHER_SYMBOLS - SYMBOLS)));
    const from = starts[Math.floor(next() * starts.length)]!;
    return page.replace(/US:\w+/, `US:${symbol}`).replace(/from\/[^/]+/, `from/${from}`);
  });
}

/** How long to run, the time from one import to the next, and how many further bars the store has. */
type Settings = { readonly minutes: number; readonly importSeconds: number; readonly furtherBars: number };

/**
 * Runs for some minutes and compares the last quarter with the second. @throws where an answer was no answer
 */
export async function checkSoak({ minutes, importSeconds, furtherBars }: Settings): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    const pages = await fill(shop, SLOW_SESSIONS);
    const further = furtherBars > 0 ? await addFurther(shop, furtherBars, pages.fast[0]!) : [];
    const filledRuns = FILLED_RUNS + Math.sign(furtherBars);
    const targets = [...targetsOf(mixed(pages)), ...further];
    const metricsPort = await freePort();
    const words = ['serve', '--store', shop.store, '--log-level', 'silent', '--scrub-hours', '1'];
    words.push('--metrics-port', String(metricsPort));
    const server = await startServer(shop.folder, bourse, words);
    const work: Work = { isDone: false, statuses: new Map(), timesMs: [] };
    const apart = Math.floor(targets.length / CALLERS);
    const callers = Array.from({ length: CALLERS }, (_, caller) =>
      call(server, targets, caller * apart, work),
    );
    callers.push(callSurfaces(server, await shop.must('keys', 'create', 'surfaces'), work));
    const importing = importUntilDone(shop, importSeconds * 1_000, filledRuns, work);
    const measured: Minute[] = [];
    while (measured.length < minutes) {
      const memory: number[] = [];
      for (let waitedMs = 0; waitedMs < MINUTE_MS; waitedMs += MEMORY_MS) {
        // What fails stops the check.
        await Promise.race([sleep(MEMORY_MS), ...callers, importing]);
        memory.push(residentMegabytes(server));
      }
      measured.push(measure(server, work.timesMs, memory));
      work.timesMs = [];
      const told = { ...measured.at(-1), ...(await memoryByKind(metricsPort)) };
      process.stderr.write(`${JSON.stringify(told)}\n`);
    }
    work.isDone = true;
    await Promise.all([...callers, importing]);
    await server.stop();
    const odd = [...work.statuses.keys()].filter((status) => status !== 200 && status !== 503);
    assert.deepEqual(odd, []);
    return figuresOf(measured, work.statuses.get(503) ?? 0);
  } finally {
    shop.close();
  }
}

/** Imports again and again, from the beginning of one import to that of the next. */
async function importUntilDone(
  shop: Workshop,
  everyMs: number,
  filledRuns: number,
  work: Work,
): Promise<void> {
  for (let round = 0; !work.isDone; round++) {
    const nextMs = performance.now() + everyMs;
    await importNext(shop, round, filledRuns);
    while (!work.isDone && performance.now() < nextMs) await sleep(Math.min(everyMs, 200));
  }
}
