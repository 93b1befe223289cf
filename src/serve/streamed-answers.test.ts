// Streamed answers: their steps are read one ahead of what is sent (contract 9.11).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { StreamedAnswers } from './streamed-answers.ts';

const request: QueryRequest = { endpoint: 'bulkBars', parameters: {}, nowMs: 0, wrapCsv: false };

/** An answer of so many steps of one byte, of which one may fail; and the steps whose reading has begun. */
async function begin(steps: number, failing = 0) {
  const begun: number[] = [];
  const read = async ({ from }: QueryRequest): Promise<Answer> => {
    const step = from === undefined ? 1 : Number(from.symbol);
    begun.push(step);
    if (step === failing) throw new Error(`step ${step} is lost`);
    const rest = { data: { id: 'store', version: 1 }, symbol: String(step + 1), keyMs: null };
    const answer = { kind: 'answer', contentType: '', headers: {}, next: null, rows: 1 } as const;
    return { ...answer, body: Uint8Array.of(step), ...(step < steps && { rest }) };
  };
  const held = new DisposableStack();
  const { rest } = await new StreamedAnswers().begin('key', request, read, held);
  return { begun, rest, held };
}

test('one step is read ahead while another is sent, and none before the first is sent', async () => {
  const { begun, rest, held } = await begin(4);
  assert.deepEqual(begun, [1]);
  for (const [step, read] of [
    [2, [1, 2, 3]],
    [3, [1, 2, 3, 4]],
    [4, [1, 2, 3, 4]],
  ] as const) {
    assert.deepEqual(await rest(), Uint8Array.of(step));
    assert.deepEqual(begun, read);
  }
  assert.equal(await rest(), null);
  held.dispose();
});

test('a step that was read ahead fails where it is asked for, and nowhere before', async () => {
  const { rest, held } = await begin(4, 3);
  assert.deepEqual(await rest(), Uint8Array.of(2));
  // An unhandled rejection ends the process in the turn after this.
  await new Promise((resolve) => setImmediate(resolve));
  await assert.rejects(rest(), /step 3 is lost/);
  held.dispose();
});
