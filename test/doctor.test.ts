// `bourse doctor`: what it finds, what it says to do, and that it changes nothing (contract 10).
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { DAY_MS } from '../src/base/instant.ts';
import { markets } from '../src/market/calendar/markets/index.ts';
import { engineAt, openStore } from '../src/store/engines.ts';
import { importRuns } from '../src/store/schema/internal.ts';
import { type Issued, issue, withoutOpenssl } from './certificates.ts';
import { Workshop } from './service.ts';
import { testOfSqlite } from './stores.ts';

const shops: Workshop[] = [];
after(() => {
  for (const shop of shops) shop.close();
});

function newShop(): Workshop {
  const shop = new Workshop();
  shops.push(shop);
  return shop;
}

/** A store with an import and a key. */
async function madeShop(): Promise<Workshop> {
  const shop = newShop();
  const file = shop.path('x.csv');
  writeFileSync(file, 'datetime,open,high,low,close\n2025-03-03T14:30:00Z,1,1,1,1\n');
  const named = '--schema stock --country US --symbol X --interval 1M'.split(' ');
  await shop.must('import', 'bars', file, ...named);
  await shop.must('keys', 'create', 'test');
  return shop;
}

type Found = {
  readonly check: string;
  readonly state: string;
  readonly message: string;
  readonly cure: string | null;
};

async function examine(
  shop: Workshop,
  ...args: string[]
): Promise<{ status: number; of: (check: string) => Found }> {
  const { status, stdout, stderr } = await shop.run('doctor', '--port', '0', '--json', ...args);
  assert.equal(stderr, '');
  const found = JSON.parse(stdout) as Found[];
  assert.equal(status, found.some(({ state }) => state === 'fail') ? 1 : 0);
  for (const { state, cure, check, message } of found) {
    assert.ok(['ok', 'warn', 'fail'].includes(state), check);
    assert.ok(message !== '' && !message.includes('\n'), check);
    if (state === 'warn') assert.ok(cure, `${check} has a cure`);
  }
  return { status, of: (name) => found.find(({ check }) => check === name)! };
}

const isRight = (found: Found, state: string, words: RegExp): void => {
  assert.equal(found.state, state, JSON.stringify(found));
  assert.match(`${found.message}: ${found.cure}`, words);
};

/** Every file below a folder: its bytes and when it was changed. */
function picture(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
      return [path, `${hash} ${statSync(path).mtimeMs} ${statSync(path).mode}`];
    }),
  );
}

test('a market of the store whose holidays end soon is reported until files have brought those of the year after (contract 10)', async () => {
  const shop = await madeShop();
  // The calendar of mainland China ends with the last year that its exchanges have announced.
  const soon = new Date(Date.now() + 60 * DAY_MS).getUTCFullYear();
  const last = markets.find(({ key }) => key === 'CN_STOCK')!.years[1];
  const words = new RegExp(`CN holidays are known to the end of ${last} only.*bourse import holidays FILE`);
  isRight((await examine(shop)).of('calendars'), 'ok', /known for the next 60 days/);
  const bars = shop.path('chinese.csv');
  writeFileSync(bars, 'datetime,open,high,low,close\n2024-03-15,10,11,9,10.5\n');
  const named = ['--schema', 'stock', '--country', 'CN', '--symbol', '600519', '--interval', 'DAY'];
  await shop.must('import', 'bars', bars, ...named);
  if (soon > last) isRight((await examine(shop)).of('calendars'), 'warn', words);
  const head = 'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template';
  const file = shop.path('days.csv');
  const years = markets.map(({ country }) => `One,HOLIDAY_ONE,${soon}-01-01,stock,${country},*,CLOSED`);
  writeFileSync(file, [head, ...years, ''].join('\n'));
  await shop.must('import', 'holidays', file);
  isRight((await examine(shop)).of('calendars'), 'ok', /known for the next 60 days/);
});

test('calendar keys that no market has are named with their instruments, five at most (contract 10)', async () => {
  const shop = await madeShop();
  isRight((await examine(shop)).of('calendar keys'), 'ok', /names a market/);
  const file = shop.path('instruments.csv');
  const unknown = Array.from('ABCDEF', (letter) => `future,US,${letter},OWN_${letter}\n`);
  const known = 'future,US,ZC,US_FUTURE_CBOT_GRAIN\n';
  const head = 'asset_schema,country_iso_code,symbol,calendar_key\n';
  writeFileSync(file, [head, known, unknown[5]].join(''));
  await shop.must('import', 'instruments', file);
  const one = /calendar_key of future:US:F \(OWN_F\): they follow .*: import .* US_FUTURE_CBOT_GRAIN/;
  isRight((await examine(shop)).of('calendar keys'), 'warn', one);
  writeFileSync(file, [head, known, ...unknown].join(''));
  await shop.must('import', 'instruments', file);
  const five = /of future:US:A \(OWN_A\), .*future:US:E \(OWN_E\) and others: /;
  isRight((await examine(shop)).of('calendar keys'), 'warn', five);
});

test('keys without a quota are named where others can reach the address (contract 7.5, 10)', async () => {
  const shop = await madeShop();
  await shop.must('keys', 'create', 'bounded', '--per-minute', '10');
  await shop.must('keys', 'create', 'gone');
  const keys = JSON.parse(await shop.must('keys', 'list', '--json')) as { name: string; id: string }[];
  const { id } = keys.find(({ name }) => name === 'gone')!;
  await shop.must('keys', 'revoke', id);
  assert.equal((await examine(shop)).of('quotas'), undefined);
  const everywhere = ['--host', '0.0.0.0'];
  isRight((await examine(shop, ...everywhere)).of('quotas'), 'warn', /0\.0\.0\.0.*: test: .*--per-minute/);
  const left = keys.find(({ name }) => name === 'test')!;
  await shop.must('keys', 'revoke', left.id);
  isRight((await examine(shop, ...everywhere)).of('quotas'), 'ok', /every key has a quota/);
});

test('series with bars that open after now are named, three at most (contract 3.9, 10)', async () => {
  const shop = await madeShop();
  isRight((await examine(shop)).of('bars after now'), 'ok', /no stored bar/);
  const later = new Date(Date.now() + 400 * DAY_MS).toISOString().slice(0, 10);
  const file = shop.path('later.csv');
  const rows = ['AUSD', 'BUSD', 'CUSD', 'DUSD'].map((symbol) => `${symbol},${later},1,1,1,1\n`);
  writeFileSync(file, ['symbol,datetime,open,high,low,close\n', ...rows].join(''));
  await shop.must('import', 'bars', file, ...'--schema crypto --country GLOBAL --interval DAY'.split(' '));
  const named = new RegExp(
    `of crypto:GLOBAL:AUSD DAY \\(${later}T00:00:00.*CUSD DAY [^D]* and others open after now: .*clock.*bourse undo`,
  );
  isRight((await examine(shop)).of('bars after now'), 'warn', named);
});

test('a set-up in order has nothing but ok, and is left as it was, to the file (contract 10)', async () => {
  const shop = await madeShop();
  const before = picture(shop.folder);
  const { status, of } = await examine(shop);
  assert.deepEqual(picture(shop.folder), before);
  assert.equal(status, 0);
  const names = [
    'node',
    'time zones',
    'clock',
    'calendar keys',
    'port',
    'exposure',
    'open files',
    'store',
    'writing',
    ...(shop.store.startsWith('sqlite:')
      ? ['sqlite', 'control file', 'permissions', 'disk', 'page size']
      : ['server', 'checksums', 'writer', 'replaced blocks']),
  ];
  for (const name of names) assert.ok(of(name), `${name} is checked`);
  for (const name of names.filter((one) => one !== 'open files' && one !== 'disk'))
    isRight(of(name), 'ok', /./);
  const table = await shop.run('doctor', '--port', '0');
  assert.match(table.stdout, /^STATE +CHECK +FINDING\nok +node +Node\.js \d/);
  assert.equal(
    table.stdout
      .trim()
      .split('\n')
      .every((line) => /^(STATE|ok|warn|fail) /.test(line)),
    true,
  );
});

test('a store that is not there yet is no fault, and is not made (contract 10)', async () => {
  const shop = newShop();
  const { status, of } = await examine(shop);
  assert.equal(status, 0);
  isRight(of('store'), 'warn', /no store at \S+ yet.*bourse import makes it/);
  assert.deepEqual(readdirSync(shop.folder), []);
  assert.equal(await engineAt(shop.store).isMade(), false);
});

testOfSqlite('files that are no store, or none of this version, fail (contract 10)', async () => {
  const shop = newShop();
  const path = shop.path('bourse.db');
  writeFileSync(path, 'this is no database\n'.repeat(100));
  isRight((await examine(shop)).of('store'), 'fail', /not a database/);
  rmSync(path);
  const other = new DatabaseSync(path);
  other.exec('create table prices (close real)');
  other.close();
  const { status, of } = await examine(shop);
  assert.equal(status, 1);
  isRight(of('store'), 'fail', /is not a Bourse store/);
  isRight(of('page size'), 'warn', /4096 bytes a page/);
});

testOfSqlite(
  'a missing control file, files open to all, a long log and a late clock are found (contract 10)',
  async () => {
    const shop = await madeShop();
    const path = shop.path('bourse.db');
    const control = shop.path('bourse.control.db');
    for (const file of [path, control])
      assert.equal(statSync(file).mode & 0o077, 0, 'made for one user alone');
    chmodSync(control, 0o644);
    const store = await openStore(shop.store, 'write');
    await store.write(async (writer) => {
      const [run] = await writer.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 });
      await writer.upsert(importRuns, [{ ...run!, finished_ms: Date.now() + 3_600_000 }]);
    });
    await store.close();
    const { status, of } = await examine(shop);
    assert.equal(status, 1);
    isRight(of('permissions'), 'warn', /can read .*bourse\.control\.db.*chmod o-rwx/);
    isRight(of('clock'), 'fail', /newest import ended at .*set the clock/);
    rmSync(control);
    isRight((await examine(shop)).of('control file'), 'warn', /control\.db is not beside the store/);
    assert.ok(!existsSync(control));
    writeFileSync(`${path}-wal`, '');
    truncateSync(`${path}-wal`, 100_000_000);
    isRight((await examine(shop)).of('log'), 'warn', /100\.0 MB.*import/);
  },
);

testOfSqlite(
  'a store that this user cannot write fails',
  {
    skip: process.getuid?.() === 0 && 'root writes everything',
  },
  async () => {
    const shop = await madeShop();
    chmodSync(shop.path('bourse.db'), 0o400);
    isRight((await examine(shop)).of('writing'), 'fail', /cannot write .*bourse\.db/);
  },
);

test('a port that another program has fails, one that Bourse answers on does not (contract 10)', async () => {
  const shop = await madeShop();
  const other = createServer((socket) => socket.end('hello\n'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const taken = await examine(shop, '--port', String(port));
  isRight(taken.of('port'), 'fail', /is taken.*--port/);
  const metrics = await examine(shop, '--port', '0', '--metrics-port', String(port));
  isRight(metrics.of('metrics port'), 'fail', /is taken.*--metrics-port/);
  other.close();
  const server = await shop.serve('--metrics-port', '0');
  const said = JSON.parse(server.log.find((line) => line.includes('"msg":"metrics"'))!) as { url: string };
  const ports = ['--port', new URL(server.url).port, '--metrics-port', new URL(said.url).port];
  const { of } = await examine(shop, ...ports);
  isRight(of('port'), 'ok', /Bourse answers/);
  isRight(of('metrics port'), 'ok', /Bourse answers/);
  isRight(of('store'), 'ok', /of the current layout/);
  assert.equal(await server.stop(), 0);
  isRight((await examine(shop, '--host', '192.0.2.1')).of('port'), 'fail', /--host/);
});

test('an exposed address and a misspelt variable are warned of', async () => {
  const shop = newShop();
  process.env.BOURSE_PROT = '9000';
  try {
    const { of } = await examine(shop, '--host', '0.0.0.0');
    isRight(of('environment'), 'warn', /BOURSE_PROT is not a setting: is it BOURSE_PORT\?/);
    isRight(of('exposure'), 'warn', /keys travel in URLs.*--tls-cert/);
  } finally {
    delete process.env.BOURSE_PROT;
  }
});

test('a certificate is looked at: its files, its end, its names', {
  skip: withoutOpenssl,
}, async () => {
  const shop = newShop();
  const flagsOf = ({ cert, key }: Issued): string[] => ['--tls-cert', cert, '--tls-key', key];
  const files = issue(shop.folder, 'good', 'DNS:data.example.com');
  const good = flagsOf(files);
  isRight(
    (await examine(shop, ...good, '--public-url', 'https://data.example.com')).of('certificate'),
    'ok',
    /until/,
  );
  isRight(
    (await examine(shop, ...good, '--public-url', 'https://other.example.com')).of('certificate'),
    'warn',
    /not for other\.example\.com/,
  );
  isRight(
    (await examine(shop, ...flagsOf(issue(shop.folder, 'short', 'DNS:data.example.com', 5)))).of(
      'certificate',
    ),
    'warn',
    /ends in \d days/,
  );
  const { status, of } = await examine(shop, '--tls-cert', files.cert);
  assert.equal(status, 1);
  isRight(of('certificate'), 'fail', /--tls-key FILE is missing/);
  chmodSync(files.key, 0o644);
  isRight((await examine(shop, ...good)).of('certificate'), 'warn', /every user .* can read .*good\.key/);
});
