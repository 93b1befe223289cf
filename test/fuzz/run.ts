// `npm run fuzz`: the fuzzer for as long as one likes. --seed N repeats a run, --count N in process, from number
// --first N on, --sockets N over sockets.
import { parseArgs } from 'node:util';
import { Workshop } from '../service.ts';
import { fuzzInProcess, openBench } from './in-process.ts';
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

async function inProcess(): Promise<void> {
  const bench = await openBench();
  try {
    const { findings, heapBytes } = await fuzzInProcess(bench, seed, count, first);
    console.log(`in process: ${findings.summary()}; heap ${heapBytes.join(' -> ')} bytes`);
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
    await server.stop();
  } finally {
    shop.close();
  }
}

if (count > 0) await inProcess();
if (sockets > 0) await overSockets();
