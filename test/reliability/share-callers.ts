// A key with many connections, in a process of its own: each asks again as soon as it is answered, until
// standard input ends.
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { headersOf, surfaces } from './surfaces.ts';

/** What the connections are to do. */
export type SharePlan = {
  readonly url: string;
  readonly key: string;
  readonly symbol: string;
  readonly surface: string;
  readonly connections: number;
};

const lines = createInterface({ input: process.stdin });
const [line] = (await once(lines, 'line')) as [string];
const { url, key, symbol, surface, connections } = JSON.parse(line) as SharePlan;
lines.once('close', () => process.exit(0));

const agent = new Agent({ keepAlive: true, maxSockets: connections });
const make = surfaces(symbol)[surface]!;
let asked = 0;

function ask(): Promise<void> {
  // The other key has the numbers below.
  const sent = make(100_000 + asked++);
  return new Promise((resolve) => {
    const method = sent.body === undefined ? 'GET' : 'POST';
    const asking = request(
      url + sent.target,
      { agent, method, headers: headersOf(sent, key) },
      (response) => {
        response.resume();
        response.once('close', resolve);
      },
    );
    asking.once('error', () => resolve());
    asking.end(sent.body);
  });
}

process.stdout.write('begun\n');
await Promise.all(
  Array.from({ length: connections }, async () => {
    for (;;) await ask();
  }),
);
