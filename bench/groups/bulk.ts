// Bars in bulk: a market's day as Parquet, a long series as Arrow, and what an ordinary caller notices
// meanwhile.
import assert from 'node:assert/strict';
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { type Requests, targetOf } from '../load.ts';
import { minuteTexts, random, symbolOf } from '../minutes.ts';
import { type Running, startBourse } from '../process.ts';
import { interleave } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import { requestsFor } from '../usual-store.ts';

/** Minutes of each symbol on the day. */
const DAY_MINUTES = 200;
const DAY_YEAR = 2025;
const WARM_UP_REQUESTS = 500;

type Figure = 'parquet' | 'arrow' | 'minute' | 'none' | 'alone' | 'beside';

type Measured = Readonly<Record<Figure, readonly number[]>>;

const seconds = (times: readonly number[]) => ({ measured: median(times) / 1_000 });

const lines: readonly Line<Measured>[] = [
  {
    name: "a market's day of 2 million minutes as Parquet",
    unit: 's',
    target: { atMost: 2.5 },
    measure: ({ parquet }) => seconds(parquet),
  },
  {
    name: 'a million minutes of one symbol as Arrow',
    unit: 's',
    target: { atMost: 0.3 },
    measure: ({ arrow }) => seconds(arrow),
  },
  {
    name: 'one minute of 10,000 symbols as CSV',
    unit: 's',
    target: { atMost: 0.25 },
    measure: ({ minute }) => seconds(minute),
  },
  {
    name: 'a day on which none of 10,000 symbols has a bar',
    unit: 's',
    target: { atMost: 0.25 },
    measure: ({ none }) => seconds(none),
  },
  {
    name: 'p50 of 150 bars while a Parquet file is made',
    unit: 'ms',
    comparedWith: 'that without',
    target: { atMost: 2 },
    measure: ({ alone, beside }) => ({ measured: median(beside), ratio: medianRatio(beside, alone) }),
  },
];

/** What is asked. */
type Asked = { readonly server: Running; readonly requests: Requests; readonly day: string };

/** Asks for an answer in bulk and reads it; how long that took. */
async function readAll({ server, requests }: Asked, query: string): Promise<number> {
  const startedMs = performance.now();
  const url = `${server.url}/api/v2/stock/bulk/bars/US/1M/${query}&secret_key=${requests.secret}`;
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  for await (const _ of answer.body!);
  return performance.now() - startedMs;
}

/** A file is kept for a while: no round asks for that of another. */
const parquetQuery = ({ day }: Asked, round: number): string =>
  `from/${day}/to/${day}T23:00:${String(round).padStart(2, '0')}Z?format=parquet`;

/** The p50 of bars that are asked for one after the other, until something says to stop. */
async function p50Until({ server, requests }: Asked, isOver: () => boolean): Promise<number> {
  const caller = new Caller(server.url);
  const next = random(1);
  const times: number[] = [];
  while (!isOver() || times.length === 0) {
    const start = requests.starts[Math.floor(next() * requests.starts.length)]!;
    times.push((await caller.must(targetOf(requests, requests.symbols[0]!, start))).ms);
  }
  caller.close();
  return median(times);
}

/** The p50 for some time, or for so many requests. */
function p50For(asked: Asked, ms: number, requestsMin = 1): Promise<number> {
  const endMs = performance.now() + ms;
  let count = 0;
  return p50Until(asked, () => ++count > requestsMin && performance.now() >= endMs);
}

async function p50Beside(asked: Asked, round: number): Promise<number> {
  let isOver = false;
  const making = readAll(asked, parquetQuery(asked, round)).finally(() => {
    isOver = true;
  });
  const p50 = await p50Until(asked, () => isOver);
  await making;
  return p50;
}

async function measure({ scale, workshop }: Setting): Promise<Measured> {
  const { bulkSymbols, bulkMinutes, rounds, serialMs } = scale;
  const long = workshop.minutes({ rows: bulkMinutes, order: 'symbol', symbols: 1 });
  const day = workshop.minutes({
    ...{ rows: bulkSymbols * DAY_MINUTES, order: 'symbol', symbols: bulkSymbols },
    ...{ firstSymbol: 1, firstYear: DAY_YEAR },
  });
  const store = workshop.freshStore('bulk');
  await store.importMinutes(long);
  await store.importMinutes(day);
  const server = await startBourse(workshop.folder, store.url);
  const requests = requestsFor(await store.createKey(), 1, bulkMinutes);
  const [minute] = minuteTexts(1, DAY_YEAR) as [string];
  const asked = { server, requests, day: minute.slice(0, 10) };
  const longQuery = `from/2015-01-01/to/2030-01-01?symbols=${symbolOf(0)}&format=arrow`;
  await readAll(asked, longQuery);
  await p50For(asked, 0, WARM_UP_REQUESTS);
  const measured = await interleave(
    'bulk',
    rounds,
    {
      parquet: (round) => readAll(asked, parquetQuery(asked, 2 * round)),
      arrow: () => readAll(asked, longQuery),
      minute: () => readAll(asked, `from/${minute}/to/${minute}?format=csv`),
      none: () => readAll(asked, 'from/2024-12-25/to/2024-12-25?format=csv'),
      alone: () => p50For(asked, serialMs),
      beside: (round) => p50Beside(asked, 2 * round + 1),
    },
    (ms) => `${ms.toFixed(2)} ms`,
  );
  await server.stop();
  return measured;
}

/** The lines of `bulk`. */
export const bulk = group('bulk', '500 requests, the Arrow once', lines, measure);
