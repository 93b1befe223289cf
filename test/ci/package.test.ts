// The packages as their users have them: packed, installed in an empty folder, and run, imported and
// type-checked there.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { publint } from 'publint';
import { skipBrowser, withPage } from '../browser.ts';
import { git } from '../golden/worktree.ts';
import { Assistant } from '../mcp/world.ts';
import { python, skipInstall } from '../python.ts';
import { makePackages } from '../release.ts';
import { type Finished, patiently, Server, Workshop } from '../service.ts';
import { until } from '../until.ts';

const root = join(import.meta.dirname, '../..');
const shop = new Workshop();
const consumer = shop.path('consumer');
const installed = join(consumer, 'node_modules/bourse');
const bourse = join(consumer, 'node_modules/.bin/bourse');
/** A folder that has the client alone. */
const alone = shop.path('alone');
/** The packages: those that `npm run release` made, else of this working tree. */
const packages = process.env.TEST_PACKAGES ?? shop.path('packages');
const children: ChildProcess[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  shop.close();
});

/** The machine's Node.js is that of this test, and no setting of this project counts. */
const environment = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('BOURSE_'))),
  PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
};

function run(
  program: string,
  args: readonly string[],
  { cwd = consumer, env = environment }: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  return new Promise((resolve) => {
    execFile(program, args, { cwd, env, timeout: 180_000 }, (error, stdout, stderr) => {
      // A code that is no number is the name of why it could not run; one that ran too long has none.
      const status = typeof error?.code === 'number' ? error.code : -1;
      resolve({ status: error === null ? 0 : status, stdout, stderr });
    });
  });
}

async function must(program: string, args: readonly string[], cwd = consumer): Promise<string> {
  const { status, stdout, stderr } = await run(program, args, { cwd });
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };

const tarball = (name: string): string => join(packages, `${name}-${version}.tgz`);

/** Installs a package in a folder, which is empty; npm must have nothing to warn of. */
async function install(name: string, folder: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier', '--omit=dev'];
  const words = ['install', ...quick, '--prefix', folder, tarball(name)];
  const { status, stderr } = await run('npm', words, { cwd: folder });
  assert.deepEqual([status, stderr], [0, '']);
}

/** The programs of a language in a README, which ask the service at an address with a key. */
function programsOf(readme: string, language: string, url: string, key: string): string {
  const blocks = readFileSync(join(root, readme), 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms);
  const texts = Array.from(blocks).flatMap(([, kind, text]) => (kind === language ? [text!] : []));
  assert.ok(texts.length > 0, readme);
  return texts.join('\n').replaceAll('http://127.0.0.1:8080', url).replaceAll('<API_KEY>', key);
}

/** The Node.js 20 of this machine, which older installations have; undefined where there is none. */
const node20 = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .find((program) => String(spawnSync(program, ['--version']).stdout).startsWith('v20.'));

/** The environment of who has no other Node.js. */
const environmentOf20 = { ...environment, PATH: [dirname(node20 ?? ''), environment.PATH].join(delimiter) };
const skip20 = node20 === undefined && 'there is no Node.js 20 here';

/** The health check of the container image: a program and its arguments. */
function healthCheck(): string[] {
  const found = /^HEALTHCHECK .*?CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  return JSON.parse(found![1]!) as string[];
}

/** A new folder of programs, given as shell scripts. */
function folderOf(programs: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(shop.path('programs-'));
  for (const [name, script] of Object.entries(programs))
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

const BAR_ROWS = ['ACME,2025-03-03T14:30:00Z,1,2,1,2,10', 'ACME,2025-03-03T14:31:00Z,2,3,2,3,20'];
const barsFile = (...rows: string[]): string =>
  ['symbol,datetime,open,high,low,close,volume', ...rows, ''].join('\n');

/** The package's demo on a free port, and its key. */
async function startDemo(): Promise<{ readonly server: Server; readonly key: string }> {
  const demo = spawn(bourse, ['demo', '--port', '0'], { cwd: consumer, env: environment });
  children.push(demo);
  const server = new Server(demo);
  await server.listening;
  await until('the demo is made', () => server.printed.includes('Ctrl-C'));
  return { server, key: /Your key is (\S+)/.exec(server.printed)![1]! };
}

/** A server of another origin: a page that has the built client. */
async function servePage(): Promise<{ readonly url: string; close(): void }> {
  const page = '<script type="module">import * as client from "/index.js"; window.client = client;</script>';
  const server = createServer(({ url }, response) => {
    const [type, text] = url!.endsWith('.js')
      ? ['text/javascript', readFileSync(join(installed, 'dist/client', url!))]
      : ['text/html', page];
    response.writeHead(200, { 'Content-Type': type }).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, close: () => server.close().closeAllConnections() };
}

const hasNpm = spawnSync('npm', ['--version']).status === 0;

suite('the package', { skip: hasNpm ? false : 'npm is not there, so nothing can be packed' }, () => {
  before(async () => {
    // What is not committed yet, but known to git, belongs to the working tree.
    if (!existsSync(packages)) makePackages(git('stash', 'create') || 'HEAD', packages);
    await install('bourse', consumer);
    await install('bourse-client', alone);
  });

  test('publint finds nothing in them', async () => {
    for (const pkgDir of [installed, join(alone, 'node_modules/bourse-client')]) {
      const { messages } = await publint({ pkgDir, pack: false });
      assert.deepEqual(messages, []);
    }
  });

  test('the client by itself brings no other package, and nothing but what was built', () => {
    const inside = readdirSync(join(alone, 'node_modules')).filter((file) => !file.startsWith('.'));
    assert.deepEqual(inside, ['bourse-client']);
    const files = globSync('**/*.*', { cwd: join(alone, 'node_modules/bourse-client') });
    assert.deepEqual(
      files.filter((file) => !/^(?:dist\/\w+\.(?:js|d\.ts)|package\.json|README\.md)$/.test(file)),
      [],
    );
  });

  test('it holds what was built, the sample files, deploy/ and no source, no test and no Node.js', () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
    const wanted =
      /^(dist\/.*\.(js|d\.ts|css|svg|json)|docs\/.*\.(md|png|svg)|examples\/[\w-]+\.(csv|txt|md|ipynb)|bin\/bourse|deploy\/(bourse\.service|nginx\.conf|[\w-]+\/(compose\.yaml|replication\.sh|bourse\.json))|package\.json|README\.md|CHANGELOG\.md|LICENSE)$/;
    assert.deepEqual(
      files.filter((file) => !wanted.test(file) || /\.test\./.test(file)),
      [],
    );
    assert.ok(!readdirSync(join(consumer, 'node_modules/.bin')).includes('node'));
  });

  test('their manifests may be published, and name the Node.js that they need', () => {
    for (const [folder, node] of [
      [installed, '>=24.15'],
      [join(alone, 'node_modules/bourse-client'), '>=20'],
    ] as const) {
      const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
        string,
        unknown
      >;
      assert.deepEqual(
        [manifest.version, manifest.license, manifest.engines],
        [version, 'Apache-2.0', { node }],
      );
      for (const name of ['private', 'workspaces', 'scripts', 'devDependencies', 'publishConfig'])
        assert.ok(!Object.hasOwn(manifest, name), name);
      for (const name of ['README.md', 'LICENSE']) assert.ok(existsSync(join(folder, name)), name);
    }
  });

  test('bourse --version prints the version of package.json, by npx too (contract 10)', async () => {
    const expected = { status: 0, stdout: `${version}\n`, stderr: '' };
    assert.deepEqual(await run(bourse, ['--version']), expected);
    assert.deepEqual(await run('npx', ['--offline', 'bourse', '--version']), expected);
  });

  test('with a Node.js that is too old, or none, bourse says in one line what it needs', async () => {
    const old = folderOf({ node: 'echo v24.14.9' });
    const forward = (tool: string): string => `PATH='${environment.PATH}' exec ${tool} "$@"`;
    const none = folderOf({ sh: forward('sh'), dirname: forward('dirname'), readlink: forward('readlink') });
    const cure = 'install one from https://nodejs.org and put it first in PATH';
    for (const [path, found] of [
      [`${old}${delimiter}${environment.PATH}`, `${old}/node is v24.14.9`],
      [none, 'PATH has none'],
    ] as const) {
      const finished = await run(bourse, ['--version'], { env: { ...environment, PATH: path } });
      const stderr = `bourse needs Node.js 24.15 or newer, and ${found}: ${cure}\n`;
      assert.deepEqual(finished, { status: 3, stdout: '', stderr });
    }
  });

  test('bourse starts Node.js with less memory for young objects where it runs for long, and keeps what is set', async () => {
    const tell =
      'case $1 in --version) echo v24.15.0;; *) echo "$MALLOC_ARENA_MAX $MALLOC_MMAP_THRESHOLD_ $*";; esac';
    const path = `${folderOf({ node: tell })}${delimiter}${environment.PATH}`;
    const started = async (command: string, more: NodeJS.ProcessEnv = {}): Promise<string> =>
      (await run(bourse, [...command.split(' '), 'a b'], { env: { ...environment, ...more, PATH: path } }))
        .stdout;
    for (const command of ['serve', 'demo', 'import bars --watch', 'import --watch=in'])
      assert.match(
        await started(command),
        new RegExp(
          `^2 262144 --single-threaded-gc --max-semi-space-size=4 --min-semi-space-size=4 --import \\S+own-modules.js \\S+main.js ${command} a b\n$`,
        ),
      );
    assert.match(await started('serve', { MALLOC_ARENA_MAX: '7' }), /^7 262144 /);
    assert.match(
      await started('serve', { NODE_OPTIONS: '--no-warnings --max-semi-space-size=64' }),
      /^2 262144 --single-threaded-gc --import \S+own-modules.js \S+main.js serve a b\n$/,
    );
    assert.match(
      await started('import'),
      /^ {2}--single-threaded-gc --import \S+own-modules.js \S+main.js import a b\n$/,
    );
  });

  test('bourse import reads files, those with faults too (contract 10)', async () => {
    const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--json'];
    const importing = async (file: string, text: string, status: number) => {
      writeFileSync(join(consumer, file), text);
      const finished = await run(bourse, ['import', 'bars', file, ...flags]);
      assert.equal(finished.status, status, finished.stderr);
      const { rowsWritten, rowsRefused } = JSON.parse(finished.stdout) as Record<string, unknown>;
      return { rowsWritten, rowsRefused };
    };
    assert.deepEqual(await importing('a.csv', barsFile(...BAR_ROWS), 0), { rowsWritten: 2, rowsRefused: 0 });
    const faulty = barsFile('ACME,2025-03-03T14:32:00Z,2,1,2,3,20', 'ACME,2025-03-03T14:33:00Z,2,3,2,3,20');
    assert.deepEqual(await importing('b.csv', faulty, 1), { rowsWritten: 1, rowsRefused: 1 });
  });

  test('bourse demo answers, the health check of the container image sees it, and SIGTERM ends it with 0 (contract 10)', async () => {
    const { server, key } = await startDemo();
    const answer = await fetch(/http:\S+\?\S+/.exec(server.printed)![0]);
    assert.equal(answer.status, 200, await answer.text());
    const html = await (await fetch(`${server.url}/`)).text();
    const explorer = Array.from(
      html.matchAll(/(?:href|src)="((?:explorer|client)\/[^"]+)"/g),
      ([, path]) => `/${path}`,
    );
    for (const path of ['/explorer/main.js', '/explorer/colours.css', '/client/index.js'])
      assert.ok(explorer.includes(path), path);
    const documentation = [
      ...[
        '/docs',
        '/docs/forms.js',
        '/docs/page.css',
        '/docs/pages.js',
        '/docs/search-index.js',
        '/llms.txt',
      ],
      ...['/docs/using/bars.md', '/docs/using/bars.html', '/docs/endpoints.html'],
    ];
    for (const page of [...explorer, ...documentation, '/openapi.json'])
      assert.equal((await fetch(`${server.url}${page}`)).status, 200, page);
    const assistant = await new Assistant().connect(server.url, key);
    const newest = { schema_asset: 'stock', country_symbol: 'US:AAPL', interval: 'DAY', limit: 2 };
    assert.match(await assistant.ask('get_latest_ohlc', newest), /^Rows: 2, /);
    await assistant.client.close();
    const [program, ...args] = healthCheck();
    const env = { ...environment, BOURSE_PORT: new URL(server.url).port };
    assert.equal((await run(program!, args, { env })).status, 0);
    assert.equal(await server.stop(), 0);
    assert.equal((await run(program!, args, { env })).status, 1, 'nothing answers any more');
  });

  test('the clients ask as their READMEs show, in Node.js 20 too, and the wheel in Python', async (t) => {
    const { server, key } = await startDemo();
    const latest = `${server.url}/api/v2/stock/bars/US:AAPL/DAY/latest?limit=5&secret_key=${key}`;
    const { result } = (await (await patiently(() => fetch(latest))).json()) as {
      result: { data: { datetime: string; close: number }[] };
    };
    const rows = result.data.map(({ datetime, close }) => `${datetime} ${close}\n`).join('');
    const program = programsOf('packages/client/README.md', 'ts', server.url, key);
    for (const node of [process.execPath, ...(node20 === undefined ? [] : [node20])])
      assert.equal(await must(node, ['--input-type=module', '--eval', program], alone), rows, node);
    if (skipInstall !== false) t.diagnostic(skipInstall);
    else {
      const target = shop.path('python');
      const wheel = join(packages, `bourse_client-${version}-py3-none-any.whl`);
      const quick = ['--quiet', '--no-index', '--no-deps', '--target', target];
      await must(python!, ['-m', 'pip', 'install', ...quick, wheel]);
      const inWheel = globSync('**/*', { cwd: target }).filter((file) => /\.\w+$|LICENSE$/.test(file));
      const info = `bourse_client-${version}.dist-info`;
      for (const file of ['bourse/__init__.py', 'bourse/py.typed', `${info}/LICENSE`])
        assert.ok(inWheel.includes(file), `${file} of ${inWheel.join()}`);
      assert.match(
        readFileSync(join(target, info, 'METADATA'), 'utf8'),
        /^License: Apache-2\.0$[\s\S]*^# bourse-client$/m,
      );
      const asked = programsOf('clients/python/README.md', 'python', server.url, key);
      const which = 'import bourse; print(bourse.__version__, bourse.__file__)';
      const env = { ...environment, PYTHONPATH: target };
      const printed = await run(python!, ['-c', `${which}\n${asked}`], { env });
      assert.equal(printed.status, 0, printed.stderr);
      const [first, head, ...lines] = printed.stdout.trimEnd().split('\n');
      assert.equal(first, `${version} ${join(target, 'bourse/__init__.py')}`);
      assert.equal(head, 'timestamp,open,close,volume');
      assert.deepEqual(
        lines.map((line) => Number(line.split(',')[2])),
        result.data.map(({ close }) => close),
      );
    }
    assert.equal(await server.stop(), 0);
  });

  test('npm of Node.js 20 has nothing to warn of in a checkout, and bourse says which Node.js it found', {
    skip: skip20,
  }, async () => {
    for (const omit of [['--omit=dev'], []]) {
      const words = ['ci', '--dry-run', '--prefer-offline', '--no-update-notifier', ...omit];
      const { status, stderr } = await run('npm', words, { cwd: root, env: environmentOf20 });
      assert.deepEqual([status, stderr], [0, '']);
    }
    const { status, stdout, stderr } = await run('npx', ['--offline', 'bourse', 'demo'], {
      env: environmentOf20,
    });
    assert.deepEqual([status, stdout], [3, '']);
    assert.match(
      stderr,
      /^bourse needs Node\.js 24\.15 or newer, and \S+ is v20\.[\d.]+: install one from \S+ and .+\n$/,
    );
  });

  test('bourse/contract gives the declared endpoints to a program', async () => {
    const program = `
      import { contract, errors } from 'bourse/contract';
      console.log(contract.latestBars.path, errors.invalid_key.status);`;
    assert.equal(
      await must(process.execPath, ['--input-type=module', '--eval', program]),
      '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest 401\n',
    );
  });

  test('bourse/client is smaller than 10 kB, gzip, and needs no other module', () => {
    const files = globSync('dist/client/*.js', { cwd: installed }).map((file) =>
      readFileSync(join(installed, file), 'utf8'),
    );
    const bytes = files.reduce((sum, text) => sum + gzipSync(text, { level: 9 }).length, 0);
    assert.ok(bytes > 1_000 && bytes < 10_000, `${bytes} bytes`);
    const imported = files.flatMap((text) =>
      Array.from(text.matchAll(/\bfrom '([^']+)'/g), ([, name]) => name!),
    );
    assert.ok(
      imported.length > 0 && imported.every((name) => /^\.\/[\w-]+\.js$/.test(name)),
      String(imported),
    );
  });

  const clients = [
    ['bourse/client', consumer],
    ['bourse-client', alone],
  ] as const;

  test('both read all pages in Node.js, and a page of another origin does (contract 4.1)', async (t) => {
    const { server, key } = await startDemo();
    const day = (daysAgo: number): string =>
      new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10);
    const path = `/api/v2/crypto/bars/GLOBAL:BTCUSD/5M/from/${day(12)}/to/${day(3)}`;
    const wanted: number[] = [];
    for (let next: string | null = `${server.url}${path}?secret_key=${key}`; next !== null; ) {
      const address: string = next;
      const { result } = (await (await patiently(() => fetch(address))).json()) as {
        result: { next_page_url: string | null; data: { close: number }[] };
      };
      wanted.push(...result.data.map(({ close }) => close));
      next = result.next_page_url;
    }
    assert.ok(wanted.length > 2_000);
    const uses = `async ({ Bourse }) => {
      const bourse = new Bourse(${JSON.stringify({ url: server.url, key })});
      const bars = bourse.bars('crypto', 'GLOBAL:BTCUSD', '5M', { from: '${day(12)}', to: '${day(3)}' });
      const closes = [];
      for await (const { close } of bars) closes.push(close);
      const columns = await bars.columns();
      const error = await bourse.reference('stock', 'US:NOSUCH').catch((error) => error);
      return { closes, columns: [...columns.close], error: [error.error, error.status] };
    }`;
    const expected = { closes: wanted, columns: wanted, error: ['unknown_instrument', 404] };
    for (const [name, folder] of clients) {
      const program = `import * as client from '${name}';
        console.log(JSON.stringify(await (${uses})(client)));`;
      const printed = await must(process.execPath, ['--input-type=module', '--eval', program], folder);
      assert.deepEqual(JSON.parse(printed), expected, name);
    }
    if (skipBrowser !== false) t.diagnostic(skipBrowser);
    else {
      const served = await servePage();
      await withPage(served.url, async (page) => {
        await page.waitForFunction('window.client !== undefined');
        assert.deepEqual(await page.evaluate(`(${uses})(window.client)`), expected);
      });
      served.close();
    }
    await server.stop();
  });

  for (const [name, folder] of clients)
    test(`${name} has exact types, with those of browsers alone`, async () => {
      const compilerOptions = {
        ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] },
        ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], module: 'nodenext' },
      };
      const project = join(folder, 'tsconfig.client.json');
      writeFileSync(project, JSON.stringify({ compilerOptions, files: ['client.ts'] }));
      writeFileSync(
        join(folder, 'client.ts'),
        `import { type BarColumns, Bourse, BourseError, type Row } from '${name}';
const bourse = new Bourse({ url: 'http://127.0.0.1:8080', key: 'k' });
const range = { from: '2025-03-03', to: new Date() };
const bars = bourse.bars('stock', 'US:AAPL', '60M', { ...range, adjust: 'all', as_of: new Date(), signal: undefined });
for await (const bar of bars) {
  const close: number = bar.close;
  const vwap: number | null = bar.vwap;
  // @ts-expect-error A volume may be null.
  const volume: number = bar.volume;
}
export const columns: BarColumns = await bars.columns();
export const volumes: Float64Array = columns.volume;
for await (const page of bourse.options('stock', 'US:AAPL', 'call', 'in_the_money').pages())
  for (const contracts of Object.values(page.data)) contracts.map(({ strike_price }) => strike_price.toFixed());
export const event: Row<'economicEvent'> = await bourse.event();
export const isUnknown = (error: BourseError): boolean => error.error === 'unknown_instrument';
// @ts-expect-error This is no word of the catalogue.
export const isMistyped = (error: BourseError): boolean => error.error === 'unknown_instrumnt';
// @ts-expect-error A range has two ends.
bourse.bars('stock', 'US:AAPL', '60M', { from: '2025-03-03' });
// @ts-expect-error Stocks are called stock.
bourse.bars('stocks', 'US:AAPL', '60M', range);
// @ts-expect-error An hour is called 60M.
bourse.bars('stock', 'US:AAPL', '1h', range);
// @ts-expect-error No parameter is called adjst.
bourse.bars('stock', 'US:AAPL', '60M', { ...range, adjst: 'all' });
// @ts-expect-error What adjust may be is declared.
bourse.bars('stock', 'US:AAPL', '60M', { ...range, adjust: 'everything' });
// @ts-expect-error The client chooses the format itself.
bourse.bars('stock', 'US:AAPL', '60M', { ...range, format: 'csv' });
`,
      );
      assert.equal(await must(join(root, 'node_modules/.bin/tsc'), ['--project', project]), '');
    });

  for (const [resolution, module] of [
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ] as const) {
    test(`bourse/contract has exact types under ${resolution} resolution, with no types of Node.js`, async () => {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2022',
        lib: ['es2022'],
        types: [],
        module,
        moduleResolution: resolution,
      };
      const project = join(consumer, `tsconfig.${resolution}.json`);
      writeFileSync(project, JSON.stringify({ compilerOptions, files: ['use.ts'] }));
      writeFileSync(
        join(consumer, 'use.ts'),
        `import { type contract, errors, type ErrorWord, type ParametersOf, type RecordOf } from 'bourse/contract';
type Bars = typeof contract.historicalBars;
export const closeOf = (bar: RecordOf<Bars>): number => bar.close;
export const vwapOf = (bar: RecordOf<Bars>): number | null => bar.vwap;
export const sort: ParametersOf<Bars>['sort'] = 'desc';
export const status: 404 | number = errors['no_data' satisfies ErrorWord].status;
// @ts-expect-error Bars are sorted asc or desc.
export const wrongSort: ParametersOf<Bars>['sort'] = 'newest';
// @ts-expect-error A close is a number.
export const wrongClose = (bar: RecordOf<Bars>): string => bar.close;
`,
      );
      assert.equal(await must(join(root, 'node_modules/.bin/tsc'), ['--project', project]), '');
    });
  }
});
