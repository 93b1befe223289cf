// The log of a process, written by a child process: lines about ended connections, and about a store that
// cannot be reached.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';

/** A child process that runs a module. */
const runs = (script: string): string[] => ['--input-type=module', '--eval', script];

const imports = `
    import { mock } from 'node:test';
    import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};`;

/**
 * The facts of the lines of one kind that a process writes in which `script` runs, with a clock that it moves
 * itself.
 */
function logged(kind: string, script: string): unknown[] {
  const whole = `${imports}
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    mock.method(performance, 'now', () => nowMs);
    const log = openLog('info');
    const end = (reason) => log.observe({ kind: 'connection', reason });
    const miss = (cause) => log.observe({ kind: 'unavailable', cause });
    const pass = (ms) => { nowMs += ms; mock.timers.tick(ms); };
    ${script}`;
  const { stderr, status } = spawnSync(process.execPath, runs(whole), { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /Warning/);
  return stderr
    .split('\n')
    .filter((line) => line.includes(`"msg":"${kind}"`))
    .map((line) => {
      const { level: _level, time: _time, msg: _msg, ...facts } = JSON.parse(line);
      return facts;
    });
}

const endsLogged = (script: string): unknown[] => logged('connections ended', script);

test('ended connections are logged at once, then together after ten seconds, also when nothing follows them', () => {
  const burst = `end('slow'); end('unread'); end('unread'); end('idle');`;
  const first = [{ slow: 1 }];
  assert.deepEqual(endsLogged(`${burst} pass(9_999);`), first);
  const both = [...first, { unread: 2, idle: 1 }];
  assert.deepEqual(endsLogged(`${burst} pass(10_000); pass(60_000);`), both);
  assert.deepEqual(
    endsLogged(`${burst} pass(10_000); end('slow'); pass(9_999);`),
    both,
    'the pause begins anew',
  );
  assert.deepEqual(endsLogged(`${burst} pass(10_000); pass(10_000); end('slow');`), [...both, { slow: 1 }]);
});

test('many ended connections at once are one line', () => {
  assert.deepEqual(endsLogged(`for (let count = 0; count < 30; count++) end('slow'); log.flush();`), [
    { slow: 1 },
    { slow: 29 },
  ]);
});

test('at the stop the log names the connections that ended last, and no process waits for the pause', () => {
  assert.deepEqual(endsLogged(`end('slow'); end('unread'); log.flush();`), [{ slow: 1 }, { unread: 1 }]);
  assert.deepEqual(endsLogged(`mock.timers.reset(); end('slow');`), [{ slow: 1 }]);
});

test('a store that cannot be reached is logged once a second, with the requests that met it since the line before', () => {
  const script = `
    miss('locked'); miss('locked'); pass(999); miss('locked'); pass(1); miss('gone'); miss('gone'); pass(5_000); miss('gone');`;
  assert.deepEqual(logged('unavailable', script), [
    { requests: 1, cause: 'locked' },
    { requests: 3, cause: 'gone' },
    { requests: 2, cause: 'gone' },
  ]);
});

test('a line that is about no request is written at once', { timeout: 60_000 }, async () => {
  // Lines that wait are written by an interval.
  const script = `${imports}
    mock.timers.enable({ apis: ['setInterval'] });
    openLog('info').observe({ kind: 'stopped' });
    setTimeout(() => undefined, 600_000);`;
  const child = spawn(process.execPath, runs(script), { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const [line] = await once(createInterface({ input: child.stderr }), 'line');
    assert.match(line, /"msg":"stopped"/);
  } finally {
    child.kill('SIGKILL');
  }
});

test('of lines that nobody reads some are held, and the others are counted and told once they are read', {
  timeout: 120_000,
}, async () => {
  const lines = 200_000;
  const script = `${imports}
    const log = openLog('info');
    const request = { kind: 'request', requestId: 'r'.repeat(36), method: 'GET', route: '/api/v2/a/b/c', status: 200, word: null, keyId: 'k', durationMs: 1, bytes: 1 };
    for (let count = 0; count < ${lines}; count++) log.observe(request);
    process.stdout.write(String(log.dropped));
    process.stdin.resume();`;
  const child = spawn(process.execPath, runs(script), { stdio: ['pipe', 'pipe', 'pipe'] });
  try {
    const [dropped] = (await once(child.stdout, 'data')) as [Buffer];
    let [read, told, bytes] = [0, 0, 0];
    for await (const line of createInterface({ input: child.stderr })) {
      const { msg, lines: lost } = JSON.parse(line) as { msg: string; lines: number };
      bytes += line.length + 1;
      if (msg === 'request') read++;
      else told += lost;
      if (read + told >= lines) break;
    }
    assert.deepEqual([told, read + told], [Number(dropped), lines]);
    // A pipe and one write hold some hundred kilobytes more.
    assert.ok(bytes < 5_000_000, `${bytes} bytes were held`);
  } finally {
    child.kill('SIGKILL');
  }
});
