// How keys share a server: what a key's small requests take beside another key with many connections, surface
// by surface.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symbolOf } from '../../bench/minutes.ts';
import { type Server, Workshop } from '../service.ts';
import { aimed, type Figure, minutesFile, named } from './minutes.ts';
import type { SharePlan } from './share-callers.ts';
import { initOf, type Sent, surfaces } from './surfaces.ts';

/** The connections of the first key, and for how long the other asks. */
export type ShareCheck = { readonly connections: number; readonly seconds: number };

/** A request takes at most so many times its time alone (contract 6.3). */
const TIMES_MAX = 3;
const SYMBOLS = 10;
const MINUTES = 2_000;

type Measured = {
  readonly meanMs: number;
  readonly answers: number;
  readonly others: Readonly<Record<string, number>>;
};

/**
 * Asks one request after the other; what an answer takes on the average, and how many had another status than
 * 200.
 */
async function measure(
  server: Server,
  secret: string,
  request: (n: number) => Sent,
  first: number,
  seconds: number,
): Promise<Measured> {
  const others: Record<string, number> = {};
  const endMs = performance.now() + seconds * 1_000;
  let [sumMs, answers] = [0, 0];
  for (let n = first; performance.now() < endMs; n++) {
    const sent = request(n);
    const startedMs = performance.now();
    const answer = await server.get(sent.target, initOf(sent, secret));
    await answer.arrayBuffer();
    sumMs += performance.now() - startedMs;
    answers++;
    if (answer.status !== 200) others[answer.status] = (others[answer.status] ?? 0) + 1;
  }
  return { meanMs: sumMs / answers, answers, others };
}

/** The same beside another key with many connections. */
async function beside<T>(plan: SharePlan, work: () => Promise<T>): Promise<T> {
  const callers = spawn(process.execPath, [new URL('./share-callers.ts', import.meta.url).pathname], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  callers.stdin.write(`${JSON.stringify(plan)}\n`);
  await once(callers.stdout, 'data');
  try {
    return await work();
  } finally {
    callers.stdin.end();
    await once(callers, 'exit');
  }
}

/** Each surface by itself. */
export async function checkShare({ connections, seconds }: ShareCheck): Promise<Figure[]> {
  const shop = new Workshop();
  try {
    await shop.must('import', 'bars', minutesFile(shop.path('minutes.csv'), SYMBOLS, MINUTES), ...named);
    const [greedy, small] = [
      await shop.must('keys', 'create', 'greedy'),
      await shop.must('keys', 'create', 'small'),
    ];
    const symbol = symbolOf(0);
    const server = await shop.serve();
    const figures: Figure[] = [];
    for (const [surface, request] of Object.entries(surfaces(symbol))) {
      await measure(server, small, request, 0, 1);
      const alone = await measure(server, small, request, 10_000, seconds);
      const plan = { url: server.url, key: greedy, symbol, surface, connections };
      const found = await beside(plan, () => measure(server, small, request, 20_000, seconds));
      const isShared = found.meanMs <= TIMES_MAX * alone.meanMs && Object.keys(found.others).length === 0;
      const value = `${found.meanMs.toFixed(1)} ms, ${alone.meanMs.toFixed(1)} alone: ${(found.meanMs / alone.meanMs).toFixed(1)} times; of ${found.answers} not 200: ${JSON.stringify(found.others)}`;
      figures.push(aimed(surface, value, isShared, `at most ${TIMES_MAX} times, each with 200`));
    }
    await server.stop();
    return figures;
  } finally {
    shop.close();
  }
}
