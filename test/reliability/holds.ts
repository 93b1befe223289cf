// The longest turn of the HTTP thread's event loop that one caller's bytes can cause, by kind of bytes and in
// processor time: a serving process in this thread, the caller in another.
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as setImmediatePromise } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { readSettings } from '../../src/cli/config.ts';
import { startService } from '../../src/cli/serve/serving.ts';
import { fillings } from '../fuzz/store.ts';
import { fillStore } from '../importing.ts';
import { Workshop } from '../service.ts';
import type { HoldingWrites } from './holds-caller.ts';
import { aimed, type Figure } from './minutes.ts';

/** No bytes of one caller may hold the HTTP thread for longer. */
const HOLD_TARGET_MS = 5;

/** Node.js reads so many bytes at once. */
const READ_BYTES = 65_536;

const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

const filledTo = (length: number, piece: string): string =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);

const head = (target: string, headers = '', method = 'GET'): string =>
  `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;

const CHUNKED = 'Transfer-Encoding: chunked\r\n';

/** All that is read at once: a beginning, and as often as it fits a piece. */
const packet = (piece: string, begin = ''): string => begin + filledTo(READ_BYTES - begin.length, piece);

/** The writes of one caller, by their kind. */
function kindsOf(key: string): Readonly<Record<string, readonly string[]>> {
  const wanted = `${DAY}?secret_key=${key}`;
  const long = (header: string, piece: string): string[] => [
    head(wanted, `${header}: ${filledTo(31_000, piece)}\r\n`),
  ];
  const pipelined = (headers: string, version = '1.1'): string[] => [
    packet(`GET / HTTP/${version}\r\n${headers}\r\n`),
  ];
  const chunked = head(wanted, CHUNKED);
  return {
    'an ordinary request': [head(wanted)],
    'a header of 31 kB': long('X', 'x'),
    'a Forwarded header of 31 kB': long('Forwarded', 'a=b;'),
    'an Accept header of 31 kB': long('Accept', '*/*,'),
    'many headers': [head(wanted, Array.from({ length: 1_990 }, (_, index) => `a${index}: b\r\n`).join(''))],
    'many equal headers': [head(wanted, 'a: b\r\n'.repeat(1_990))],
    'too many headers': [head(wanted, 'a:b\r\n'.repeat(6_500))],
    'an address of 8 kB': [head(`${wanted}&${filledTo(7_900, 'a=b&')}`)],
    'an address of 30 kB': [head(`${wanted}&${filledTo(30_000, 'a=b&')}`)],
    'a parameter of 7 kB': [head(`${wanted}&limit=${filledTo(7_800, '%2')}`)],
    'a page key of 7 kB': [head(`${wanted}&next_page_key=${filledTo(7_800, 'a-_')}`)],
    'a body of 64 kB': [packet('x', head(wanted, 'Content-Length: 65000\r\n'))],
    'chunks of one byte': [packet('1\r\nx\r\n', chunked)],
    'chunks of one byte of a POST': [packet('1\r\nx\r\n', head(wanted, CHUNKED, 'POST'))],
    'chunks of one byte after the head': [chunked, packet('1\r\nx\r\n')],
    'chunks with extensions': [packet('1;a=b\r\nx\r\n', chunked)],
    trailers: [`${chunked}0\r\n${'a:b\r\n'.repeat(5_000)}\r\n`],
    'pipelined, the shortest': pipelined(''),
    'pipelined HTTP/1.0': pipelined('Connection: keep-alive\r\n', '1.0'),
    'pipelined with a host': pipelined('Host: localhost\r\n'),
    'pipelined with data': [packet(head(wanted))],
    'pipelined with a wrong key': [packet(head(`${DAY}?secret_key=x`))],
    'pipelined with bodies': [packet('GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\nx')],
    'pipelined with Expect': pipelined('Expect: 100-continue\r\n'),
    'empty lines': [packet('\r\n')],
    'not HTTP': [packet('x')],
  };
}

/** The longest turn of some bytes, and the longest without the collections of garbage that came into it. */
type Hold = { readonly wholeMs: number; readonly ownMs: number };

/**
 * Measures turns of this thread's event loop while it runs: each from one check phase to the next. By the
 * clock or the processor, whichever tells less: the clock counts other work of the machine, the processor's
 * time comes in steps of some milliseconds. A caller waits for the whole turn. What of it was a collection of
 * garbage, of all requests since the last, is told beside it.
 */
class TurnMeter {
  readonly #turns: { readonly beganMs: number; readonly endedMs: number; readonly tookMs: number }[] = [];
  readonly #collections: { readonly startTime: number; readonly duration: number }[] = [];
  readonly #observer = new PerformanceObserver((list) => this.#collections.push(...list.getEntries()));
  #isOn = true;
  #used = process.threadCpuUsage();
  #beganMs = performance.now();

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    const endedMs = performance.now();
    const { user, system } = process.threadCpuUsage(this.#used);
    const tookMs = Math.min(endedMs - this.#beganMs, (user + system) / 1_000);
    this.#turns.push({ beganMs: this.#beganMs, endedMs, tookMs });
    this.#used = process.threadCpuUsage();
    this.#beganMs = performance.now();
    if (this.#isOn) setImmediate(() => this.#turn());
  }

  async stop(): Promise<Hold> {
    this.#isOn = false;
    // Collections are told a turn or two later.
    for (let turn = 0; turn < 5; turn++) await setImmediatePromise();
    this.#collections.push(...this.#observer.takeRecords());
    this.#observer.disconnect();
    const garbageIn = (beganMs: number, endedMs: number): number =>
      this.#collections
        .filter(({ startTime }) => startTime >= beganMs && startTime < endedMs)
        .reduce((sum, { duration }) => sum + duration, 0);
    const own = this.#turns.map(({ beganMs, endedMs, tookMs }) => tookMs - garbageIn(beganMs, endedMs));
    return { ownMs: Math.max(...own), wholeMs: Math.max(...this.#turns.map(({ tookMs }) => tookMs)) };
  }
}

/** The longest turn of each kind of bytes, in so many trials. */
export async function checkHolds({ times }: { readonly times: number }): Promise<Figure[]> {
  const shop = new Workshop();
  await fillStore(shop.store, shop.folder, Date.now(), fillings);
  const key = await shop.must('keys', 'create', 'holds');
  const settings = { ...readSettings({ port: '0', logLevel: 'silent' }), store: shop.store };
  const service = await startService(settings);
  const port = Number(new URL(service.url).port);
  const caller = new Worker(new URL('./holds-caller.ts', import.meta.url));
  const worstOf = async (writes: readonly string[]): Promise<Hold> => {
    const meter = new TurnMeter();
    caller.postMessage({ port, writes } satisfies HoldingWrites);
    await new Promise((resolve) => caller.once('message', resolve));
    return meter.stop();
  };
  const figures: Figure[] = [];
  const kinds = kindsOf(key);
  try {
    // The first request of a process also loads and compiles what answers it.
    for (const writes of Object.values(kinds)) await worstOf(writes);
    for (const [kind, writes] of Object.entries(kinds)) {
      const holds: Hold[] = [];
      for (let count = 0; count < times; count++) holds.push(await worstOf(writes));
      const worst = holds.map(({ wholeMs }) => wholeMs).sort((a, b) => a - b);
      const [least, middle, most] = [0, times >> 1, times - 1].map((index) => worst[index]!.toFixed(1));
      const own = Math.max(...holds.map(({ ownMs }) => ownMs)).toFixed(1);
      const value = `${least} least, ${middle} in the middle, ${most} ms at the most; ${own} ms without garbage`;
      figures.push(aimed(kind, value, worst.at(-1)! <= HOLD_TARGET_MS, `at most ${HOLD_TARGET_MS} ms`));
    }
  } finally {
    await caller.terminate();
    await service.stop('measured');
    shop.close();
  }
  return figures;
}
