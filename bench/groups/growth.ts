// What a store's size costs: the time of 150 bars, and the time from a start to the first answer.
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { type Requests, targetOf } from '../load.ts';
import { random } from '../minutes.ts';
import { type Running, startBourse } from '../process.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import type { Picture } from '../svg/picture.ts';
import { requestsFor } from '../usual-store.ts';
import { tell } from '../workshop.ts';

const SYMBOLS = 200;
const BARS_MIN = 100_000;
/** Growth is told from this size on, or from a tenth of the largest. */
const BARS_BASE = 1_000_000;
const WARM_UP_REQUESTS = 500;
const START_POLL_MS = 5;

type Measured = {
  /** The p50 of rounds, in milliseconds, by bars of the store. */
  readonly p50Ms: ReadonlyMap<number, readonly number[]>;
  readonly largest: number;
  readonly base: number;
  readonly startsMs: readonly number[];
};

const lines: readonly Line<Measured>[] = [
  {
    name: 'p50 of 150 bars, in the largest store',
    unit: 'ms',
    comparedWith: 'that with 1 million (short: 100,000)',
    target: { atMost: 1.3 },
    measure: ({ p50Ms, largest, base }) => {
      const ours = p50Ms.get(largest)!;
      return { measured: median(ours), ratio: medianRatio(ours, p50Ms.get(base)!) };
    },
  },
  {
    name: 'start to first answer, the largest store',
    warmUp: 'none',
    unit: 's',
    target: { atMost: 0.8 },
    measure: ({ startsMs }) => ({ measured: median(startsMs) / 1000 }),
  },
];

type Store = { readonly bars: number; readonly url: string; readonly requests: Requests };

async function fill({ workshop }: Setting, bars: number): Promise<Store> {
  const csv = workshop.minutes({ rows: bars, order: 'symbol', symbols: SYMBOLS });
  const store = workshop.freshStore(`growth-${bars}`);
  await store.importMinutes(csv);
  workshop.discard(csv);
  return { bars, url: store.url, requests: requestsFor(await store.createKey(), SYMBOLS, bars / SYMBOLS) };
}

/** The sizes of stores: powers of ten up to the largest. */
function sizesTo(largest: number): number[] {
  const sizes: number[] = [];
  for (let bars = BARS_MIN; bars < largest; bars *= 10) sizes.push(bars);
  return [...sizes, largest];
}

/** Asks for random bars one after the other for some time; the p50. */
async function p50Of(caller: Caller, requests: Requests, ms: number, seed: number): Promise<number> {
  const next = random(seed);
  const pick = (texts: readonly string[]): string => texts[Math.floor(next() * texts.length)]!;
  const times: number[] = [];
  for (const endMs = performance.now() + ms; performance.now() < endMs; )
    times.push((await caller.must(targetOf(requests, pick(requests.symbols), pick(requests.starts)))).ms);
  return median(times);
}

async function startsOf({ workshop, scale }: Setting, { url, requests }: Store): Promise<number[]> {
  const times: number[] = [];
  const target = targetOf(requests, requests.symbols[0]!, requests.starts[0]!);
  for (let start = 0; start < scale.starts; start++) {
    const startedMs = performance.now();
    const server = await startBourse(workshop.folder, url, [], { target, pollMs: START_POLL_MS });
    times.push(performance.now() - startedMs);
    tell(`growth: start to first answer: ${times.at(-1)!.toFixed(0)} ms`);
    await server.stop();
  }
  return times;
}

async function measure(setting: Setting): Promise<Measured> {
  const { scale, workshop } = setting;
  const stores: Store[] = [];
  for (const bars of sizesTo(scale.bars)) stores.push(await fill(setting, bars));
  const startsMs = await startsOf(setting, stores.at(-1)!);
  const servers: Running[] = [];
  const subjects: Record<string, (round: number) => Promise<number>> = {};
  for (const { bars, url, requests } of stores) {
    const server = await startBourse(workshop.folder, url);
    servers.push(server);
    const caller = new Caller(server.url);
    for (let asking = 0; asking < WARM_UP_REQUESTS; asking++)
      await caller.must(
        targetOf(
          requests,
          requests.symbols[asking % SYMBOLS]!,
          requests.starts[asking % requests.starts.length]!,
        ),
      );
    subjects[String(bars)] = (round) => p50Of(caller, requests, scale.serialMs, round + 2);
  }
  const times = await interleave(
    'growth',
    scale.rounds,
    subjects as Subjects<string, number>,
    (ms) => `p50 ${ms.toFixed(3)} ms`,
  );
  for (const server of servers) await server.stop();
  return {
    p50Ms: new Map(stores.map(({ bars }) => [bars, times[String(bars)]!])),
    largest: scale.bars,
    base: stores.at(-2)!.bars < BARS_BASE ? stores.at(-2)!.bars : BARS_BASE,
    startsMs,
  };
}

const picturesOf = ({ p50Ms }: Measured): Picture[] => [
  {
    kind: 'lines',
    file: 'latency-by-store-size',
    title: 'Time of an answer of 150 bars, one caller, nothing cached',
    x: { label: 'bars in the store', values: [...p50Ms.keys()] },
    y: { label: 'p50 in ms', isLogarithmic: false },
    series: [{ label: 'p50', points: [...p50Ms].map(([x, times]) => ({ x, y: median(times) })) }],
  },
];

/** The lines of `growth`. */
export const growth = group('growth', '500 requests', lines, measure, picturesOf);
