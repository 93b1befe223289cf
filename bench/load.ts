// Load on a server of this machine, by wrk: requests for bars of a random symbol from a random minute on, or
// random ones of a list.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUs, family, threadsUs } from './proc.ts';
import { type Running, run } from './process.ts';
import { medianRatio } from './statistics.ts';

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
  /** Answers with status 200. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Us: number;
  readonly p99Us: number;
  /** Answers other than 200, and connections that broke. */
  readonly errors: number;
  /** Processor time of the server and of the processes that it started, for one request, in microseconds. */
  readonly cpuUs: number;
  /** The same of the thread of the server that worked most. */
  readonly busierUs: number;
};

/** A load on a server; what is left out is as usual. */
export type LoadOptions = {
  readonly seconds: number;
  /** The same seed asks for the same. */
  readonly seed: number;
  readonly connections?: number;
  /** Errors are the measurement: however many there are, the other figures count. */
  readonly countErrors?: boolean;
};

/** A figure is still one when so few requests are refused, as on a busy machine. */
const ERROR_SHARE_MAX = 0.01;

/** Connections of a load that is to be as high as can be. */
export const CONNECTIONS_MANY = 32;

/** A slow peer on a busy machine is slow, not broken. */
const TIMEOUT = '10s';

/** Whether wrk is there. */
export const hasWrk = (): boolean => spawnSync('wrk', ['--version']).error === undefined;

/** What to do where wrk is not there. */
export const WRK_MISSING =
  'the groups that put load on a server need wrk: apt-get install wrk, brew install wrk, or leave them out with --only import';

/** The target of one of the requests. */
export const targetOf = (requests: Requests, symbol: string, start: string): string =>
  `/api/v2/stock/bars/US:${symbol}/1M/from/${start}/to/${requests.end}?limit=${requests.limit}&secret_key=${requests.secret}`;

/** A list in Lua. */
const list = (texts: readonly string[]): string => `{${texts.map((text) => JSON.stringify(text)).join()}}`;

/**
 * Writes a Lua script of lists and the request that is made of them; its path. The texts are put together by
 * hand: wrk.format costs more. After its work it prints one line of JSON.
 */
function writeLua(path: string, lists: string, target: string, encoding: string): string {
  writeFileSync(
    path,
    `${lists}
local random = math.random
function init(args) math.randomseed(tonumber(args[1])) end
function request()
  return "GET " .. ${target} .. " HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\nAccept-Encoding: ${encoding}\\r\\n\\r\\n"
end
function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\\n{"requests":%d,"durationUs":%d,"p50Us":%d,"p99Us":%d,"errors":%d}',
    summary.requests - errors.status, summary.duration, latency:percentile(50), latency:percentile(99),
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
`,
  );
  return path;
}

/** Codings that a caller may accept. */
export type Encoding = 'identity' | 'gzip';

/** Writes the script that asks for bars of a random series from a random minute on; its path. */
export function writeScript(
  folder: string,
  requests: Requests,
  name = 'requests',
  encoding: Encoding = 'identity',
): string {
  const [head, middle, tail] = targetOf(requests, '|', '|').split('|') as [string, string, string];
  return writeLua(
    join(folder, `${name}.lua`),
    `local symbols = ${list(requests.symbols)}\nlocal starts = ${list(requests.starts)}`,
    `"${head}" .. symbols[random(#symbols)] .. "${middle}" .. starts[random(#starts)] .. "${tail}"`,
    encoding,
  );
}

/** Writes the script that asks for targets at random; its path. */
export const writeTargets = (
  folder: string,
  name: string,
  targets: readonly string[],
  encoding: Encoding = 'identity',
): string =>
  writeLua(
    join(folder, `${name}.lua`),
    `local targets = ${list(targets)}`,
    'targets[random(#targets)]',
    encoding,
  );

/**
 * Loads a server. Figures are NaN where there was no answer, or too many errors beside the answers and errors
 * are not what is measured.
 */
export async function load(
  folder: string,
  script: string,
  { url, pid }: Pick<Running, 'url' | 'pid'>,
  { seconds, seed, connections = CONNECTIONS_MANY, countErrors = false }: LoadOptions,
): Promise<Load> {
  if (!url.startsWith('http://127.0.0.1:')) throw new Error(`${url} is not on this machine`);
  const args = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    TIMEOUT,
    '-s',
    script,
    url,
    '--',
    String(seed),
  ];
  const [before, threads] = [cpuUs(family(pid)), threadsUs(family(pid))];
  const { stdout } = await run(folder, 'wrk', args);
  const used = cpuUs(family(pid)) - before;
  const busier = Math.max(
    ...threadsUs(family(pid))
      .entries()
      .map(([task, us]) => us - (threads.get(task) ?? 0)),
  );
  const { durationUs, ...counts } = JSON.parse(stdout.slice(stdout.lastIndexOf('\n'))) as Omit<
    Load,
    'requestsPerSecond' | 'cpuUs' | 'busierUs'
  > & { readonly durationUs: number };
  const isFigure = countErrors || counts.errors <= counts.requests * ERROR_SHARE_MAX;
  const figure = (value: number): number => (isFigure && counts.requests > 0 ? value : Number.NaN);
  return {
    requests: counts.requests,
    errors: counts.errors,
    requestsPerSecond: figure((counts.requests / durationUs) * 1e6),
    p50Us: figure(counts.p50Us),
    p99Us: figure(counts.p99Us),
    cpuUs: figure(used / counts.requests),
    busierUs: figure(busier / counts.requests),
  };
}

/**
 * The processor time of one constant Buffer over that of a server, in each round. Where two threads share a
 * request, that of the busier one counts.
 */
export const shareOfLimit = (
  ours: readonly Load[],
  limit: readonly Load[],
  time: 'cpuUs' | 'busierUs' = 'cpuUs',
): number =>
  medianRatio(
    limit.map((load) => load.cpuUs),
    ours.map((load) => load[time]),
  );

/** A load in words. */
export const inWords = (load: Load): string =>
  `${load.requestsPerSecond.toFixed(0)} requests/s, CPU ${load.cpuUs.toFixed(0)} us, of one thread ${load.busierUs.toFixed(0)}, p50 ${load.p50Us} us, p99 ${load.p99Us} us${load.errors > 0 ? `, ${load.errors} errors` : ''}`;
