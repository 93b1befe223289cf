// Colours are for a terminal alone, and not where NO_COLOR is set (contract 10.4).
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { after, test } from 'node:test';
import { command } from './commands.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const isUtilLinux = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux');
const skip = isUtilLinux ? false : 'script of util-linux, which makes a terminal, is not installed';

const { NO_COLOR: _, FORCE_COLOR: __, ...bare } = process.env;

/** What a service logs until it listens; on a terminal of its own where `onTerminal`. */
async function logged(onTerminal: boolean, environment: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...bare, TERM: 'xterm', BOURSE_STORE: shop.store, ...environment };
  const words = [command, 'serve', '--port', '0'];
  const [program, ...more] = onTerminal ? ['script', '-qec', words.join(' '), '/dev/null'] : words;
  const child = spawn(program!, more, { cwd: shop.folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      text += String(piece);
      if (text.includes('http://')) child.kill();
    });
  await ended;
  return text;
}

const ESCAPE = '\u001b';

test('a log has colours on a terminal, and none with NO_COLOR or elsewhere (contract 10.4)', {
  skip,
}, async () => {
  const terminal = await logged(true, {});
  assert.ok(terminal.includes(`${ESCAPE}[`) && terminal.includes('listening'), terminal);
  for (const plain of [await logged(true, { NO_COLOR: '1' }), await logged(false, {})]) {
    assert.match(plain, /listening/);
    assert.ok(!plain.includes(ESCAPE), plain);
  }
});
