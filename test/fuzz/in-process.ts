// Requests through the real request handler over a real store, in this process, one after the other.
import type { Observation } from '../../src/base/observe.ts';
import { startParquet } from '../../src/queries/export/parquet-process.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import type { AddressSettings } from '../../src/serve/base-address.ts';
import { ResponseCache } from '../../src/serve/cache/response-cache.ts';
import { RequestHandler } from '../../src/serve/handler.ts';
import { issueKey, KeyRing, noTerms, revokeKey } from '../../src/serve/keys/api-keys.ts';
import { Quotas } from '../../src/serve/keys/quotas.ts';
import { UnsentBytes } from '../../src/serve/outgoing/unsent-bytes.ts';
import { ParquetSpool } from '../../src/serve/spool/parquet-spool.ts';
import { addQuotaUses, readKeys } from '../../src/store/control.ts';
import { openControl, openStore } from '../../src/store/engines.ts';
import type { RowStore, Store } from '../../src/store/store.ts';
import { collectGarbage } from '../garbage.ts';
import { fillStore } from '../importing.ts';
import { TestFolder } from '../stores.ts';
import type { AnyName, GivenPageKey, Known } from './answers.ts';
import { Findings } from './findings.ts';
import { Random } from './random.ts';
import { ReadParameters } from './read-parameters.ts';
import { fillings } from './store.ts';
import { makeTrial, type Trial } from './trial.ts';
import { collectPageKeys } from './walk.ts';

/** A service in this process. */
export type Bench = {
  readonly handler: RequestHandler;
  readonly known: Known;
  readonly read: ReadParameters;
  close(): Promise<void>;
};

/** The moment of every request: after all bars, and the same in every run. */
export const NOW_MS = Date.parse('2025-06-01T00:00:00Z');

const direct: AddressSettings = { publicUrl: null, allowedHosts: [], trustProxy: false, scheme: 'http' };

/** Imports the fuzzer's data into a new store and opens a request handler on it. */
export async function openBench(address = direct): Promise<Bench> {
  const temporary = new TestFolder();
  const url = temporary.storeUrl();
  await fillStore(url, temporary.folder, NOW_MS, fillings);
  const control = await openControl(url, 'write');
  const keys = await issueKeys(control);
  const store = await openStore(url, 'serve');
  const read = new ReadParameters();
  const handler = handlerOn(store, control, address, quotasOn(control), read);
  const pageKeys = await pageKeysOf(handler, keys);
  return {
    handler,
    known: { ...keys, pageKeys },
    read,
    async close() {
      await store.close();
      await control.close();
      temporary.close();
    },
  };
}

/** Issues a key, and gives it with keys that open nothing. */
export async function issueKeys(control: RowStore): Promise<Omit<Known, 'pageKeys'>> {
  const { secret: liveKey } = await issueKey(control, 'live', noTerms, NOW_MS);
  const revoked = await issueKey(control, 'revoked', noTerms, NOW_MS);
  await revokeKey(control, revoked.key.key_id, NOW_MS);
  return {
    liveKey,
    deadKeys: [revoked.secret, 'never-issued-never-issued-never-issued-00000', 'short-and-dead'],
  };
}

/** Counts of keys with a quota. They are closed before the control store, which has them. */
export const quotasOn = (control: RowStore): Quotas =>
  new Quotas({
    addUses: (uses) => addQuotaUses(control, uses, Date.now),
    observe: rejectFaults,
    nowMs: () => NOW_MS,
  });

/** A request handler on a store and its keys. Page keys are signed with the same secret in every run. */
export function handlerOn(
  store: Store,
  control: RowStore,
  address = direct,
  quotas = quotasOn(control),
  read = new ReadParameters(),
): RequestHandler {
  const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
  return new RequestHandler({
    pages: new Map(),
    keys: new KeyRing(() => readKeys(control)),
    // Small, so that it is full before the heap is looked at.
    cache: new ResponseCache(store, 1_000_000),
    quotas,
    unsent: new UnsentBytes(),
    admits: () => true,
    spool: new ParquetSpool(),
    startParquet,
    submit: (request) => runner.run(read.watching(request)),
    address,
    version: '0.0.0',
    observe: rejectFaults,
    nowMs: () => NOW_MS,
  });
}

/** Page keys of the fuzzer's data. */
export const pageKeysOf = (
  handler: RequestHandler,
  { liveKey }: Pick<Known, 'liveKey'>,
): Promise<GivenPageKey[]> =>
  collectPageKeys((address) => bodyOf(handler, `${address}&secret_key=${liveKey}`));

function rejectFaults(observation: Observation): void {
  if (observation.kind === 'fault') throw new Error(observation.cause);
}

async function bodyOf(handler: RequestHandler, target: string): Promise<string> {
  const reply = await handler.handle({
    method: 'GET',
    target,
    headers: { host: 'localhost' },
    isGone: () => false,
  });
  return Buffer.concat(reply.body).toString();
}

/**
 * Requests of one endpoint after which nothing that it can give is missing: the rarest comes by a few
 * hundred.
 */
const OF_ONE_MAX = 20_000;

/**
 * Asks the endpoints whose good answers lacked a kind until it comes: among a few thousand requests of all it
 * may not, by their seed.
 */
export async function fuzzMissing(bench: Bench, seed: number, findings: Findings): Promise<void> {
  for (const endpoint of new Set(findings.missing().map(({ endpoint }) => endpoint)))
    for (
      let index = 0;
      index < OF_ONE_MAX && findings.missing().some((kind) => kind.endpoint === endpoint);
      index++
    )
      await fuzzInProcess(bench, seed, 1, index, findings, [endpoint]);
}

/** Bytes of the heap without garbage. */
export function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/**
 * The answer, and how long it took; where others use the machine, the processor's time is the shorter and the
 * true one.
 */
export async function ask(handler: RequestHandler, { method, target, headers }: Trial) {
  const startedMs = performance.now();
  const usedBefore = process.threadCpuUsage();
  const reply = await handler.handle({ method, target, headers, isGone: () => false });
  const pieces: Uint8Array[] = [...reply.body];
  for (let piece = await reply.rest?.(); piece; piece = await reply.rest?.()) pieces.push(piece);
  const { user, system } = process.threadCpuUsage(usedBefore);
  const tookMs = Math.min(performance.now() - startedMs, (user + system) / 1_000);
  const named = Object.entries(reply.headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const isText = !/^application\/vnd/.test(reply.headers['Content-Type'] ?? '');
  const body = Buffer.concat(pieces).toString(isText ? 'utf8' : 'latin1');
  reply.release?.();
  return { tookMs, reply: { status: reply.status, headers: new Map(named), body } };
}

/**
 * Asks so many requests, from the one with a number on, of some endpoints or of all, and adds to what was
 * found before.
 * @throws at the first wrong answer, with its seed, number and request
 */
export async function fuzzInProcess(
  { handler, known }: Bench,
  seed: number,
  count: number,
  first = 0,
  findings = new Findings(),
  endpoints?: readonly AnyName[],
): Promise<Findings> {
  for (let index = first; index < first + count; index++) {
    const trial = makeTrial(new Random(seed, index), known, endpoints);
    const { tookMs, reply } = await ask(handler, trial);
    findings.note({ seed, index, trial }, reply, tookMs, known);
  }
  return findings;
}
