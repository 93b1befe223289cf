// The engine suite on PostgreSQL; in `npm test` on a server of its own, where PostgreSQL is installed.
import { after, test } from 'node:test';
import { skip, startPostgres } from '../../../test/postgres/server.ts';
import { engineSuite } from '../engine-suite.ts';

if (skip !== false) test('the engine suite on PostgreSQL', { skip }, () => {});
else {
  const server = await startPostgres();
  let made = 0;
  engineSuite(
    'PostgreSQL',
    async () => `${server.url}?schema=s${made++}`,
    async () => {
      await server.halt();
      return () => server.resume();
    },
  );
  after(() => server.stop());
}
