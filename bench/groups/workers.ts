// What a request costs with two serving processes, against one.
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { inWords, type Load, load, writeScript } from '../load.ts';
import { interleave } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';

type Measured = { readonly one: readonly Load[]; readonly two: readonly Load[] };

/** Requests that one second of processor time is enough for. */
const perCpuSecond = (loads: readonly Load[]): number[] => loads.map(({ cpuUs }) => 1e6 / cpuUs);

const lines: readonly Line<Measured>[] = [
  {
    name: 'two workers, requests for each second of processor time',
    unit: 'requests/CPU s',
    comparedWith: 'one worker',
    target: { atLeast: 0.9 },
    measure: ({ one, two }) => ({
      measured: median(perCpuSecond(two)),
      ratio: medianRatio(perCpuSecond(two), perCpuSecond(one)),
    }),
  },
];

/** The lines of `workers`. */
export const workers = group('workers', '2 s of load', lines, async (setting: Setting) => {
  const { scale, workshop } = setting;
  const { folder } = workshop;
  const usual = await setting.usual();
  const lua = writeScript(folder, usual.requests, 'workers');
  const servers = { one: await usual.serve(), two: await usual.serve('--workers', '2') };
  for (const server of Object.values(servers))
    await load(folder, lua, server, {
      seconds: scale.warmUpSeconds,
      seed: 1,
      connections: 8,
      countErrors: true,
    });
  const under = (name: keyof typeof servers) => (round: number) =>
    load(folder, lua, servers[name], { seconds: scale.seconds, seed: round + 2, countErrors: true });
  const loads = await interleave('workers', scale.rounds, { one: under('one'), two: under('two') }, inWords);
  for (const server of Object.values(servers)) await server.stop();
  return loads;
});
