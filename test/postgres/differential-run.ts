// `npm run engines`: both engines beside each other for as long as one likes. --seed N repeats a run, --count
// N requests.
import { parseArgs } from 'node:util';
import { TestFolder } from '../stores.ts';
import { compareEngines } from './differential.ts';
import { startPostgres } from './server.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: process.env.TEST_SEED ?? String(Date.now() % 1_000_000_000) },
    count: { type: 'string', default: '10000' },
  },
});

const [seed, count] = [Number(values.seed), Number(values.count)];
console.log(`seed ${seed}`);
const temporary = new TestFolder();
const server = await startPostgres();
try {
  const startedMs = performance.now();
  console.log(JSON.stringify(await compareEngines(server.url, temporary.folder, { seed, count })));
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
} finally {
  await server.stop();
  temporary.close();
}
