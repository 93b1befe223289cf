// Requests for series after a commit that did not touch them.
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { targetOf } from '../load.ts';
import { random } from '../minutes.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import { tell } from '../workshop.ts';

/** The symbol that the commits are of: after those of the store, and of the other groups. */
const COMMITTED_SYMBOL = 9_000;
/** Requests of each series before the first commit. */
const WARM_UP_REQUESTS = 10;

/** Times of one request of each series, in milliseconds: as usual, and right after a commit. */
type Round = { readonly usualMs: readonly number[]; readonly afterMs: readonly number[] };

const lines: readonly Line<readonly Round[]>[] = [
  {
    name: 'first request of a series after a commit of another, p50',
    unit: 'ms',
    comparedWith: 'that before the commit',
    target: { atMost: 1.2 },
    measure: (rounds) => {
      const ours = rounds.map(({ afterMs }) => median(afterMs));
      return {
        measured: median(ours),
        ratio: medianRatio(
          ours,
          rounds.map(({ usualMs }) => median(usualMs)),
        ),
      };
    },
  },
  {
    name: 'the very first request after a commit',
    unit: 'ms',
    comparedWith: 'the usual p50',
    target: null,
    measure: (rounds) => {
      const ours = rounds.map(({ afterMs }) => afterMs[0]!);
      return {
        measured: median(ours),
        ratio: medianRatio(
          ours,
          rounds.map(({ usualMs }) => median(usualMs)),
        ),
      };
    },
  },
];

async function measure(setting: Setting): Promise<readonly Round[]> {
  const { scale, workshop } = setting;
  const usual = await setting.usual();
  const { requests } = usual;
  const server = await usual.serve();
  const caller = new Caller(server.url);
  const next = random(31);
  const start = (): string => requests.starts[Math.floor(next() * requests.starts.length)]!;
  /** One request of each series, each from another minute. */
  const askAll = async (): Promise<number[]> => {
    const times: number[] = [];
    for (const symbol of requests.symbols)
      times.push((await caller.must(targetOf(requests, symbol, start()))).ms);
    return times;
  };
  for (let asking = 0; asking < WARM_UP_REQUESTS; asking++) await askAll();
  const rounds: Round[] = [];
  for (let round = 0; round < scale.commits; round++) {
    const usualMs = await askAll();
    const csv = workshop.minutes({
      rows: 1,
      order: 'time',
      symbols: 1,
      firstSymbol: COMMITTED_SYMBOL,
      firstMinute: round,
    });
    await usual.store.importMinutes(csv);
    const afterMs = await askAll();
    tell(
      `commits ${round + 1}/${scale.commits}: p50 ${median(usualMs).toFixed(2)} ms, after a commit ${median(afterMs).toFixed(2)} ms, the first ${afterMs[0]!.toFixed(2)} ms`,
    );
    rounds.push({ usualMs, afterMs });
  }
  caller.close();
  await server.stop();
  return rounds;
}

/** The lines of `commits`. */
export const commits = group('commits', '10 requests of each series', lines, measure);
