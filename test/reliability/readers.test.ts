// Callers while imports go on, in short: `npm run readers` for more.
import { test } from 'node:test';
import { checkReaders } from './readers.ts';

test('walks on several servers repeat and miss nothing during imports, files come whole, the log is short again, a revocation holds (contract 4.1, 7.3)', async (t) => {
  const size = { days: 3, symbols: 500, minutes: 300 };
  for (const [what, value] of await checkReaders(size)) t.diagnostic(`${what}: ${value}`);
});
