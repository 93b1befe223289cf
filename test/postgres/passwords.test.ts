// No command, log or metric shows the password of PostgreSQL, wherever it comes from (contract 7.4, 10).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import pg from 'pg';
import { Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { until } from '../until.ts';
import { writeMinutes } from './copying.ts';
import { type PostgresServer, skip, startPostgres } from './server.ts';

const PASSWORD = 'hunter2-Zq@7/9';
const shop = new Workshop();

/** A way to give the password. */
type Way = { readonly url: string; readonly environment: Readonly<Record<string, string>> };

const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

suite('the password', { skip }, () => {
  let server: PostgresServer;

  before(async () => {
    server = await startPostgres();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query(`alter role bourse password '${PASSWORD}'`);
    writeFileSync(join(server.folder, 'data/pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n');
    await client.query('select pg_reload_conf()');
    await client.end();
  });
  after(async () => {
    shop.close();
    await server.stop();
  });

  const plain = (schema: string): string => `${server.url}?schema=${schema}`;
  const withPassword = (schema: string, password = PASSWORD): string =>
    plain(schema).replace('bourse@', `bourse:${encodeURIComponent(password)}@`);
  const ways: Readonly<Record<string, (schema: string) => Way>> = {
    'in the address': (schema) => ({ url: withPassword(schema), environment: {} }),
    'in PGPASSWORD': (schema) => ({ url: plain(schema), environment: { PGPASSWORD: PASSWORD } }),
    'in the file of PGPASSFILE': (schema) => {
      const file = shop.path('pgpass');
      writeFileSync(file, `127.0.0.1:*:*:bourse:${PASSWORD}\n`, { mode: 0o600 });
      return { url: plain(schema), environment: { PGPASSFILE: file } };
    },
  };

  function assertSilent(text: string, about: string): void {
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'hunter2'])
      assert.ok(!text.includes(secret), `${about} shows the password: ${text}`);
  }

  for (const [name, way] of Object.entries(ways))
    test(`${name}: commands work, and none shows it; nor do log and metrics (contract 7.4, 10)`, async () => {
      const schema = name.replaceAll(' ', '_').toLowerCase();
      const { url, environment } = way(schema);
      const run = async (status: number, ...words: readonly string[]): Promise<string> => {
        const found = await shop.runWith(environment, ...words);
        assertSilent(found.stdout + found.stderr, words[0]!);
        assert.equal(found.status, status, `${words.join(' ')}: ${found.stderr}`);
        assert.doesNotMatch(found.stderr, /Deprecat|Warning/, 'no library prints anything');
        return found.stdout;
      };
      const on = ['--store', url];
      const minutes = { symbols: ['AAPL'], days: 1, price: 100 };
      const file = writeMinutes(shop, 'minutes.csv', minutes);
      mkdirSync(shop.path('incoming'), { recursive: true });
      await run(3, 'status', ...on);
      await run(0, 'import', 'bars', file, ...barFlags, '--dry-run', ...on);
      await run(0, 'import', 'bars', file, ...barFlags, '--explain', ...on);
      await run(0, 'import', 'bars', file, ...barFlags, ...on);
      await run(0, 'import', 'bars', file, ...barFlags, '--json', ...on);
      const key = (await run(0, 'keys', 'create', 'me', ...on)).trim();
      for (const more of [[], ['--json']]) await run(0, 'config', ...more, ...on);
      await run(0, 'doctor', '--port', '0', ...on);
      await run(0, 'status', '--json', ...on);
      // How it is given matters no more: the other commands and the service connect in the same way.
      if (name !== 'in the address') return;
      await run(0, 'keys', 'list', ...on);
      await run(2, 'keys', 'revoke', 'none', ...on);
      for (const more of [[], ['--series'], ['--content-hash']]) await run(0, 'status', ...more, ...on);
      await run(0, 'export', 'bars', '--out', '-', ...on);
      await run(0, 'export', 'bars', '--out', shop.path(`${schema}.csv`), ...on);
      await run(0, 'delete', 'bars', ...barFlags, '--symbol', 'AAPL', '--to', '2025-03-02', ...on);
      await run(2, 'undo', ...on);
      await run(0, 'undo', '1', ...on);
      await run(2, 'undo', '1', '--json', ...on);
      for (const more of [['--json'], ['--deep']]) await run(0, 'doctor', '--port', '0', ...more, ...on);
      for (const more of [[], ['--json']]) {
        await run(3, 'backup', shop.path('a.backup'), ...more, ...on);
        await run(3, 'restore', shop.path('a.backup'), ...more, ...on);
      }
      const lite = fileStore(shop.path(`${schema}.db`));
      for (const more of [[], ['--json']])
        await run(more.length === 0 ? 0 : 2, 'copy', '--from', url, '--to', lite, ...more);
      const other = way(`${schema}_2`).url;
      await run(0, 'copy', '--from', lite, '--to', other);
      await run(2, 'copy', '--from', lite, '--to', other, '--json');
      await run(2, 'copy', '--from', url, '--to', url);

      // What is written wrongly has the password in it too.
      await run(2, 'status', `--stroe=${url}`);
      await run(2, 'status', `--stroe=${url}`, '--json');
      await run(2, 'status', url);
      await run(2, url);
      await run(2, 'status', '--store', url.replace('postgres:', 'mysql:'));
      await run(2, 'status', '--store', `${url}&sslmode=often`);

      const watching = shop.start(
        ['import', 'bars', '--watch', shop.path('incoming'), ...barFlags, ...on],
        environment,
      );
      const watched: string[] = [];
      for (const stream of [watching.stdout!, watching.stderr!])
        stream.on('data', (piece) => watched.push(String(piece)));
      const serving = shop.start(
        ['serve', '--port', '0', '--metrics-port', '0', '--log-level', 'trace', '--workers', '2', ...on],
        environment,
      );
      const logged: string[] = [];
      const listening = new Promise<string>((resolve, reject) => {
        serving.once('exit', () => reject(new Error(logged.join(''))));
        for (const stream of [serving.stdout!, serving.stderr!])
          stream.on('data', (piece) => {
            logged.push(String(piece));
            const [, address] = /"url":"([^"]+)","store"/.exec(logged.join('')) ?? [];
            if (address !== undefined) resolve(address);
          });
      });
      const address = await listening;
      const headers = { authorization: `Bearer ${key}` };
      for (const path of [
        '/api/v2/stock/bars/US:AAPL/5M/latest',
        '/api/v2/none',
        '/readyz',
        '/metrics',
        '/docs',
      ])
        assertSilent(await (await fetch(address + path, { headers })).text(), path);
      const metrics = /"url":"([^"]+\/metrics)"/.exec(logged.join(''))![1]!;
      // A worker or a store that answers late on a busy machine is left out of metrics.
      const measured = await until('the version is in the metrics', async () => {
        const text = await (await fetch(metrics)).text();
        return text.includes('bourse_data_version') && text;
      });
      assertSilent(measured, 'metrics');
      for (const child of [serving, watching]) {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        await ended;
      }
      assertSilent(watched.join(''), 'import --watch');
      assertSilent(logged.join(''), 'the log');
      assert.match(logged.join(''), /postgres:\/\/bourse/);
    });

  test('a wrong password is told without it, and so is a server that is away (contract 7.4)', async () => {
    for (const url of [
      withPassword('none', 'wrong-hunter2'),
      withPassword('none').replace(`:${server.port}`, ':1'),
      withPassword('none').replace('127.0.0.1', 'host.invalid'),
    ])
      for (const words of [
        ['status'],
        ['serve', '--port', '0'],
        ['doctor', '--port', '0'],
        ['keys', 'list'],
      ]) {
        const { status, stdout, stderr } = await shop.run(...words, '--store', url);
        assertSilent(stdout + stderr, words.join(' '));
        assert.notEqual(status, 0, words.join(' '));
      }
  });
});
