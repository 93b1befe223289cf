// Bars asked for again, bars made of minutes, and ordinary callers beside one who asks for the dearest.
import { judged, type Line, median } from './line.ts';
import { type Load, load, type Requests, writeScript, writeTargets } from './load.ts';
import { minuteTexts, symbolOf } from './minutes.ts';
import { bourse, type Running, script, startServer } from './process.ts';
import { type Options, tell } from './workshop.ts';

const SYMBOLS = 20;
const MINUTES = 60 * 390;
const LIMIT = 150;
/** The minutes of one symbol: ten years. */
const LONG_MINUTES = 1_000_000;
const FIRST_YEAR = 2015;
const LAST_YEAR = 2024;
const ORDINARY_CALLERS = 4;
const DEAR_CALLERS = 2;
const ASKINGS = 15;
const WARM_UP_ASKINGS = 201;

type Bench = { readonly options: Options; readonly server: Running; readonly secret: string };

const dearTarget = (secret: string, year = FIRST_YEAR, interval = 'WEEK'): string =>
  `/api/v2/stock/bars/US:${symbolOf(0)}/${interval}/from/${year}-01-05/to/2040-01-01?limit=1000&secret_key=${secret}`;

/** Ordinary requests: of all symbols but the long one. */
function ordinary(secret: string): Requests {
  const texts = minuteTexts(MINUTES);
  return {
    symbols: Array.from({ length: SYMBOLS - 1 }, (_, index) => symbolOf(index + 1)),
    starts: texts.slice(0, MINUTES - LIMIT),
    end: texts[MINUTES - 1]!,
    limit: LIMIT,
    secret,
  };
}

async function again({ options, server, secret }: Bench): Promise<Line> {
  const { symbols, starts, end } = ordinary(secret);
  const target = `/api/v2/stock/bars/US:${symbols[0]}/1M/from/${starts[0]}/to/${end}?secret_key=${secret}`;
  const { folder } = options.workshop;
  let bytes = 0;
  // One after the other: a server that has just started is slow, and would refuse many at once.
  for (let asking = 0; asking < WARM_UP_ASKINGS; asking++)
    bytes = (await (await fetch(`${server.url}${target}&limit=${LIMIT - (asking % 50)}`)).arrayBuffer())
      .byteLength;
  const constantScript = script(import.meta.resolve('./constant-server.ts'));
  const constant = await startServer(folder, process.execPath, [...constantScript, '--bytes', String(bytes)]);
  const same = writeTargets(folder, 'same', [`${target}&limit=${LIMIT}`]);
  const rounds: [ours: number, theirs: number][] = [];
  for (let round = 0; round <= options.rounds; round++) {
    const ours = await load(folder, same, server.url, options.seconds, round);
    const theirs = await load(folder, same, constant.url, options.seconds, round);
    tell(
      `again ${round}: ${ours.requestsPerSecond.toFixed(0)}, constant ${theirs.requestsPerSecond.toFixed(0)}`,
    );
    // The first round warms both up.
    if (round > 0) rounds.push([ours.requestsPerSecond, theirs.requestsPerSecond]);
  }
  await constant.stop();
  return judged({
    line: `bars: ${LIMIT}, the same URL again`,
    measured: median(rounds.map(([ours]) => ours)),
    unit: 'requests/s',
    ratio: { value: median(rounds.map(([ours, theirs]) => ours / theirs)), to: 'one constant Buffer' },
    budget: { atLeast: 0.7 },
  });
}

/** The time of first askings, each of another range, and of one that is asked again. */
async function derived({ server, secret }: Bench, interval: string, atMostMs: number): Promise<Line[]> {
  const timeOf = async (target: string): Promise<number> => {
    const startedMs = performance.now();
    await (await fetch(server.url + target)).arrayBuffer();
    return performance.now() - startedMs;
  };
  const first: number[] = [];
  const [range, key] = ['/to/2040-01-01', `limit=1000&secret_key=${secret}`];
  const targetOf = (asking: number): string =>
    `/api/v2/stock/bars/US:${symbolOf(0)}/${interval}/from/${FIRST_YEAR}-01-${String(asking + 5).padStart(2, '0')}${range}?${key}`;
  for (let asking = 0; asking < ASKINGS; asking++) first.push(await timeOf(targetOf(asking)));
  const later: number[] = [];
  for (let asking = 0; asking < ASKINGS; asking++) later.push(await timeOf(targetOf(0)));
  const line = `bars: ${interval} from ten years of minutes, 1000 at most`;
  const ms = { unit: 'ms', ratio: null } as const;
  return [
    judged({ line: `${line}, first asking`, measured: median(first), ...ms, budget: { atMost: atMostMs } }),
    judged({ line: `${line}, again`, measured: median(later), ...ms, budget: { atMost: 3 } }),
  ];
}

/** Ordinary callers alone, and beside callers of weeks of ten years, each time another. */
async function beside({ options, server, secret }: Bench): Promise<Line[]> {
  const { folder } = options.workshop;
  const lua = writeScript(folder, ordinary(secret));
  const years = Array.from({ length: LAST_YEAR - FIRST_YEAR + 1 }, (_, index) => FIRST_YEAR + index);
  const dear = writeTargets(
    folder,
    'dear',
    years.map((year) => dearTarget(secret, year)),
  );
  const one = (seed: number): Promise<Load> =>
    load(folder, lua, server.url, options.seconds, seed, ORDINARY_CALLERS);
  const shares: number[] = [];
  const slower: number[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const alone = await one(round);
    const [crowded] = await Promise.all([
      one(round + options.rounds),
      load(folder, dear, server.url, options.seconds, round, DEAR_CALLERS),
    ]);
    tell(`beside ${round}: ${alone.requests} answers alone, ${crowded.requests} beside dear ones`);
    shares.push(crowded.requestsPerSecond / alone.requestsPerSecond);
    slower.push(crowded.p50Us / alone.p50Us);
  }
  const line = 'bars: four ordinary callers beside two of the dearest';
  return [
    judged({
      line: `${line}, answers`,
      measured: median(shares),
      unit: 'of those alone',
      ratio: null,
      budget: { atLeast: 0.5 },
    }),
    judged({
      line: `${line}, p50`,
      measured: median(slower),
      unit: 'x alone',
      ratio: null,
      budget: { atMost: 3 },
    }),
  ];
}

/** The lines of `bars`. */
export async function benchBars(options: Options): Promise<Line[]> {
  const { workshop } = options;
  const store = workshop.freshStore('bars');
  const files = [
    workshop.minutes({ rows: SYMBOLS * MINUTES, order: 'symbol', symbols: SYMBOLS }),
    workshop.minutes({ rows: LONG_MINUTES, order: 'symbol', symbols: 1 }),
  ];
  for (const file of files) await store.importMinutes(file);
  const { stdout: secret } = await store.bourse('keys', 'create', 'bench');
  const words = ['serve', '--store', store.url, '--log-level', 'silent'];
  const server = await startServer(workshop.folder, bourse, words);
  const bench = { options, server, secret: secret.trim() };
  const lines = [
    await again(bench),
    ...(await derived(bench, '60M', 10)),
    ...(await derived(bench, 'DAY', 25)),
    ...(await derived(bench, 'WEEK', 80)),
    ...(await beside(bench)),
  ];
  await server.stop();
  store.remove();
  return lines;
}
