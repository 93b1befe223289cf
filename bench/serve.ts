// Requests for 150 bars, nothing cached, the whole way: against one constant Buffer and against what most would write.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { judged, type Line, median } from './line.ts';
import { load, type Requests, targetOf, writeScript } from './load.ts';
import { minuteTexts, random, symbolOf } from './minutes.ts';
import { bourse, cpuUs, type Running, script, startServer } from './process.ts';
import { type BenchStore, type Options, tell } from './workshop.ts';

const SYMBOLS = 200;
/** Sixty sessions of 390 minutes: none of the first sixty of 2015 closes early. */
const MINUTES = 60 * 390;
const LIMIT = 150;
const COMPARED = 20;
const WARM_UP_SECONDS = 2;

type Bar = { readonly datetime: string } & Readonly<Record<string, number | string | null>>;
type Page = { readonly result: { readonly next_page_key: string | null; readonly data: readonly Bar[] } };

const compared = ['symbol', 'open', 'high', 'low', 'close', 'volume', 'vwap'];

/** The bars of an answer that is as it should be, and the size of its body. */
async function barsOf(server: Running, target: string): Promise<{ bars: readonly Bar[]; bytes: number }> {
  const response = await fetch(server.url + target);
  const body = Buffer.from(await response.arrayBuffer());
  assert.equal(response.status, 200, `${target}: ${body.toString().slice(0, 500)}`);
  const { result } = JSON.parse(body.toString()) as Page;
  assert.equal(result.data.length, LIMIT);
  assert.notEqual(result.next_page_key, null);
  return { bars: result.data, bytes: body.length };
}

/** Checks that both give the same bars; the size of an answer of the first. */
async function checkSame(ours: Running, naive: Running, requests: Requests): Promise<number> {
  const next = random(11);
  const pick = (texts: readonly string[]): string => texts[Math.floor(next() * texts.length)]!;
  let bytes = 0;
  for (let count = 0; count < COMPARED; count++) {
    const target = targetOf(requests, pick(requests.symbols), pick(requests.starts));
    const [mine, theirs] = [await barsOf(ours, target), await barsOf(naive, target)];
    for (const [index, bar] of mine.bars.entries()) {
      const other = theirs.bars[index]!;
      assert.equal(Date.parse(bar.datetime), Date.parse(other.datetime), target);
      for (const field of compared) assert.equal(bar[field], other[field], `${target}: ${field}`);
    }
    bytes = mine.bytes;
  }
  return bytes;
}

function requestsFor(secret: string): Requests {
  const texts = minuteTexts(MINUTES);
  return {
    symbols: Array.from({ length: SYMBOLS }, (_, index) => symbolOf(index)),
    // Behind every start lie the bars asked for and one more.
    starts: texts.slice(0, MINUTES - LIMIT),
    end: texts[MINUTES - 1]!,
    limit: LIMIT,
    secret,
  };
}

type Servers = { readonly bourse: Running; readonly naive: Running; readonly constant: Running };
type Round = Readonly<Record<keyof Servers | 'cpuUs', number>>;

async function measure(servers: Servers, lua: string, options: Options): Promise<Round[]> {
  const names = Object.keys(servers) as (keyof Servers)[];
  const { folder } = options.workshop;
  for (const name of names) await load(folder, lua, servers[name].url, WARM_UP_SECONDS, 1);
  const rounds: Round[] = [];
  for (let round = 0; round < options.rounds; round++) {
    const figures = { bourse: 0, naive: 0, constant: 0, cpuUs: 0 };
    for (const name of names) {
      const server = servers[name];
      const before = cpuUs(server.pid);
      const result = await load(folder, lua, server.url, options.seconds, round + 2);
      figures[name] = result.requestsPerSecond;
      const used = (cpuUs(server.pid) - before) / result.requests;
      if (name === 'bourse') figures.cpuUs = used;
      tell(
        `serve ${round + 1}/${options.rounds} ${name}: ${result.requestsPerSecond.toFixed(0)} requests/s, CPU ${used.toFixed(0)} us, p50 ${result.p50Us} us, p99 ${result.p99Us} us`,
      );
    }
    rounds.push(figures);
  }
  return rounds;
}

async function startServers(store: BenchStore, csv: string, secret: string, options: Options) {
  const { workshop } = options;
  const start = (command: string, args: readonly string[]) => startServer(workshop.folder, command, args);
  const hash = createHash('sha256').update(secret).digest('hex');
  const naiveScript = script(import.meta.resolve('./naive-server.ts'));
  tell('a server with a row a bar, filled from the same file');
  return {
    bourse: await start(bourse, ['serve', '--store', store.url, '--log-level', 'silent']),
    naive: await start(process.execPath, [
      ...naiveScript,
      '--csv',
      csv,
      '--store',
      workshop.kept(`rows-${SYMBOLS}-${MINUTES}.db`),
      '--key-hash',
      hash,
    ]),
  };
}

/** The lines of `serve`. */
export async function benchServe(options: Options): Promise<Line[]> {
  const { workshop } = options;
  const csv = workshop.minutes({ rows: SYMBOLS * MINUTES, order: 'symbol', symbols: SYMBOLS });
  const store = workshop.freshStore('serve');
  await store.importMinutes(csv);
  const { stdout: secret } = await store.bourse('keys', 'create', 'bench');
  const requests = requestsFor(secret);
  const servers = await startServers(store, csv, secret, options);
  const bytes = await checkSame(servers.bourse, servers.naive, requests);
  tell(`both answer the same bars; an answer has ${bytes} bytes`);
  const constantScript = script(import.meta.resolve('./constant-server.ts'));
  const constant = await startServer(workshop.folder, process.execPath, [
    ...constantScript,
    '--bytes',
    String(bytes),
  ]);
  const all = { ...servers, constant };
  const rounds = await measure(all, writeScript(workshop.folder, requests), options);
  for (const server of Object.values(all)) await server.stop();
  store.remove();
  return linesOf(rounds);
}

function linesOf(rounds: readonly Round[]): Line[] {
  const measured = median(rounds.map((round) => round.bourse));
  const against = (other: 'constant' | 'naive'): number =>
    median(rounds.map((round) => round.bourse / round[other]));
  const unit = 'requests/s';
  return [
    judged({
      line: `serve: ${LIMIT} bars, nothing cached`,
      measured,
      unit,
      ratio: { value: against('constant'), to: 'one constant Buffer' },
      budget: { atLeast: 0.12 },
    }),
    judged({
      line: `serve: ${LIMIT} bars, nothing cached`,
      measured,
      unit,
      ratio: { value: against('naive'), to: 'Fastify and a row a bar' },
      budget: { atLeast: 2.5 },
    }),
    judged({
      line: `serve: processor time, ${LIMIT} bars`,
      measured: median(rounds.map((round) => round.cpuUs)),
      unit: 'us/request',
      ratio: null,
      budget: { atMost: 120 },
    }),
  ];
}
