// Requests made from the contract's own declarations, right and wrong, in this process and over sockets (contract 4.4, 6, 7.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzInProcess, openBench } from './fuzz/in-process.ts';
import { fuzzSockets, openService } from './fuzz/sockets.ts';
import { Workshop } from './service.ts';

/** The same requests in every check; `npm run fuzz` takes others. */
const SEED = 20_250_303;
/**
 * 12,000 give all classes of answers that these give; the heap is flat once the calendars of all years are built, by half of them, and the rarest class needs 30,000 for 100.
 */
const REQUESTS = 34_000;
/** All classes that come with 8,000: the last new one is that of request 4,695. */
const SOCKET_REQUESTS = 5_000;

test('34,000 requests to the request handler have the answers of the contract, none late, memory flat (contract 6.4)', async (t) => {
  const bench = await openBench();
  try {
    const { findings, heapBytes } = await fuzzInProcess(bench, SEED, REQUESTS);
    t.diagnostic(`seed ${SEED}: ${findings.summary()}; heap ${heapBytes.join(' -> ')} bytes`);
    assert.ok(findings.quantileMs(1) < 250, 'none takes 250 ms');
    const [early, late] = heapBytes;
    assert.ok(late < early * 1.2 + 2_000_000, 'the heap does not grow');
    for (const outcome of ['ok', 'no content', 'unknown_path', 'uri_too_long', 'bad_request Host'])
      assert.ok((findings.outcomes.get(outcome) ?? 0) > 100, `${outcome} was among the answers`);
    assert.deepEqual(findings.missing(), [], 'every endpoint gave something, in each format, by page keys');
  } finally {
    await bench.close();
  }
});

test('5,000 requests over kept connections, some pipelined, have the answers of the contract (contract 6.4, 7.4)', async (t) => {
  const shop = new Workshop();
  try {
    const { server, known } = await openService(shop);
    const findings = await fuzzSockets(server.url, known, SEED, SOCKET_REQUESTS);
    t.diagnostic(`seed ${SEED}: ${findings.summary()}`);
    // Others use the machine too: the promise of 250 ms is kept by half, the bounds beyond it catch what hangs.
    assert.ok(findings.quantileMs(0.5) < 250, 'half take less than 250 ms');
    assert.ok(findings.quantileMs(0.99) < 2_000, '99 of 100 take less than 2 s');
    assert.ok(findings.quantileMs(1) < 10_000, 'none takes 10 s');
    assert.equal(await server.stop(), 0);
    const log = server.log.join('\n');
    assert.ok(server.log.length > SOCKET_REQUESTS, 'every request has a line in the log');
    // 503 where the machine had no time for all of them: they were asked again.
    assert.doesNotMatch(log, /"msg":"fault"|"status":5(?!03)\d\d|"level":(40|50|60)/);
    for (const key of [known.liveKey, ...known.deadKeys])
      assert.ok(!log.includes(key), 'a key is in the log');
  } finally {
    shop.close();
  }
});
