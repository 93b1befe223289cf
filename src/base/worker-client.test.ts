// A real thread that answers questions, ends and starts again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkerClient } from './worker-client.ts';

const module = new URL('./worker-client.ts', import.meta.url).href;
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
  const { answerQuestions } = await import('${module}');
  let count = 0;
  answerQuestions(async (said) => {
    count++;
    if (said === 'end') process.exit();
    if (said === 'fail') setImmediate(() => { throw new RangeError('it failed'); });
    if (said === 'never' || said === 'fail') return new Promise(() => undefined);
    if (said === 'refuse') throw new TypeError('it is refused');
    if (said === 'unclonable') return () => undefined;
    return { said, count };
  });
`)}`,
);

test('each question has its answer or its error, and one that fails ends no other', async (t) => {
  const client = new WorkerClient<string, unknown>('the thread', program);
  t.after(() => client.stop());
  const never = assert.rejects(client.ask('never'), /the thread ended/);
  const refused = assert.rejects(client.ask('refuse'), { name: 'TypeError', message: 'it is refused' });
  const unclonable = assert.rejects(client.ask('unclonable'), /could not be cloned/);
  assert.deepEqual(await Promise.all([client.ask('a'), client.ask('b')]), [
    { said: 'a', count: 4 },
    { said: 'b', count: 5 },
  ]);
  await Promise.all([refused, unclonable]);
  await client.stop();
  await never;
});

test('the end of a thread fails what is open, and the next question starts another', async (t) => {
  const client = new WorkerClient<string, unknown>('the thread', program);
  t.after(() => client.stop());
  assert.equal(client.isRunning, false);
  const open = client.ask('never');
  assert.equal(client.isRunning, true);
  await Promise.all([
    assert.rejects(open, { name: 'RangeError', message: 'it failed' }),
    assert.rejects(client.ask('fail'), { name: 'RangeError', message: 'it failed' }),
  ]);
  assert.equal(client.isRunning, false);
  assert.deepEqual(await client.ask('a'), { said: 'a', count: 1 });
  await assert.rejects(client.ask('end'), /^Error: the thread ended$/);
});

test('what cannot be sent is no question', async (t) => {
  const client = new WorkerClient<unknown, unknown>('the thread', program);
  t.after(() => client.stop());
  assert.throws(() => client.ask(() => undefined), /could not be cloned/);
});
