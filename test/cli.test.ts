// The command line: help, mistakes, keys, settings, stores (contract 10). The demo is in
// contract-walk.test.ts.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve as resolvePath } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { openStore } from '../src/store/engines.ts';
import { command, type Finished, runCommand } from './commands.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

type Place = { readonly cwd?: string; readonly env?: Record<string, string> };

/** The environment without settings of this project, so that only those of the test count. */
const bare = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOURSE_')));

function run(words: readonly string[], { cwd = shop.folder, env = {} }: Place = {}): Promise<Finished> {
  return runCommand({ words, folder: cwd, environment: { ...bare, NO_COLOR: '1', ...env } });
}

let folders = 0;
function newFolder(): string {
  const path = shop.path(`folder ${folders++}`);
  mkdirSync(path);
  return path;
}

/** Makes an empty store in a folder, as `bourse serve` does. */
async function makeStore(cwd: string, path = 'data/bourse.db'): Promise<void> {
  await (await openStore(`sqlite:${join(cwd, path)}`, 'write')).close();
}

/** Does something for each of several cases, side by side. */
async function all<T>(cases: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  await Promise.all(cases.map(work));
}

/** One message on standard error, nothing on standard output, no stack. */
function told(finished: Finished, status: number, message: RegExp): void {
  assert.equal(finished.status, status, finished.stderr);
  assert.equal(finished.stdout, '');
  assert.match(finished.stderr, message);
  assert.doesNotMatch(finished.stderr, /^ +at /m);
}

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};

test('--version prints the version alone', () => {
  const { status, stdout, stderr } = spawnSync(command, ['--version'], { encoding: 'utf8' });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: `${version}\n`, stderr: '' });
});

test('a checkout keeps its compiled sources in node_modules, and nothing where a user stands', async () => {
  const cwd = newFolder();
  const { NODE_COMPILE_CACHE: _, ...env } = bare;
  const { status } = spawnSync(command, ['--version'], { cwd, env });
  assert.equal(status, 0);
  assert.deepEqual(readdirSync(cwd), []);
  assert.ok(existsSync(join(command, '../../node_modules/.cache/bourse')));
});

test('--help leads with examples, on every command that does something (contract 10)', async () => {
  const paths = [
    '',
    'demo',
    'serve',
    'import',
    'keys',
    'keys create',
    'keys list',
    'keys move',
    'keys revoke',
    'config',
    'doctor',
    'check',
    'status',
    'backup',
    'restore',
  ];
  await all(paths, async (path) => {
    const { status, stdout, stderr } = await run([...path.split(' ').filter(Boolean), '--help']);
    assert.deepEqual([status, stderr], [0, ''], path);
    assert.match(stdout, /^Examples:\n {2}bourse /, path);
    assert.ok(stdout.includes(`  bourse ${path}`), `an example of ${path}`);
    assert.match(stdout, /\nUsage: bourse/);
  });
});

const spellings: readonly [args: string, right: RegExp][] = [
  ['serv', /serve/],
  ['improt', /import/],
  ['keys creat', /create/],
  ['keys lst', /list/],
  ['serve --prot 1', /--port/],
  ['keys create a --expire 2030-01-01', /--expires/],
  ['import bars x.csv --shema stock', /--schema/],
  ['import bar x.csv', /bars/],
  ['statsu', /status/],
  ['bakcup x', /backup/],
  ['restore x --forc', /--force/],
];
for (const [args, right] of spellings) {
  test(`bourse ${args} is wrong usage, with the nearest right spelling (contract 10)`, async () => {
    told(await run(args.split(' ')), 2, right);
  });
}

test('no command, an argument too many or one too few is wrong usage (contract 10)', async () => {
  const wrong = [
    [],
    ['keys'],
    ['keys', 'create'],
    ['keys', 'create', 'a', 'b'],
    ['serve', 'x'],
    ['import'],
    ['keys', 'revoke'],
  ];
  await all(wrong, async (args) => told(await run(args), 2, /\S/));
});

type Listed = { id: string; name: string; state: string };

test('keys of a store that is not there are a mistake that names its place and the cure, and make nothing (contract 10)', async () => {
  const cwd = newFolder();
  const message =
    /^bourse: there is no store at sqlite:\/.*\/data\/typo\.db: bourse import or bourse serve makes one\n$/;
  const store = ['--store', 'sqlite:data/typo.db'];
  for (const call of [['create', 'alice'], ['list'], ['revoke', 'abc']])
    told(await run(['keys', ...call, ...store], { cwd }), 3, message);
  assert.ok(!existsSync(join(cwd, 'data')));
});

test('a store for which no key was made has none to list', async () => {
  const cwd = newFolder();
  await makeStore(cwd);
  assert.deepEqual(await run(['keys', 'list', '--json'], { cwd }), { status: 0, stdout: '[]\n', stderr: '' });
  assert.ok(!existsSync(join(cwd, 'data/bourse.control.db')));
});

test('keys create prints the key alone; no list ever shows it; revoke ends it (contract 7.3, 10)', async () => {
  const cwd = newFolder();
  await makeStore(cwd);
  const created = await run(['keys', 'create', 'alice', '--expires', '2199-12-31', '--per-minute', '60'], {
    cwd,
  });
  assert.equal(created.status, 0, created.stderr);
  assert.match(created.stdout, /^[A-Za-z0-9_-]{43}\n$/);
  const secret = created.stdout.trim();
  assert.ok(!created.stderr.includes(secret));
  const json = await run(['keys', 'list', '--json'], { cwd });
  const [listed, ...others] = JSON.parse(json.stdout) as Listed[];
  assert.deepEqual([listed!.name, listed!.state, others.length], ['alice', 'live', 0]);
  assert.ok(created.stderr.includes(listed!.id));
  const table = await run(['keys', 'list'], { cwd });
  assert.match(table.stdout, new RegExp(`${listed!.id} +alice +data +live .*2200-01-01.* 60 `));
  const revoked = await run(['keys', 'revoke', listed!.id], { cwd });
  assert.deepEqual([revoked.status, revoked.stdout], [0, '']);
  const after = await run(['keys', 'list', '--json'], { cwd });
  assert.equal((JSON.parse(after.stdout) as Listed[])[0]!.state, 'revoked');
  for (const { stdout, stderr } of [json, table, revoked, after])
    assert.ok(!(stdout + stderr).includes(secret.slice(0, 20)));
});

test('revoking an unknown id, a bad expiry or a bad quota is wrong usage and makes no key (contract 10)', async () => {
  const cwd = newFolder();
  await makeStore(cwd);
  told(await run(['keys', 'revoke', 'nothing'], { cwd }), 2, /nothing/);
  told(await run(['keys', 'create', 'a', '--expires', '2020-01-01'], { cwd }), 2, /--expires/);
  told(await run(['keys', 'create', 'a', '--expires', 'soon'], { cwd }), 2, /--expires/);
  told(await run(['keys', 'create', 'a', '--per-minute', '-1'], { cwd }), 2, /--per-minute/);
  told(await run(['keys', 'create', 'a', '--per-day', '1e3'], { cwd }), 2, /--per-day/);
  assert.deepEqual(JSON.parse((await run(['keys', 'list', '--json'], { cwd })).stdout), []);
});

test('a setting is the flag, else the environment, else bourse.config.json, else the default (contract 10)', async () => {
  const cwd = newFolder();
  for (const path of ['data/bourse.db', 'file.db', 'environment.db', 'flag.db']) await makeStore(cwd, path);
  const made = (name: string): boolean => existsSync(join(cwd, `${name}.control.db`));
  const create = async (...flags: string[]): Promise<void> => {
    const { status, stderr } = await run(['keys', 'create', 'a', ...flags], { cwd });
    assert.equal(status, 0, stderr);
  };
  await create();
  assert.ok(made('data/bourse'), 'the default');
  writeFileSync(join(cwd, 'bourse.config.json'), '{"store": "sqlite:file.db"}');
  await create();
  assert.ok(made('file'), 'the file');
  const env = { BOURSE_STORE: 'sqlite:environment.db' };
  assert.equal((await run(['keys', 'create', 'a'], { cwd, env })).status, 0);
  assert.ok(made('environment'), 'the environment');
  assert.equal((await run(['keys', 'create', 'a', '--store', 'sqlite:flag.db'], { cwd, env })).status, 0);
  assert.ok(made('flag'), 'the flag');
  assert.equal(
    (await run(['keys', 'list', '--json'], { cwd, env: { BOURSE_STORE: '' } })).stdout.match(/"id"/g)!.length,
    1,
  );
});

test('a setting that cannot be used is wrong usage that names where it stands (contract 10)', async () => {
  const cases: readonly [flags: string[], env: Record<string, string>, message: RegExp][] = [
    [['--port', '70000'], {}, /--port: 70000 .*65535/],
    [['--port', ''], {}, /--port/],
    [['--host', ''], {}, /--host: must be an address/],
    [['--tls-cert', ''], {}, /--tls-cert: must name a file/],
    [[], { BOURSE_TRUST_PROXY: 'maybe' }, /BOURSE_TRUST_PROXY: maybe must be yes or no/],
    [['--port', '0x50'], {}, /--port: 0x50/],
    [[], { BOURSE_PORT: 'http' }, /BOURSE_PORT: http/],
    [['--public-url', 'data.example.com'], {}, /--public-url: data\.example\.com/],
    [['--public-url', 'https://me:secret@data.example.com'], {}, /--public-url/],
    [['--log-level', 'loud'], {}, /--log-level: loud .*trace/],
    [[], { BOURSE_LOG_LEVEL: 'INFO' }, /BOURSE_LOG_LEVEL: INFO .*info/],
  ];
  await all(cases, async ([flags, env, message]) =>
    told(await run(['serve', ...flags], { cwd: newFolder(), env }), 2, message),
  );
});

test('a bourse.config.json that cannot be used is wrong usage that says why (contract 10)', async () => {
  const cases: readonly [text: string, message: RegExp][] = [
    ['{', /bourse\.config\.json is not JSON/],
    ['', /bourse\.config\.json is not JSON/],
    ['"x"', /bourse\.config\.json must hold a JSON object/],
    ['null', /bourse\.config\.json must hold a JSON object/],
    ['[]', /bourse\.config\.json must hold a JSON object/],
    ['["port"]', /bourse\.config\.json must hold a JSON object/],
    ['{"prot": 1}', /bourse\.config\.json: there is no setting prot.*port/],
    ['{"__proto__": 1}', /there is no setting __proto__/],
    ['{"constructor": 1}', /there is no setting constructor/],
    ['{"port": "http"}', /bourse\.config\.json: port: http/],
    ['{"port": 80.5}', /bourse\.config\.json: port: 80\.5/],
    ['{"port": true}', /bourse\.config\.json: port: true must be a number/],
    ['{"port": ["80"]}', /bourse\.config\.json: port: \["80"\] must be a number/],
    ['{"logLevel": "loud"}', /bourse\.config\.json: logLevel: loud/],
    ['{"store": {}}', /bourse\.config\.json: store: \{\} must be text, such as "sqlite:data\/bourse\.db"/],
    ['{"store": 5}', /bourse\.config\.json: store: 5 must be text/],
    ['{"store": ["sqlite:a", "b"]}', /bourse\.config\.json: store: .* must be text/],
    ['{"store": null}', /bourse\.config\.json: store: null must be text/],
    ['{"host": 127}', /bourse\.config\.json: host: 127 must be text, such as "127\.0\.0\.1"/],
    ['{"tlsCert": true}', /bourse\.config\.json: tlsCert: true must be text/],
    ['{"trustProxy": 1}', /bourse\.config\.json: trustProxy: 1 must be true or false/],
    ['{"allowedHosts": 5}', /bourse\.config\.json: allowedHosts: 5 must be a list of texts/],
    ['{"allowedHosts": ["a", 5]}', /bourse\.config\.json: allowedHosts: \["a",5\] must be a list of texts/],
  ];
  await all(cases, async ([text, message]) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, 'bourse.config.json'), text);
    told(await run(['keys', 'list'], { cwd }), 2, message);
  });
  const good = newFolder();
  const right = {
    store: 'sqlite:a.db',
    port: 0,
    workers: '2',
    trustProxy: true,
    allowedHosts: ['a', 'b.example'],
  };
  writeFileSync(join(good, 'bourse.config.json'), JSON.stringify(right));
  const { stdout } = await run(['config', '--json'], { cwd: good });
  const shown = JSON.parse(stdout) as { setting: string; value: unknown }[];
  const values = Object.fromEntries(shown.map(({ setting, value }) => [setting, value]));
  assert.deepEqual({ ...values, ...right, workers: 2 }, values);
  const cwd = newFolder();
  mkdirSync(join(cwd, 'bourse.config.json'));
  told(await run(['keys', 'list'], { cwd }), 2, /bourse\.config\.json cannot be read/);
});

test('a store that is not a store is a fault with one clear message, and is left as it was (contract 10)', async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, 'text.db'),
    'this is no database, only text that is long enough to be looked at\n'.repeat(20),
  );
  const other = new DatabaseSync(join(cwd, 'other.db'));
  other.exec('create table prices (close real)');
  other.close();
  const csv = join(cwd, 'x.csv');
  writeFileSync(csv, 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
  const flags = '--schema stock --country US --symbol X --interval 1M'.split(' ');
  for (const name of ['text.db', 'other.db']) {
    const before = readFileSync(join(cwd, name));
    const store = ['--store', `sqlite:${name}`];
    told(await run(['serve', '--port', '0', ...store], { cwd }), 3, new RegExp(`^bourse: .*${name}.*\\n$`));
    told(
      await run(['import', 'bars', csv, ...flags, ...store], { cwd }),
      3,
      new RegExp(`^bourse: .*${name}.*\\n$`),
    );
    assert.deepEqual(readFileSync(join(cwd, name)), before);
  }
  await makeStore(cwd, 'c.db');
  writeFileSync(join(cwd, 'c.control.db'), 'text, not a database\n'.repeat(100));
  told(await run(['keys', 'list', '--store', 'sqlite:c.db'], { cwd }), 3, /^bourse: .*c\.control\.db.*\n$/);
});

test('a store that is a folder, a pipe, a socket or a device is wrong usage, told in one line (contract 10)', async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, 'folder'));
  execFileSync('mkfifo', [join(cwd, 'pipe')]);
  const server = createServer().unref();
  await new Promise<void>((resolve) => server.listen(join(cwd, 'socket'), resolve));
  const csv = join(cwd, 'x.csv');
  writeFileSync(csv, 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
  const flags = '--schema stock --country US --symbol X --interval 1M'.split(' ');
  const places = [
    ['folder', /folder is not a Bourse store: it is a folder; name a file in it, such as .*bourse\.db\n$/],
    ['pipe', /pipe is not a Bourse store: it is a pipe; name a file\n$/],
    ['socket', /socket is not a Bourse store: it is a socket; name a file\n$/],
    ['/dev/null', /null is not a Bourse store: it is a device; name a file\n$/],
  ] as const;
  const calls = [
    ['serve', '--port', '0'],
    ['serve', '--port', '0', '--workers', '2'],
    ['import', 'bars', csv, ...flags],
    ['import', 'bars', csv, ...flags, '--dry-run'],
    ['status'],
    ['undo', '1'],
    ['backup', join(cwd, 'a.backup')],
  ];
  await all(places, async ([name, message]) => {
    for (const call of name === 'pipe' ? calls : calls.slice(-1))
      told(await run([...call, '--store', `sqlite:${name}`], { cwd }), 2, message);
    const { status, stdout } = await run(['doctor', '--store', `sqlite:${name}`], { cwd });
    assert.equal(status, 1);
    assert.match(stdout, /^fail +store .* is not a Bourse store: it is a /m);
  });
  server.close();
});

test('an address of a store that has no known scheme says what one looks like (contract 10)', async () => {
  await all(['mysql:x', 'sqlite:', '__proto__:x', ':'], async (url) =>
    told(await run(['keys', 'list', '--store', url]), 2, /sqlite:PATH/),
  );
});

test('bin/bourse works from any folder, through a symlink to a symlink, and reads that folder’s settings (contract 10)', async () => {
  const cwd = newFolder();
  symlinkSync(command, join(cwd, 'absolute'));
  symlinkSync('absolute', join(cwd, 'relative'));
  symlinkSync('../'.repeat(cwd.split('/').length) + command.slice(1), join(cwd, 'far'));
  for (const program of ['./absolute', './relative', './far', join(cwd, 'relative')]) {
    const printed = execFileSync(program, ['--version'], { cwd, encoding: 'utf8' });
    assert.equal(printed, `${version}\n`);
    const away = newFolder();
    await makeStore(away);
    execFileSync(resolvePath(cwd, program), ['keys', 'create', 'a'], {
      cwd: away,
      env: bare,
      stdio: 'ignore',
    });
    assert.ok(existsSync(join(away, 'data/bourse.control.db')));
  }
});

test('a reader that goes away early is no fault; a full one is told in one line (contract 10)', () => {
  const cwd = newFolder();
  const piped = spawnSync(
    'sh',
    ['-c', `"${command}" --help | head -1 >/dev/null; "${command}" config > /dev/full`],
    {
      cwd,
      encoding: 'utf8',
    },
  );
  assert.match(piped.stderr, /^bourse: the output could not be written \(ENOSPC\)\n$/);
  assert.equal(piped.status, 3);
});
