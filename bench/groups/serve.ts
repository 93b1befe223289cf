// Requests for 150 bars, the whole way: the same URL again, and random ones that nothing has cached, beside
// other servers of the same bars.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Figure, Line, Missing } from '../line.ts';
import {
  type Encoding,
  inWords,
  type Load,
  load,
  type Requests,
  shareOfLimit,
  targetOf,
  writeScript,
  writeTargets,
} from '../load.ts';
import { random } from '../minutes.ts';
import { startConstant, THE_LIMIT } from '../peers/constant.ts';
import { givesBars, type PeerName, type Peers, peerNames, startPeers } from '../peers/index.ts';
import { type Running, startBourse } from '../process.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import type { Picture } from '../svg/picture.ts';
import { BARS, requestsFor } from '../usual-store.ts';
import { tell } from '../workshop.ts';

const MANY_SERIES = 5_000;
/** Random requests whose answers are compared with those of each peer. */
const COMPARED = 20;
/**
 * Requests one after the other before any load: a server that has just started is slow, and would refuse many
 * at once.
 */
const WARM_UP_REQUESTS = 200;

const own = {
  same: 'Bourse, the same URL again',
  sameGzip: 'Bourse, the same URL again, gzip',
  few: 'Bourse, nothing cached, 50 series',
  fewGzip: 'Bourse, nothing cached, 50 series, gzip',
  many: 'Bourse, nothing cached, 5,000 series',
  gzipLimit: 'one constant Buffer, gzip',
} as const;

type Subject = (typeof own)[keyof typeof own] | PeerName;
type Serving = {
  readonly loads: Readonly<Partial<Record<Subject, readonly Load[]>>>;
  readonly missing: Peers['missing'];
};

const rates = (loads: readonly Load[]): number[] => loads.map((load) => load.requestsPerSecond);

/** Requests a second of one subject against another's. */
function against(subject: Subject, other: Subject): (measured: Serving) => Figure | Missing {
  return ({ loads, missing }) => {
    const theirs = loads[other];
    if (theirs === undefined) return missing[other as PeerName]!;
    const ours = rates(loads[subject]!);
    return { measured: median(ours), ratio: medianRatio(ours, rates(theirs)) };
  };
}

/** The share of the limit that one subject has, by processor time. */
const shareOf =
  (subject: Subject, limit: Subject, time?: 'busierUs') =>
  ({ loads }: Serving): Figure => ({
    measured: median(rates(loads[subject]!)),
    ratio: shareOfLimit(loads[subject]!, loads[limit]!, time),
  });

const unit = 'requests/s';
const targets: Readonly<Partial<Record<PeerName, number>>> = {
  [THE_LIMIT]: 0.2,
  'Fastify and SQLite, a row a bar': 4,
  'Fastify and PostgreSQL, json_agg': 2.5,
};

const lines: readonly Line<Serving>[] = [
  {
    name: `${BARS} bars, the same URL again`,
    unit,
    comparedWith: THE_LIMIT,
    target: { atLeast: 0.8 },
    measure: shareOf(own.same, THE_LIMIT),
  },
  {
    name: `${BARS} bars, the same URL again, gzip`,
    unit,
    comparedWith: own.gzipLimit,
    target: { atLeast: 0.8 },
    measure: shareOf(own.sameGzip, own.gzipLimit),
  },
  ...peerNames.map((peer) => ({
    name: `${BARS} bars, nothing cached, 50 series`,
    unit,
    comparedWith: peer,
    target: targets[peer] === undefined ? null : { atLeast: targets[peer] },
    measure: peer === THE_LIMIT ? shareOf(own.few, peer, 'busierUs') : against(own.few, peer),
  })),
  {
    name: `${BARS} bars, nothing cached, 5,000 series`,
    unit,
    comparedWith: THE_LIMIT,
    target: { atLeast: 0.15 },
    measure: shareOf(own.many, THE_LIMIT, 'busierUs'),
  },
  {
    name: `${BARS} bars, nothing cached, 50 series, gzip`,
    unit,
    comparedWith: 'the same without gzip',
    target: { atLeast: 0.6 },
    measure: against(own.fewGzip, own.few),
  },
  {
    name: `processor time of ${BARS} bars, all threads`,
    unit: 'us/request',
    target: { atMost: 120 },
    measure: ({ loads }) => ({ measured: median(loads[own.few]!.map((load) => load.cpuUs)) }),
  },
];

type Bar = { readonly datetime: string } & Readonly<Record<string, number | string | null>>;
type Page = { readonly result: { readonly next_page_key: string | null; readonly data: readonly Bar[] } };

const compared = ['symbol', 'open', 'high', 'low', 'close', 'volume', 'vwap'];

async function barsOf(server: Running, target: string): Promise<readonly Bar[]> {
  const response = await fetch(server.url + target);
  const text = await response.text();
  assert.equal(response.status, 200, `${target}: ${text.slice(0, 500)}`);
  const { result } = JSON.parse(text) as Page;
  assert.equal(result.data.length, BARS);
  assert.notEqual(result.next_page_key, null);
  return result.data;
}

/** Checks that a peer gives the same bars. */
async function checkSame(ours: Running, theirs: Running, requests: Requests): Promise<void> {
  const next = random(11);
  const pick = (texts: readonly string[]): string => texts[Math.floor(next() * texts.length)]!;
  for (let count = 0; count < COMPARED; count++) {
    const target = targetOf(requests, pick(requests.symbols), pick(requests.starts));
    const [mine, others] = [await barsOf(ours, target), await barsOf(theirs, target)];
    for (const [index, bar] of mine.entries()) {
      const other = others[index]!;
      assert.equal(Date.parse(bar.datetime), Date.parse(other.datetime), target);
      for (const field of compared) assert.equal(bar[field], other[field], `${target}: ${field}`);
    }
  }
}

/** The body of an answer; of the same URL after some others, so that it is in the cache. */
export async function warmUp(server: Running, requests: Requests, encoding: Encoding): Promise<Buffer> {
  const caller = new Caller(server.url);
  const [symbol, start] = [requests.symbols[0]!, requests.starts[0]!];
  for (let asking = 0; asking < WARM_UP_REQUESTS; asking++)
    await caller.must(targetOf(requests, symbol, requests.starts[asking % 50]!), encoding);
  const { body, headers } = await caller.must(targetOf(requests, symbol, start), encoding);
  assert.equal(/^content-encoding: gzip$/im.test(headers), encoding === 'gzip', headers);
  caller.close();
  return body;
}

/** A server of 5,000 series, and its requests. */
async function serveMany({ workshop, scale }: Setting): Promise<{ server: Running; requests: Requests }> {
  const minutes = scale.minutesOfMany;
  const csv = workshop.minutes({ rows: MANY_SERIES * minutes, order: 'symbol', symbols: MANY_SERIES });
  const store = workshop.freshStore('many');
  await store.importMinutes(csv);
  workshop.discard(csv);
  const requests = requestsFor(await store.createKey(), MANY_SERIES, minutes);
  return { server: await startBourse(workshop.folder, store.url), requests };
}

async function measure(setting: Setting): Promise<Serving> {
  const { workshop, scale } = setting;
  const { folder } = workshop;
  const usual = await setting.usual();
  const { requests } = usual;
  const few = await usual.serve();
  const many = await serveMany(setting);
  const answer = await warmUp(few, requests, 'identity');
  const gzipLimit = await startConstant(folder, (await warmUp(few, requests, 'gzip')).length, 'gzip');
  await warmUp(many.server, many.requests, 'identity');
  const peers = await startPeers(workshop, usual, answer);
  for (const name of peerNames) {
    const server = peers.running[name];
    if (server !== undefined && givesBars(name)) await checkSame(few, server, requests);
  }
  tell(`all give the same bars; an answer has ${answer.length} bytes`);

  const plain = writeScript(folder, requests);
  const same = [targetOf(requests, requests.symbols[0]!, requests.starts[0]!)];
  const under = (server: Running, script: string) => (round: number) =>
    load(folder, script, server, { seconds: scale.seconds, seed: round + 2 });
  const subjects: Subjects<Subject, Load> = Object.fromEntries<(round: number) => Promise<Load>>([
    [own.same, under(few, writeTargets(folder, 'same', same))],
    [own.sameGzip, under(few, writeTargets(folder, 'same-gzip', same, 'gzip'))],
    [own.gzipLimit, under(gzipLimit, plain)],
    [own.few, under(few, plain)],
    [own.fewGzip, under(few, writeScript(folder, requests, 'requests-gzip', 'gzip'))],
    [own.many, under(many.server, writeScript(folder, many.requests, 'requests-many'))],
    ...Object.entries(peers.running).map(([name, server]) => [name, under(server, plain)] as const),
  ]) as Subjects<Subject, Load>;
  const warm: (readonly [Running, string])[] = [
    [few, plain],
    [gzipLimit, plain],
    [many.server, join(folder, 'requests-many.lua')],
    ...Object.values(peers.running).map((server) => [server, plain] as const),
  ];
  for (const [server, script] of warm)
    await load(folder, script, server, {
      seconds: scale.warmUpSeconds,
      seed: 1,
      countErrors: true,
    });
  const loads = await interleave('serve', scale.rounds, subjects, inWords);
  for (const server of [few, many.server, gzipLimit]) await server.stop();
  await peers.stop();
  return { loads, missing: peers.missing };
}

/** Each subject as a share of the limit. */
function picturesOf({ loads }: Serving): Picture[] {
  const limit = rates(loads[THE_LIMIT]!);
  const shown = [own.same, own.few, own.many, ...peerNames];
  const bars = shown.flatMap((name) => {
    const measured = loads[name];
    const isOurs = (Object.values(own) as Subject[]).includes(name);
    const value = measured === undefined ? Number.NaN : medianRatio(rates(measured), limit);
    return Number.isFinite(value) ? [{ label: name, value, isOurs }] : [];
  });
  return [
    {
      kind: 'bars',
      file: 'share-of-the-limit',
      title: `Answers of ${BARS} bars a second, as a share of the limit of a Node.js process`,
      bars: bars.toSorted((a, b) => b.value - a.value),
    },
  ];
}

/** The lines of `serve`. */
export const serve = group('serve', '200 requests, 2 s of load', lines, measure, picturesOf);
