// A process that makes Parquet, from its start to its end.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { TestFolder } from '../../../test/stores.ts';
import { startParquet } from './parquet-process.ts';

const temporary = new TestFolder();
after(() => temporary.close());

test('a process that has ended is not killed: another may have its number', async (t) => {
  const maker = startParquet(`${temporary.folder}/a.parquet`, [{ name: 'a', type: 'BIGINT', sql: '$' }]);
  t.after(() => maker.kill());
  await maker.write(Buffer.from('1\n2\n'));
  assert.equal((await maker.end()).rows, 2);
  const kill = t.mock.method(process, 'kill', () => true);
  maker.kill();
  assert.equal(kill.mock.callCount(), 0);
});
