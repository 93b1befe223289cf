// More arrivals than can be served: how many are, how soon, how soon the others are refused, and how soon all
// is well again.
import { readFileSync } from 'node:fs';
import { bourse, startServer } from '../../bench/process.ts';
import type { Workshop } from '../service.ts';
import type { Latencies, Outcome } from './arrivals.ts';
import { generate } from './load.ts';

/** How a run is asked for. */
export type Overload = {
  readonly targets: readonly string[];
  readonly workers: number;
  /** Arrivals as a multiple of what can be served. */
  readonly timesPeak: number;
  readonly seconds: number;
};

/** What a run came to; times in milliseconds from when a request was due. */
export type Figures = {
  readonly peakPerSecond: number;
  readonly askedPerSecond: number;
  /** What was served under overload, as a part of the peak. */
  readonly goodput: number;
  readonly servedMs: Latencies;
  readonly refusedMs: Latencies;
  /** Answers that were none, or odd, over all phases. */
  readonly failures: readonly string[];
  readonly p50BeforeMs: number;
  /** As long after the overload as it lasted, at most five seconds. */
  readonly p50AfterMs: number;
  readonly residentPeakMegabytes: number;
  /** Processor time of the generator under overload, as a part of one core. */
  readonly generator: number;
};

/**
 * Callers that find out what can be served: enough that the server never idles, not so many that one waits
 * long.
 */
const CALLERS = 16;
/** Callers that are connected before. Those that come beside them connect first. */
const CONNECTIONS_FIRST = 1_500;
const CONNECTIONS_MAX = 6_000;
/** Of a phase beside the overload; a shorter overload has shorter ones. */
const BESIDE_SECONDS_MAX = 5;
const MODERATE = 0.5;

/** Overloads a server of its own. */
export async function overload(
  shop: Workshop,
  { targets, workers, timesPeak, seconds }: Overload,
): Promise<Figures> {
  const server = await startServer(shop.folder, bourse, [
    ...['serve', '--store', shop.store, '--log-level', 'silent', '--workers', String(workers)],
  ]);
  try {
    const moderate = { seconds: Math.min(seconds, BESIDE_SECONDS_MAX), load: { timesPeak: MODERATE } };
    const outcomes = await generate({
      port: Number(new URL(server.url).port),
      targets,
      keepAlive: true,
      connectionsFirst: CONNECTIONS_FIRST,
      connectionsMax: CONNECTIONS_MAX,
      phases: [
        { name: 'warm', seconds: 1, load: { callers: CALLERS } },
        { name: 'peak', seconds: moderate.seconds, load: { callers: CALLERS } },
        { name: 'before', ...moderate },
        { name: 'over', seconds, load: { timesPeak } },
        { name: 'recovery', ...moderate },
        { name: 'after', ...moderate },
      ],
    });
    return figuresOf(outcomes, residentPeakOf(server.pid));
  } finally {
    await server.stop();
  }
}

function figuresOf(outcomes: readonly Outcome[], residentPeakMegabytes: number): Figures {
  const [, peak, before, over, , after] = outcomes as readonly [
    Outcome,
    Outcome,
    Outcome,
    Outcome,
    Outcome,
    Outcome,
  ];
  const peakPerSecond = peak.servedMeanwhile / peak.seconds;
  return {
    peakPerSecond,
    askedPerSecond: over.asked / over.seconds,
    goodput: over.servedMeanwhile / over.seconds / peakPerSecond,
    servedMs: over.servedMs,
    refusedMs: over.refusedMs,
    failures: outcomes.flatMap(({ name, odd, broken }) => [
      ...odd.map((answer) => `${name}: ${answer}`),
      ...Object.entries(broken).map(([cause, count]) => `${name}: ${count} ${cause}`),
    ]),
    p50BeforeMs: before.servedMs.p50,
    p50AfterMs: after.servedMs.p50,
    residentPeakMegabytes,
    generator: over.processor,
  };
}

/**
 * The most memory that a process has had resident; with several workers that of their primary says nothing.
 */
const residentPeakOf = (pid: number): number =>
  Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
