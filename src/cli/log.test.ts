// The log of a process, written by a child process: lines about ended connections.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { EndReason } from '../base/observe.ts';

/** The lines about ended connections that a process writes in which `script` runs, with a clock that it moves itself. */
function endsLogged(script: string): { [reason in EndReason]?: number }[] {
  const whole = `
    import { mock } from 'node:test';
    import { openLog } from ${JSON.stringify(new URL('./log.ts', import.meta.url).href)};
    mock.timers.enable({ apis: ['setTimeout'] });
    const log = openLog('info');
    const end = (reason) => log.observe({ kind: 'connection', reason });
    const pass = (ms) => mock.timers.tick(ms);
    ${script}`;
  const args = ['--input-type=module', '--eval', whole];
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stderr
    .split('\n')
    .filter((line) => line.includes('connections ended'))
    .map((line) => {
      const { level: _level, time: _time, msg: _msg, ...counts } = JSON.parse(line);
      return counts;
    });
}

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

test('at the stop the log tells of the connections that ended last, and no process waits for the pause', () => {
  assert.deepEqual(endsLogged(`end('slow'); end('unread'); log.flush();`), [{ slow: 1 }, { unread: 1 }]);
  assert.deepEqual(endsLogged(`mock.timers.reset(); end('slow');`), [{ slow: 1 }]);
});
