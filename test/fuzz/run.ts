// `npm run fuzz`: the fuzzer for as long as one likes. --seed N repeats a run, --count N in process, from
// number
// --first N on, --sockets N over sockets. Exits with 1 where an answer takes too long, or the heap grows: for a quiet machine.
import { parseArgs } from 'node:util';
import { Workshop } from '../service.ts';
import type { Findings } from './findings.ts';
import { fuzzInProcess, heapBytes, openBench } from './in-process.ts';
import { fuzzSockets, openService } from './sockets.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    count: { type: 'string', default: '1000000' },
    first: { type: 'string', default: '0' },
    sockets: { type: 'string', default: '10000' },
  },
});

function wholeNumber(name: keyof typeof values): number {
  if (/^\d{1,12}$/.test(values[name])) return Number(values[name]);
  throw new Error(`--${name} must be a whole number`);
}

const [seed, count, first] = [wholeNumber('seed'), wholeNumber('count'), wholeNumber('first')];
const sockets = wholeNumber('sockets');
console.log(`seed ${seed}`);

/** Says what does not hold. */
function check(holds: boolean, what: string): void {
  if (holds) return;
  console.error(`missed: ${what}`);
  process.exitCode = 1;
}

/** Checks the time within which each part of the answers must have come. */
function checkTimes(findings: Findings, bounds: readonly (readonly [part: number, ms: number])[]): void {
  for (const [part, ms] of bounds)
    check(findings.quantileMs(part) < ms, `${part * 100} % of the answers take less than ${ms} ms`);
}

async function inProcess(): Promise<void> {
  const bench = await openBench();
  try {
    const half = Math.floor(count / 2);
    await fuzzInProcess(bench, seed, half, first);
    // Each statement has been made by now, and the calendars of all years are built.
    const early = heapBytes();
    const findings = await fuzzInProcess(bench, seed, count - half, first + half);
    const late = heapBytes();
    console.log(`second half in process: ${findings.summary()}; heap ${early} -> ${late} bytes`);
    checkTimes(findings, [[1, 250]]);
    if (half >= 17_000) check(late < early * 1.2 + 2_000_000, 'the heap does not grow');
  } finally {
    await bench.close();
  }
}

async function overSockets(): Promise<void> {
  const shop = new Workshop();
  try {
    const { server, known } = await openService(shop);
    const findings = await fuzzSockets(server.url, known, seed, sockets);
    console.log(`over sockets: ${findings.summary()}`);
    checkTimes(findings, [
      [0.5, 250],
      [0.99, 2_000],
      [1, 10_000],
    ]);
    await server.stop();
  } finally {
    shop.close();
  }
}

if (count > 0) await inProcess();
if (sockets > 0) await overSockets();
