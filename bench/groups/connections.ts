// Requests for 150 bars over few and many connections: errors, times and throughput.
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { inWords, type Load, load, writeScript } from '../load.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import type { Picture } from '../svg/picture.ts';

/** Counts of connections: those of the pictures, and those that have targets. */
const drawn = [1, 8, 32, 128, 512] as const;
const judged = [256, 1_000] as const;

type Measured = ReadonlyMap<number, readonly Load[]>;

const lines: readonly Line<Measured>[] = judged.flatMap((count): Line<Measured>[] => [
  {
    name: `${count.toLocaleString('en-US')} connections, errors`,
    unit: 'errors',
    target: { atMost: 0 },
    measure: (measured) => ({
      // Where nobody got an answer there was no error either.
      measured: measured
        .get(count)!
        .reduce((sum, { errors, requests }) => sum + (requests === 0 ? Number.NaN : errors), 0),
    }),
  },
  {
    name: `${count.toLocaleString('en-US')} connections, p99`,
    unit: 'ms',
    comparedWith: 'the p50',
    target: { atMost: 3 },
    measure: (measured) => {
      const loads = measured.get(count)!;
      const slow = loads.map(({ p99Us }) => p99Us);
      return {
        measured: median(slow) / 1000,
        ratio: medianRatio(
          slow,
          loads.map(({ p50Us }) => p50Us),
        ),
      };
    },
  },
]);

async function measure(setting: Setting): Promise<Measured> {
  const { scale, workshop } = setting;
  const { folder } = workshop;
  const usual = await setting.usual();
  const server = await usual.serve();
  const lua = writeScript(folder, usual.requests, 'connections');
  // A server that has just started would refuse many at once.
  await load(folder, lua, server, {
    seconds: scale.warmUpSeconds,
    seed: 1,
    connections: 4,
    countErrors: true,
  });
  const counts = [...drawn, ...judged].toSorted((a, b) => a - b);
  const subjects: Subjects<string, Load> = Object.fromEntries(
    counts.map((connections) => [
      String(connections),
      (round: number) =>
        load(folder, lua, server, {
          seconds: scale.seconds,
          seed: round + 2,
          connections,
          countErrors: true,
        }),
    ]),
  );
  const loads = await interleave('connections', scale.rounds, subjects, inWords);
  await server.stop();
  return new Map(counts.map((count) => [count, loads[String(count)]!]));
}

function picturesOf(measured: Measured): Picture[] {
  const points = (figure: 'requestsPerSecond' | 'p50Us' | 'p99Us', scale: number) =>
    drawn.map((count) => ({ x: count, y: median(measured.get(count)!.map((load) => load[figure])) * scale }));
  const x = { label: 'connections', values: drawn };
  return [
    {
      kind: 'lines',
      file: 'throughput-by-connections',
      title: 'Answers of 150 bars a second, nothing cached',
      x,
      y: { label: 'requests/s', isLogarithmic: false },
      series: [{ label: 'requests/s', points: points('requestsPerSecond', 1) }],
    },
    {
      kind: 'lines',
      file: 'latency-by-connections',
      title: 'Time of an answer of 150 bars, nothing cached',
      x,
      y: { label: 'ms', isLogarithmic: true },
      series: [
        { label: 'p99', points: points('p99Us', 1e-3) },
        { label: 'p50', points: points('p50Us', 1e-3) },
      ],
    },
  ];
}

/** The lines of `connections`. */
export const connections = group('connections', '2 s of load', lines, measure, picturesOf);
