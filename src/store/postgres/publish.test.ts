// The question which version is published: shared by those who ask before it is sent, and by nobody who asks
// later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreUnavailable } from '../store.ts';
import { type Identified, StateQuestion } from './publish.ts';

const published = (version: number): Identified => ({
  id: 'one',
  version,
  abandoned: [],
  dataVersion: version,
  server: 1,
  table: 1,
});

/** A question that is answered by hand, and its askings. */
function byHand() {
  const sent: PromiseWithResolvers<Identified>[] = [];
  const question = new StateQuestion(() => {
    const asked = Promise.withResolvers<Identified>();
    sent.push(asked);
    return asked.promise;
  });
  return { question, sent };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('who asks while a question is under way gets the answer of the next one, which all of them share', async () => {
  const { question, sent } = byHand();
  const first = question.now();
  const later = [question.now(), question.now()];
  assert.equal(sent.length, 1);
  sent[0]!.resolve(published(1));
  assert.equal((await first).version, 1);
  await turn();
  assert.equal(sent.length, 2);
  const last = question.now();
  sent[1]!.resolve(published(2));
  assert.deepEqual(
    (await Promise.all(later)).map(({ version }) => version),
    [2, 2],
  );
  await turn();
  assert.equal(sent.length, 3);
  sent[2]!.resolve(published(3));
  assert.equal((await last).version, 3);
});

test('the answer of a moment ago is the last one, and there is none before the first', async () => {
  const { question, sent } = byHand();
  const lately = (): number | undefined => question.lately?.version;
  assert.equal(lately(), undefined);
  const first = question.now();
  assert.equal(lately(), undefined);
  sent[0]!.resolve(published(4));
  await first;
  assert.equal(lately(), 4);
});

test('where the server does not answer, those who wait for the next question fail with it, and later ones ask again', async () => {
  const { question, sent } = byHand();
  const asked = [question.now(), question.now()];
  sent[0]!.reject(new StoreUnavailable('no answer'));
  for (const one of asked) await assert.rejects(one, StoreUnavailable);
  assert.equal(sent.length, 1);
  const later = question.now();
  sent[1]!.resolve(published(5));
  assert.equal((await later).version, 5);
});
