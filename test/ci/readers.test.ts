// Callers while imports go on, in short: `npm run readers` for more.
import { test } from 'node:test';
import { checkAreaReaders } from '../reliability/area-readers.ts';
import { checkReaders } from '../reliability/readers.ts';

test('walks on several servers repeat and miss nothing during imports; a revocation holds (contract 4.1, 7.3)', async (t) => {
  const size = { days: 2, symbols: 120, minutes: 200 };
  for (const [what, value] of await checkReaders(size)) t.diagnostic(`${what}: ${value}`);
});

test('lists, option search and records keep to one state of the store during imports (contract 4.1, spec 4.2, 4.7)', async (t) => {
  for (const [what, value] of await checkAreaReaders({ rounds: 1 })) t.diagnostic(`${what}: ${value}`);
});
