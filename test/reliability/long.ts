// `npm run overload`: overload, stops and slow readers in full, as tables. Takes about a quarter of an hour,
// on a quiet machine.
import { formatTable } from '../../src/cli/shared/output.ts';
import { httpLimits } from '../../src/serve/limits.ts';
import { Workshop } from '../service.ts';
import type { Latencies } from './arrivals.ts';
import { crowdAtStart } from './crowd-at-start.ts';
import { fill, largePage, mixed } from './load.ts';
import { type Figures, type Overload, overload } from './overload.ts';
import { slowReaders } from './slow-readers.ts';
import { type Stopped, stopUnderLoad } from './stop.ts';

const SECONDS = 30;
/** Ten years of one symbol. */
const SLOW_SESSIONS = 2_570;
const STOPS = 20;
const STOP_PER_SECOND = 800;
/** Only a connection that was not taken when the listener closed may be reset: so many at each stop. */
const RESET_MAX = 10;
const SLOW_READERS = 200;

const tell = (text: string): void => void process.stdout.write(`${text}\n`);
const ms = ({ p50, p99, max }: Latencies): string =>
  [p50, p99, max].map((time) => time.toFixed(0)).join(' / ');
let allWell = true;

/** Whether a run keeps what is promised. */
function isWell(figures: Figures): boolean {
  const { goodput, servedMs, refusedMs, failures, p50BeforeMs, p50AfterMs } = figures;
  const isBounded = servedMs.p99 <= 500 && refusedMs.p99 <= 50 && p50AfterMs <= 1.5 * p50BeforeMs;
  return isBounded && goodput >= 0.8 && failures.length === 0;
}

const HEAD = [
  ...['LOAD', 'TIMES', 'WORKERS', 'PEAK/S', 'ASKED/S', 'GOODPUT', 'SERVED MS', 'REFUSED MS'],
  ...['P50 BEFORE', 'AFTER', 'MB', 'GENERATOR', 'FAILURES', ''],
];

function rowOf(name: string, { timesPeak, workers }: Overload, figures: Figures): string[] {
  allWell &&= isWell(figures);
  return [
    ...[name, String(timesPeak), String(workers), figures.peakPerSecond.toFixed(0)],
    ...[figures.askedPerSecond.toFixed(0), figures.goodput.toFixed(2)],
    ...[ms(figures.servedMs), ms(figures.refusedMs)],
    ...[figures.p50BeforeMs.toFixed(1), figures.p50AfterMs.toFixed(1)],
    ...[String(figures.residentPeakMegabytes), figures.generator.toFixed(2)],
    ...[figures.failures.join('; ') || '-', isWell(figures) ? 'ok' : 'miss'],
  ];
}

async function overloads(shop: Workshop, loads: Readonly<Record<string, readonly string[]>>): Promise<void> {
  const rows: string[][] = [];
  for (const [name, targets] of Object.entries(loads)) {
    for (const timesPeak of [2, 4]) {
      const asked = { targets, workers: 1, timesPeak, seconds: SECONDS };
      rows.push(rowOf(name, asked, await overload(shop, asked)));
    }
  }
  tell(formatTable([HEAD, ...rows]));
}

async function stops(shop: Workshop, targets: readonly string[]): Promise<void> {
  for (const workers of [1, 2]) {
    for (const keepAlive of [true, false]) {
      const all: Stopped[] = [];
      for (let count = 0; count < STOPS; count++) {
        all.push(
          await stopUnderLoad(shop, { targets, workers, keepAlive, perSecond: STOP_PER_SECOND, seconds: 2 }),
        );
      }
      const sum = (count: (one: Stopped) => number): number =>
        all.reduce((total, one) => total + count(one), 0);
      const failures = all.flatMap((one) => [
        ...one.failures,
        ...(one.status === 0 ? [] : [`status ${one.status}`]),
      ]);
      const reset = sum((one) => one.resetAtTheDoor);
      allWell &&= failures.length === 0 && reset <= STOPS * RESET_MAX;
      tell(
        `${STOPS} stops, workers: ${workers}, connections ${keepAlive ? 'kept' : 'not kept'}: ${sum((one) => one.answered)} answered, ${sum((one) => one.turnedAway)} turned away, ${reset} reset as the listener closed, failures: ${failures.join('; ') || 'none'}, at most ${Math.max(...all.map((one) => one.tookMs))} ms`,
      );
    }
  }
}

/** Callers that come just after the start: none is refused. */
async function starts(shop: Workshop, targets: readonly string[]): Promise<void> {
  for (const [callers, seconds] of [
    [256, 0.001],
    [32, 2],
  ] as const) {
    const { asked, refused, odd, broken } = await crowdAtStart(shop, targets, callers, seconds);
    const failures = [...odd, ...Object.entries(broken).map(([cause, count]) => `${count} ${cause}`)];
    allWell &&= refused === 0 && failures.length === 0;
    tell(
      `${callers} callers just after the start: ${asked} requests, ${refused} refused, failures: ${failures.join('; ') || 'none'}`,
    );
  }
}

const shop = new Workshop();
try {
  const targets = await fill(shop, SLOW_SESSIONS);
  await overloads(shop, { fast: targets.fast, mixed: mixed(targets), slow: targets.slow });
  await stops(shop, targets.fast);
  await starts(shop, targets.fast);
  const slow = await slowReaders(shop, largePage(targets), SLOW_READERS);
  tell(`${SLOW_READERS} slow readers: ${JSON.stringify(slow)}`);
  // Those who ask for more than their key may hold are cut before the pace of reading counts.
  const isCutInTime = slow.left === 0 && slow.endedSeconds[1] < 3 * (httpLimits.sendIntervalMs / 1_000);
  allWell &&= isCutInTime && slow.othersMaxMs < 5_000;
} finally {
  shop.close();
}
process.exitCode = allWell ? 0 : 1;
