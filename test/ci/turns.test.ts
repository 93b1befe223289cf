// One import at a time: the second waits as long as the first takes and says so; keys never wait.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';

const shop = new Workshop();
after(() => shop.close());

/** Longer than SQLite's own wait for a lock. */
const LONG_MS = 12_000;

test('an import waits for another, and says once for whom; keys are made and revoked meanwhile (contract 7.3, 10)', async () => {
  writeFileSync(shop.path('a.csv'), 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
  const store = await openStore(shop.store, 'write');
  const held = store.write(async () => {
    const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
    const second = shop.start(['import', 'bars', 'a.csv', ...named]);
    let said = '';
    second.stderr!.on('data', (piece) => {
      said += String(piece);
    });
    const ended = new Promise<number | null>((resolve) => void second.once('exit', resolve));
    const server = await shop.serve();
    const key = await shop.must('keys', 'create', 'a');
    const ask = async (): Promise<number> =>
      (await server.get(`/api/v2/stock/bars/US:NONE/DAY/latest?secret_key=${key}`)).status;
    assert.equal(await ask(), 404);
    const [listed] = JSON.parse(await shop.must('keys', 'list', '--json')) as { id: string }[];
    await shop.must('keys', 'revoke', listed!.id);
    await until('the revocation holds', async () => (await ask()) === 401);
    await until('the second import says that it waits', () => said !== '');
    const waitingMs = Date.now();
    await sleep(LONG_MS);
    assert.equal(second.exitCode, null, `the second import waits: ${said}`);
    return { ended, said: () => said, waitingMs };
  });
  const { ended, said, waitingMs } = await held;
  await store.close();
  assert.equal(await ended, 0);
  // The writer of a store in a file is on this machine.
  const isKnown = process.platform === 'linux' && shop.store.startsWith('sqlite:');
  const who = isKnown ? ` (process ${process.pid})` : '';
  assert.equal(said(), `bourse: waiting for another write to ${shop.store} to end${who}\n`);
  // What the file has of bars that close while the import waits may be a part of them (contract 3.9).
  const [run] = JSON.parse(await shop.must('status', '--json')).runs as { started: string }[];
  assert.ok(Date.parse(run!.started) <= waitingMs, `${run!.started}: it began when its file was opened`);
});
