// The engine suite on PostgreSQL; in `npm test` on a server of its own, where PostgreSQL is installed.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { skip, startPostgres } from '../../../test/postgres/server.ts';
import { engineSuite } from '../../../test/suites/engine-suite.ts';
import { openControl, openStore } from '../engines.ts';
import { counters } from '../schema/internal.ts';

const all = { order: [['name', 'asc']], limit: 1 } as const;

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

  test('a store that was closed makes no connection again', async () => {
    const url = `${server.url}?schema=closed`;
    const [store, control] = [await openStore(url, 'write'), await openControl(url, 'write')];
    for (const one of [store, control]) {
      await one.close();
      await assert.rejects(
        one.snapshot((reader) => reader.rows(counters, all)),
        /the store was closed/,
      );
      await assert.rejects(
        one.write((writer) => writer.upsert(counters, [])),
        /the store was closed/,
      );
    }
    await assert.rejects(store.version(), /the store was closed/);
  });
  after(() => server.stop());
}
