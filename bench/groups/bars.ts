// Bars made of twenty years of minutes, and ordinary callers beside two who ask for the dearest of them.
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { type Load, load, targetOf, writeScript, writeTargets } from '../load.ts';
import { symbolOf } from '../minutes.ts';
import { type Running, startBourse } from '../process.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import type { UsualStore } from '../usual-store.ts';
import { type FileStore, tell } from '../workshop.ts';

const intervals = ['60M', 'DAY', 'WEEK'] as const;
type DerivedInterval = (typeof intervals)[number];
const firstAtMostMs: Readonly<Record<DerivedInterval, number>> = { '60M': 10, DAY: 25, WEEK: 150 };

/** The long series: one to warm up with, and one for each interval, so that no answer helps another. */
const LONG_SERIES = 1 + intervals.length;
const FIRST_LONG_YEAR = 2005;
const MINUTES_A_YEAR = 98_000;
const AGAIN_REQUESTS = 5;
const WARM_UP_REQUESTS = 100;
const ORDINARY_CALLERS = 4;
const DEAR_CALLERS = 2;
/** Days from which the dearest are asked for: what is asked for again would be cheap. */
const DEAR_STARTS = 730;

type Derived = { readonly firstMs: number; readonly againMs: number };
type Beside = {
  readonly alone: readonly Load[];
  readonly crowded: readonly Load[];
  readonly dear: readonly Load[];
};
type Measured = {
  readonly firstUserMs: readonly number[];
  readonly derived: Readonly<Record<DerivedInterval, readonly Derived[]>>;
  readonly beside: Beside;
};

const lines: readonly Line<Measured>[] = [
  {
    name: '1,000 x 60M from minutes, the first request after a start',
    unit: 'ms',
    target: { atMost: 40 },
    warmUp: 'none',
    measure: ({ firstUserMs }) => ({ measured: median(firstUserMs) }),
  },
  ...intervals.flatMap((interval): Line<Measured>[] => [
    {
      name: `1,000 x ${interval} from minutes, first asking`,
      unit: 'ms',
      target: { atMost: firstAtMostMs[interval] },
      measure: ({ derived }) => ({ measured: median(derived[interval].map(({ firstMs }) => firstMs)) }),
    },
    {
      name: `1,000 x ${interval} from minutes, again`,
      unit: 'ms',
      target: { atMost: 3 },
      measure: ({ derived }) => ({ measured: median(derived[interval].map(({ againMs }) => againMs)) }),
    },
  ]),
  {
    name: 'four ordinary callers beside two of the dearest, answers',
    unit: 'requests/s',
    comparedWith: 'those alone',
    target: { atLeast: 0.5 },
    measure: ({ beside }) => compare(beside, 'requestsPerSecond', 1),
  },
  {
    name: 'four ordinary callers beside two of the dearest, p50',
    unit: 'ms',
    comparedWith: 'that alone',
    target: { atMost: 3 },
    measure: ({ beside }) => compare(beside, 'p50Us', 1e-3),
  },
  {
    name: 'four ordinary callers beside two of the dearest, refusals of all',
    unit: 'refusals',
    target: { atMost: 0 },
    measure: ({ beside }) => ({
      measured: isBeside(beside)
        ? [...beside.crowded, ...beside.dear].reduce((sum, { errors }) => sum + errors, 0)
        : Number.NaN,
    }),
  },
];

/** Where the dear ones got no answer in a round, nobody was beside them. */
const isBeside = ({ dear }: Beside): boolean => dear.every(({ requests }) => requests > 0);

function compare(beside: Beside, figure: 'requestsPerSecond' | 'p50Us', scale: number) {
  if (!isBeside(beside)) return { measured: Number.NaN, ratio: Number.NaN };
  const { alone, crowded } = beside;
  const [ours, theirs] = [crowded.map((load) => load[figure]), alone.map((load) => load[figure])];
  return { measured: median(ours) * scale, ratio: medianRatio(ours, theirs) };
}

/** A store of the usual series and of long ones after them. */
type LongStore = {
  readonly store: FileStore;
  readonly usual: UsualStore;
  readonly secret: string;
  readonly symbols: readonly string[];
};

async function fill(setting: Setting): Promise<LongStore> {
  const { workshop, scale } = setting;
  const usual = await setting.usual();
  const firstSymbol = usual.requests.symbols.length;
  const csv = workshop.minutes({
    rows: LONG_SERIES * scale.years * MINUTES_A_YEAR,
    order: 'symbol',
    symbols: LONG_SERIES,
    firstSymbol,
    firstYear: FIRST_LONG_YEAR,
  });
  const store = workshop.freshStore('bars');
  await store.importMinutes(usual.csv);
  await store.importMinutes(csv);
  workshop.discard(csv);
  const symbols = Array.from({ length: LONG_SERIES }, (_, index) => symbolOf(firstSymbol + index));
  return { store, usual, secret: await store.createKey(), symbols };
}

const derivedTarget = (symbol: string, interval: string, secret: string, from: string): string =>
  `/api/v2/stock/bars/US:${symbol}/${interval}/from/${from}/to/2040-01-01?limit=1000&secret_key=${secret}`;

/**
 * Asks a new server at once for 60M, then for each interval of a series that it has not read, and again.
 */
async function deriveOnce(
  setting: Setting,
  long: LongStore,
): Promise<Readonly<Record<DerivedInterval, Derived>> & { readonly firstUserMs: number }> {
  const server = await startBourse(setting.workshop.folder, long.store.url);
  const caller = new Caller(server.url);
  const from = `${FIRST_LONG_YEAR}-01-05`;
  const [warm, ...cold] = long.symbols as [string, ...string[]];
  const requests = { ...long.usual.requests, secret: long.secret };
  const { ms: firstUserMs } = await caller.must(derivedTarget(warm, '60M', long.secret, from));
  // The code is compiled by others' requests: ordinary ones, and each interval of another series, from the
  // beginning of each year.
  for (let asking = 0; asking < WARM_UP_REQUESTS; asking++)
    await caller.must(targetOf(requests, requests.symbols[0]!, requests.starts[asking]!));
  for (const interval of intervals)
    for (let year = 0; year < setting.scale.years; year++)
      await caller.must(derivedTarget(warm, interval, long.secret, `${FIRST_LONG_YEAR + year}-01-05`));
  const derived: Partial<Record<DerivedInterval, Derived>> = {};
  for (const [index, interval] of intervals.entries()) {
    const target = derivedTarget(cold[index]!, interval, long.secret, from);
    const { ms: firstMs } = await caller.must(target);
    const again: number[] = [];
    for (let asking = 0; asking < AGAIN_REQUESTS; asking++) again.push((await caller.must(target)).ms);
    derived[interval] = { firstMs, againMs: median(again) };
    tell(
      `bars: ${interval}: first ${firstMs.toFixed(1)} ms, again ${derived[interval].againMs.toFixed(2)} ms`,
    );
  }
  caller.close();
  await server.stop();
  return { ...(derived as Readonly<Record<DerivedInterval, Derived>>), firstUserMs };
}

/** Days one after the other, of the first half of the years at most. */
function dearStarts(years: number): string[] {
  const days = Math.min(DEAR_STARTS, Math.floor((years / 2) * 365));
  const first = Date.UTC(FIRST_LONG_YEAR, 0, 5);
  return Array.from({ length: days }, (_, day) =>
    new Date(first + day * 86_400_000).toISOString().slice(0, 10),
  );
}

async function besideDear({ workshop, scale }: Setting, long: LongStore, server: Running): Promise<Beside> {
  const { folder } = workshop;
  const { requests } = long.usual;
  const ordinary = writeScript(folder, { ...requests, secret: long.secret }, 'ordinary');
  const { seconds } = scale;
  const ask = (seed: number): Promise<Load> =>
    load(folder, ordinary, server, { seconds, seed, connections: ORDINARY_CALLERS, countErrors: true });
  const dearTargets = dearStarts(scale.years).flatMap((from) =>
    long.symbols.map((symbol) => derivedTarget(symbol, 'WEEK', long.secret, from)),
  );
  const dearScript = writeTargets(folder, 'dear', dearTargets);
  const beside: { alone: Load[]; crowded: Load[]; dear: Load[] } = { alone: [], crowded: [], dear: [] };
  await ask(0);
  for (let round = 0; round < scale.rounds; round++) {
    const alone = await ask(2 * round + 1);
    const [crowded, dear] = await Promise.all([
      ask(2 * round + 2),
      load(folder, dearScript, server, {
        seconds,
        seed: round,
        connections: DEAR_CALLERS,
        countErrors: true,
      }),
    ]);
    tell(
      `bars: beside dear ones ${round + 1}/${scale.rounds}: ${alone.requests} answers alone, ${crowded.requests} beside ${dear.requests}`,
    );
    beside.alone.push(alone);
    beside.crowded.push(crowded);
    beside.dear.push(dear);
  }
  return beside;
}

async function measure(setting: Setting): Promise<Measured> {
  const long = await fill(setting);
  const derived: Record<DerivedInterval, Derived[]> = { '60M': [], DAY: [], WEEK: [] };
  const firstUserMs: number[] = [];
  for (let round = 0; round < setting.scale.rounds; round++) {
    const one = await deriveOnce(setting, long);
    for (const interval of intervals) derived[interval].push(one[interval]);
    firstUserMs.push(one.firstUserMs);
  }
  const server = await startBourse(setting.workshop.folder, long.store.url);
  const beside = await besideDear(setting, long, server);
  await server.stop();
  long.store.remove();
  return { firstUserMs, derived, beside };
}

/** The lines of `bars`. */
export const bars = group('bars', 'another series, 160 requests', lines, measure);
