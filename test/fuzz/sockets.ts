// Requests over real connections to a real server: kept, several at once, some pipelined.
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, type RawAnswer } from '../connection.ts';
import { fillStore } from '../importing.ts';
import type { Server, Workshop } from '../service.ts';
import type { Known } from './answers.ts';
import { Findings } from './findings.ts';
import { Random } from './random.ts';
import { fillings } from './store.ts';
import { makeTrial, type Trial, wholeEndpoints } from './trial.ts';
import { collectPageKeys } from './walk.ts';

const CONNECTIONS = 8;
const PIPELINED_MAX = 6;
const AGAIN_MAX = 20;

/** Imports the fuzzer's data, makes its keys and starts a server. */
export async function openService(shop: Workshop): Promise<{ server: Server; known: Known }> {
  await fillStore(shop.store, shop.folder, Date.now(), fillings);
  const revoked = await shop.must('keys', 'create', 'revoked');
  const [listed] = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string }[];
  await shop.must('keys', 'revoke', listed!.id);
  const liveKey = await shop.must('keys', 'create', 'live');
  const server = await shop.serve('--log-level', 'trace');
  const bodyOf = async (address: string) => (await server.get(`${address}&secret_key=${liveKey}`)).text();
  const deadKeys = [revoked, 'never-issued-never-issued-never-issued-00000', 'short-and-dead'];
  return {
    server,
    known: { liveKey, deadKeys, pageKeys: await collectPageKeys(bodyOf) },
  };
}

function bytesOf({ method, target, headers }: Trial): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${fields.join('')}\r\n`;
}

/**
 * The answer to a request that the service has refused for want of time, asked again as Retry-After says:
 * other work may fill the machine (contract 6.3).
 */
async function untilAdmitted(connection: Connection, trial: Trial, first: RawAnswer): Promise<RawAnswer> {
  let reply = first;
  for (let again = 0; again < AGAIN_MAX && reply.status === 503; again++) {
    await sleep(Number(reply.headers.get('retry-after')) * 1_000);
    [reply] = (await Promise.all(connection.ask(bytesOf(trial), [trial.method !== 'HEAD']))) as [RawAnswer];
  }
  return reply;
}

/**
 * Asks so many requests; none in bulk, of which a key may have four at once. @throws at the first wrong
 * answer, with its seed, number and request
 */
export async function fuzzSockets(url: string, known: Known, seed: number, count: number): Promise<Findings> {
  const findings = new Findings();
  let next = 0;
  async function converse(): Promise<void> {
    const connection = new Connection(url);
    while (next < count) {
      const first = next;
      next = Math.min(count, first + 1 + new Random(seed, -first).below(PIPELINED_MAX));
      const batch = Array.from({ length: next - first }, (_, offset) => {
        const index = first + offset;
        return { seed, index, trial: makeTrial(new Random(seed, index), known, wholeEndpoints) };
      });
      const startedMs = performance.now();
      const answers = connection.ask(
        batch.map(({ trial }) => bytesOf(trial)).join(''),
        batch.map(({ trial }) => trial.method !== 'HEAD'),
      );
      const replies = await Promise.all(answers);
      const tookMs = performance.now() - startedMs;
      for (const [place, first] of replies.entries()) {
        const asked = batch[place]!;
        const reply = await untilAdmitted(connection, asked.trial, first);
        findings.note(asked, reply, tookMs, known);
      }
    }
    await connection.close();
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, converse));
  return findings;
}
