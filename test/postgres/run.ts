// `npm run test:postgres`: the whole suite on PostgreSQL, on a server that is started for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startPostgres } from './server.ts';

const server = await startPostgres();
const given = process.argv.slice(2);
const files = given.length > 0 ? given : ['src/**/*.test.ts', 'test/**/*.test.ts'];
const child = spawn(process.execPath, ['--test', '--test-concurrency=6', '--test-reporter=spec', ...files], {
  stdio: 'inherit',
  env: { ...process.env, TEST_STORE: 'postgres', TEST_POSTGRES: server.url },
});
const [status] = (await once(child, 'exit')) as [number | null];
await server.stop();
process.exitCode = status ?? 1;
