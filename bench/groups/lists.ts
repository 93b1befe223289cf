// Lists and records over a store of the size that they are designed for: the warm ones against a constant
// Buffer, the others by their time.
import assert from 'node:assert/strict';
import { Caller } from '../caller.ts';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { LIMIT, type PagedKind, pagedKinds, timedKinds, warmKinds } from '../lists/kinds.ts';
import { type ListSize, listSize, listStore } from '../lists/store.ts';
import { type Load, load, shareOfLimit, writeTargets } from '../load.ts';
import { random } from '../minutes.ts';
import { startConstant, THE_LIMIT } from '../peers/constant.ts';
import { workerCpuUs } from '../proc.ts';
import { type Running, startBourse } from '../process.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { median, medianRatio } from '../statistics.ts';
import type { Workshop } from '../workshop.ts';

/** Rows of a page on the way to a late one. */
const WALK_LIMIT = 1_000;
/** A warm-up takes this part of a round. */
const WARM_UP_SHARE = 0.3;

type Timed = { readonly ms: number; readonly queryUs: number };
type Warm = Load & { readonly queryUs: number };
type Measured = {
  readonly warm: Readonly<
    Record<string, { readonly ours: readonly Warm[]; readonly limit: readonly Warm[] }>
  >;
  readonly timed: Readonly<Record<string, readonly Timed[]>>;
};

const lateOf = (name: string): string => `${name}, a late page`;
const middle = <K extends string>(figures: readonly Readonly<Record<K, number>>[], key: K): number =>
  median(figures.map((figure) => figure[key]));
const timedFigure = ({ timed }: Measured, name: string) => ({
  measured: middle(timed[name]!, 'ms'),
  queryUs: middle(timed[name]!, 'queryUs'),
});

const timedLine = (name: string, atMostMs: number): Line<Measured> => ({
  name,
  unit: 'ms',
  target: { atMost: atMostMs },
  measure: (measured) => timedFigure(measured, name),
});

const lateLine = (name: string): Line<Measured> => ({
  name: `${lateOf(name)} against page 1`,
  unit: 'ms',
  comparedWith: 'page 1',
  target: { atMost: 1.2 },
  measure: (measured) => {
    const [late, first] = [measured.timed[lateOf(name)]!, measured.timed[name]!];
    const ratio = medianRatio(
      late.map(({ ms }) => ms),
      first.map(({ ms }) => ms),
    );
    return { ...timedFigure(measured, lateOf(name)), ratio };
  },
});

const lines: readonly Line<Measured>[] = [
  ...warmKinds.map(
    ({ name }): Line<Measured> => ({
      name: `${name}, warm`,
      unit: 'requests/s',
      comparedWith: THE_LIMIT,
      target: { atLeast: 0.8 },
      warmUp: 'each once, 2 s of load',
      measure: ({ warm }) => {
        const { ours, limit } = warm[name]!;
        const ratio = shareOfLimit(ours, limit);
        return { measured: middle(ours, 'requestsPerSecond'), queryUs: middle(ours, 'queryUs'), ratio };
      },
    }),
  ),
  ...timedKinds.map(({ name, atMostMs }) => timedLine(name, atMostMs)),
  ...pagedKinds.flatMap(({ name, atMostMs }) => [
    timedLine(name, atMostMs),
    timedLine(lateOf(name), atMostMs),
    lateLine(name),
  ]),
];

const signed = (target: string, secret: string): string =>
  `${target}${target.includes('?') ? '&' : '?'}secret_key=${secret}`;

/** The target of the page of that number of the walk that another one begins. */
async function walkTo(caller: Caller, target: string, page: number): Promise<string> {
  let at = target;
  for (let passed = 0; passed < (page - 1) * LIMIT; ) {
    const limit = (page - 1) * LIMIT - passed >= WALK_LIMIT ? WALK_LIMIT : LIMIT;
    const { body } = await caller.must(at.replace(`limit=${LIMIT}`, `limit=${limit}`));
    const answer = JSON.parse(body.toString()) as { result: { next_page_key: string | null } };
    const key = answer.result.next_page_key;
    assert.ok(key !== null, `${at} is the last page`);
    passed += limit;
    at = `${target}&next_page_key=${key}`;
  }
  return at;
}

/** Asks for random ones of some targets, one after the other, for some time. */
async function askFor(
  caller: Caller,
  pid: number,
  targets: readonly string[],
  ms: number,
  seed: number,
): Promise<Timed> {
  const next = random(seed);
  const times: number[] = [];
  const before = workerCpuUs(pid);
  for (const endMs = performance.now() + ms; performance.now() < endMs; )
    times.push((await caller.must(targets[Math.floor(next() * targets.length)]!)).ms);
  return { ms: median(times), queryUs: (workerCpuUs(pid) - before) / times.length };
}

/** The targets of every kind that is asked for one by one. */
async function timedTargets(
  { scale }: Setting,
  size: ListSize,
  caller: Caller,
  secret: string,
): Promise<(readonly [string, readonly string[]])[]> {
  const targetsOf = (kind: { targets(size: ListSize): string[] }): string[] =>
    kind.targets(size).map((target) => signed(target, secret));
  const paged = async (kind: PagedKind): Promise<(readonly [string, readonly string[]])[]> => {
    const first = targetsOf(kind).slice(0, scale.walks);
    const late: string[] = [];
    for (const target of first) late.push(await walkTo(caller, target, scale[kind.late]));
    return [
      [kind.name, first],
      [lateOf(kind.name), late],
    ];
  };
  const all: (readonly [string, readonly string[]])[] = timedKinds.map((kind) => [
    kind.name,
    targetsOf(kind),
  ]);
  for (const kind of pagedKinds) all.push(...(await paged(kind)));
  return all;
}

async function measureTimed(
  setting: Setting,
  size: ListSize,
  server: Running,
  secret: string,
): Promise<Measured['timed']> {
  const { scale } = setting;
  const caller = new Caller(server.url);
  const kinds = await timedTargets(setting, size, caller, secret);
  for (const [, targets] of kinds)
    await askFor(caller, server.pid, targets, scale.serialMs * WARM_UP_SHARE, 1);
  const subjects = Object.fromEntries(
    kinds.map(([name, targets]) => [
      name,
      (round: number) => askFor(caller, server.pid, targets, scale.serialMs, round + 2),
    ]),
  );
  const timed = await interleave(
    'lists',
    scale.rounds,
    subjects,
    ({ ms, queryUs }) => `p50 ${ms.toFixed(2)} ms, query thread ${queryUs.toFixed(0)} us`,
  );
  caller.close();
  return timed;
}

/** A load and what it took of the query thread. */
async function warmLoad(
  { folder }: Workshop,
  lua: string,
  server: Running,
  seconds: number,
  seed: number,
): Promise<Warm> {
  const before = workerCpuUs(server.pid);
  const measured = await load(folder, lua, server, { seconds, seed });
  return { ...measured, queryUs: (workerCpuUs(server.pid) - before) / measured.requests };
}

async function measureWarm(
  { scale, workshop }: Setting,
  size: ListSize,
  server: Running,
  secret: string,
): Promise<Measured['warm']> {
  const caller = new Caller(server.url);
  const warm: Record<string, { ours: readonly Warm[]; limit: readonly Warm[] }> = {};
  for (const kind of warmKinds) {
    const targets = kind.targets(size).map((target) => signed(target, secret));
    let bytes = 0;
    for (const target of targets) bytes = (await caller.must(target)).body.length;
    const constant = await startConstant(workshop.folder, bytes);
    const lua = writeTargets(workshop.folder, kind.name.replaceAll(' ', '-'), targets);
    const under = (subject: Running) => (round: number) =>
      warmLoad(workshop, lua, subject, scale.seconds, round + 2);
    for (const subject of [server, constant]) await warmLoad(workshop, lua, subject, scale.warmUpSeconds, 1);
    const subjects: Subjects<'ours' | 'limit', Warm> = { ours: under(server), limit: under(constant) };
    warm[kind.name] = await interleave(
      `lists: ${kind.name}, ${bytes} bytes`,
      scale.rounds,
      subjects,
      ({ requestsPerSecond }) => `${requestsPerSecond.toFixed(0)} requests/s`,
    );
    await constant.stop();
  }
  caller.close();
  return warm;
}

async function measure(setting: Setting): Promise<Measured> {
  const { scale, workshop } = setting;
  const size = listSize(scale.listShare, scale.news);
  const store = await listStore(workshop, size);
  const secret = await store.createKey();
  const server = await startBourse(workshop.folder, store.url);
  const warm = await measureWarm(setting, size, server, secret);
  const timed = await measureTimed(setting, size, server, secret);
  await server.stop();
  return { warm, timed };
}

/** The lines of `lists`. */
export const lists = group('lists', 'each kind for 0.3 s', lines, measure);
