// The thread of assistants beside its restart: the data of one message never answer another (contract 9.23).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../../../test/until.ts';
import type { AskedAnswer } from '../assistants.ts';
import { McpThread } from './http-client.ts';

const call = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'get_latest_ohlc',
    arguments: { schema_asset: 'stock', country_symbol: 'US:A', interval: 'DAY', limit: 1 },
  },
};
const message = {
  body: Buffer.from(JSON.stringify(call)),
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
};

/** A refusal that names its caller. */
const answerOf = (caller: string): AskedAnswer => ({
  status: 404,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify({ status: 'error', code: 404, message: `for ${caller}`, detail: {} })),
});

test('data that a message waits for while the thread ends do not answer a message of another key', async (t) => {
  const thread = new McpThread('0');
  t.after(() => thread.close());
  const held = new Map<string, (answer: AskedAnswer) => void>();
  const ask = (keyId: string) =>
    thread.answer(keyId, message, () => new Promise((resolve) => void held.set(keyId, resolve)));
  const first = assert.rejects(ask('one'), /ended/);
  await until('the first message asks', () => held.has('one'));
  await thread.close();
  const second = ask('two');
  await until('the second message asks', () => held.has('two'));
  held.get('one')!(answerOf('one'));
  await first;
  held.get('two')!(answerOf('two'));
  const { body } = await second;
  assert.match(Buffer.from(body).toString(), /for two/);
  assert.doesNotMatch(Buffer.from(body).toString(), /for one/);
});
