// Requests made from the contract's own declarations, right and wrong, in this process and over sockets
// (contract 4.4, 6, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzInProcess, fuzzMissing, heapBytes, openBench } from './fuzz/in-process.ts';
import { fuzzSockets, openService } from './fuzz/sockets.ts';
import { seed, times } from './seed.ts';
import { Workshop } from './service.ts';

/**
 * CI sends 8,000, `npm run fuzz` a million. The last new class of answers but one comes by 4,000; those over
 * sockets add the framing.
 */
const [REQUESTS, SOCKET_REQUESTS] = [Math.min(8_000, times(8_000)), 1_000];
/**
 * Requests that are asked again: they build nothing that is not there, so that the heap stays as it is, to a
 * kilobyte a request.
 */
const AGAIN = 1_500;
const GROWTH_MAX = 1.03;

test('requests to the request handler have the answers of the contract, memory flat (contract 6.4)', async (t) => {
  const bench = await openBench();
  try {
    const findings = await fuzzInProcess(bench, seed, REQUESTS);
    await fuzzMissing(bench, seed, findings);
    const early = heapBytes();
    await fuzzInProcess(bench, seed, AGAIN);
    const late = heapBytes();
    t.diagnostic(`seed ${seed}: ${findings.summary()}; heap ${early} -> ${late} bytes`);
    assert.ok(late < early * GROWTH_MAX, 'the heap does not grow');
    for (const outcome of ['ok', 'no content', 'unknown_path', 'uri_too_long', 'bad_request Host'])
      assert.ok(findings.outcomes.has(outcome), `${outcome} was among the answers`);
    assert.deepEqual(bench.read.unread, [], 'every declared parameter is read by its query');
    assert.deepEqual(findings.missing(), [], 'every endpoint gave something, in each format, by page keys');
  } finally {
    await bench.close();
  }
});

test('1,000 requests over kept connections, some pipelined, have the answers of the contract (contract 6.4, 7.4)', async (t) => {
  const shop = new Workshop();
  try {
    const { server, known } = await openService(shop);
    const findings = await fuzzSockets(server.url, known, seed, SOCKET_REQUESTS);
    t.diagnostic(`seed ${seed}: ${findings.summary()}`);
    assert.equal(await server.stop(), 0);
    const log = server.log.join('\n');
    assert.ok(server.log.length > SOCKET_REQUESTS, 'every request has a line in the log');
    // 503 where the machine had no time for all of them: they were asked again.
    const faults = server.log.filter(
      (line) => /"level":(40|50|60)/.test(line) && !line.includes('"status":503'),
    );
    assert.deepEqual(faults, []);
    for (const key of [known.liveKey, ...known.deadKeys])
      assert.ok(!log.includes(key), 'a key is in the log');
  } finally {
    shop.close();
  }
});
