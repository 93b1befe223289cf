// A crowd of slow, silent and greedy callers, in short; `npm run crowd` for a thousand of them. And a process
// with few open files.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpLimits } from '../../src/serve/limits.ts';
import { withoutOpenssl } from '../certificates.ts';
import { command } from '../commands.ts';
import { type CrowdTargets, crowd, crowdTargets, fillForCrowd } from '../reliability/crowd.ts';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';

/** One answer may begin below the bound, and what the kernel holds may be counted twice for a moment. */
const UNSENT_MAX = 1.5 * httpLimits.unsentBytesMax;

/**
 * On a busy machine few of the large pages may be made in that time: the crowd comes again, and stays twice
 * as long.
 */
const CROWDS_MAX = 4;
const CROWD_SECONDS = 4;

const shop = new Workshop();
let targets: CrowdTargets;
before(async () => {
  targets = await fillForCrowd(shop);
});
after(() => shop.close());

for (const isSecure of [false, true]) {
  const skip = isSecure && withoutOpenssl;
  test(`slow, silent and greedy callers over ${isSecure ? 'HTTPS' : 'HTTP'} fill no memory, and ordinary ones are answered`, {
    skip,
  }, async (t) => {
    let isFelt = false;
    for (let count = 0; !isFelt; count++) {
      assert.ok(count < CROWDS_MAX, 'the crowd was felt');
      const seconds = CROWD_SECONDS * 2 ** count;
      const figures = await crowd(shop, targets, { callers: 105, seconds }, isSecure);
      t.diagnostic(JSON.stringify(figures));
      assert.ok(figures.unsentPeakBytes < UNSENT_MAX, `${figures.unsentPeakBytes} bytes`);
      assert.ok(
        figures.residentPeakMegabytes < crowdTargets.megabytes,
        `${figures.residentPeakMegabytes} MB`,
      );
      const odd = Object.keys(figures.statuses).filter((status) => status !== '200' && status !== '503');
      assert.deepEqual(odd, []);
      assert.ok(figures.statuses['200']! > 0);
      isFelt = figures.unsentPeakBytes > httpLimits.unsentBytesPerKeyMax;
    }
  });
}

const FILES = httpLimits.filesReserved + 20;
const CONNECTIONS = 100;

test('a process with few open files answers new callers while others hold more connections than it may have', {
  skip: process.platform === 'win32',
}, async () => {
  const args = ['-c', 'ulimit -n "$0" && exec "$@"', String(FILES), command, 'serve', '--port', '0'];
  const child = spawn('sh', [...args, '--store', shop.store], { stdio: ['ignore', 'ignore', 'pipe'] });
  const log: string[] = [];
  const lines = createInterface({ input: child.stderr });
  const url = await new Promise<string>((resolve) => {
    lines.on('line', (line) => {
      log.push(line);
      const found = /"url":"(http[^"]+)"/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  const { port, hostname } = new URL(url);
  const idle = Array.from({ length: CONNECTIONS }, () =>
    connect(Number(port), hostname).on('error', () => undefined),
  );
  try {
    await sleep(500);
    for (let count = 0; count < 3; count++) {
      const answer = await fetch(url + targets.ordinary[count]!, { headers: { connection: 'close' } });
      assert.equal(answer.status, 200, await answer.text());
    }
    const ends = (): string[] => log.filter((line) => line.includes('"connections ended"'));
    await until('the log, which is written once a second, says so', () => ends().length > 0);
    assert.equal(ends().length, 1, log.join('\n'));
    assert.ok(ends()[0]!.includes('"idle"'));
  } finally {
    for (const socket of idle) socket.destroy();
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
  }
});
