// Load on a server of this machine, by wrk: requests for bars of a random symbol from a random minute on, or random ones of a list.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.ts';

/** The requests that a load is made of. */
export type Requests = {
  readonly symbols: readonly string[];
  /** The instants from which bars are asked for, and the one up to which. */
  readonly starts: readonly string[];
  readonly end: string;
  readonly limit: number;
  readonly secret: string;
};

/** What a load came to. */
export type Load = {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Answers other than 200, and connections that broke. */
  readonly errors: number;
};

/** Connections of a load that is to be as high as can be. */
export const CONNECTIONS_MANY = 32;

/** Whether wrk is there. */
export const hasWrk = (): boolean => spawnSync('wrk', ['--version']).error === undefined;

/** What to do where wrk is not there. */
export const WRK_MISSING =
  'the benchmark of serve needs wrk: apt-get install wrk, brew install wrk, or leave it out with --only import';

/** The target of one of the requests. */
export const targetOf = (requests: Requests, symbol: string, start: string): string =>
  `/api/v2/stock/bars/US:${symbol}/1M/from/${start}/to/${requests.end}?limit=${requests.limit}&secret_key=${requests.secret}`;

/** A list in Lua. */
const list = (texts: readonly string[]): string => `{${texts.map((text) => JSON.stringify(text)).join()}}`;

/** Writes a Lua script: lists, and the request that is made of them; its path. The texts are put together by hand: wrk.format costs more. */
function writeLua(path: string, lists: string, target: string): string {
  writeFileSync(
    path,
    `${lists}
local random = math.random
function init(args) math.randomseed(tonumber(args[1])) end
function request()
  return "GET " .. ${target} .. " HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n"
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"errors":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`,
  );
  return path;
}

/** Writes the script that asks for bars; its path. */
export function writeScript(folder: string, requests: Requests): string {
  const [head, middle, tail] = targetOf(requests, '|', '|').split('|') as [string, string, string];
  return writeLua(
    join(folder, 'requests.lua'),
    `local symbols = ${list(requests.symbols)}\nlocal starts = ${list(requests.starts)}`,
    `"${head}" .. symbols[random(#symbols)] .. "${middle}" .. starts[random(#starts)] .. "${tail}"`,
  );
}

/** Writes the script that asks for targets at random; its path. */
export const writeTargets = (folder: string, name: string, targets: readonly string[]): string =>
  writeLua(join(folder, `${name}.lua`), `local targets = ${list(targets)}`, 'targets[random(#targets)]');

/** Loads a server; the same seed asks for the same. @throws when an answer was not 200 */
export async function load(
  folder: string,
  script: string,
  url: string,
  seconds: number,
  seed: number,
  connections = CONNECTIONS_MANY,
): Promise<Load> {
  if (!url.startsWith('http://127.0.0.1:')) throw new Error(`${url} is not on this machine`);
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, url, '--', String(seed)];
  const { stdout } = await run(folder, 'wrk', args);
  const { durationUs, ...counts } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))) as Omit<
    Load,
    'requestsPerSecond'
  > & { readonly durationUs: number };
  if (counts.errors > 0) throw new Error(`${url}: ${counts.errors} of ${counts.requests} requests failed`);
  return { ...counts, requestsPerSecond: (counts.requests / durationUs) * 1e6 };
}
