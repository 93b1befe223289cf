// The log of a process, written by a child process: lines about ended connections, and about a store that cannot be reached.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

/** The facts of the lines of one kind that a process writes in which `script` runs, with a clock that it moves itself. */
function logged(kind: string, script: string): unknown[] {
  const whole = `
    import { mock } from 'node:test';
    import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    mock.timers.enable({ apis: ['setTimeout'] });
    let nowMs = 0;
    mock.method(performance, 'now', () => nowMs);
    const log = openLog('info');
    const end = (reason) => log.observe({ kind: 'connection', reason });
    const miss = (cause) => log.observe({ kind: 'unavailable', cause });
    const pass = (ms) => { nowMs += ms; mock.timers.tick(ms); };
    ${script}`;
  const args = ['--input-type=module', '--eval', whole];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
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
