// `bourse copy` between SQLite and PostgreSQL, in every direction: whole, cut off, beside imports (contract
// 10).
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, suite, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type CopyProgress, type CopyTarget, type CopyWriter, copyStore } from '../../src/store/copy.ts';
import { engineAt, openControl, openStore } from '../../src/store/engines.ts';
import { Workshop } from '../service.ts';
import { fileStore } from '../sqlite/files.ts';
import { until } from '../until.ts';
import { everythingIn, fill, writeMinutes } from './copying.ts';
import { openDatabase, postgresPrograms } from './server.ts';

const server = postgresPrograms() === null ? null : await openDatabase();
const shop = new Workshop();
after(async () => {
  shop.close();
  await server?.stop();
});

let made = 0;
const engines: Readonly<Record<string, () => string>> = {
  SQLite: () => fileStore(shop.path(`store-${++made}.db`)),
  ...(server === null ? {} : { PostgreSQL: () => `${server.url}?schema=s${++made}` }),
};

const directions = Object.keys(engines).flatMap((from) =>
  Object.keys(engines).map((to) => [from, to] as const),
);

/**
 * A store with everything in it: its address, a key, all that it holds since it was served last, and how many
 * rows and bars a copy reads.
 */
type Source = {
  readonly url: string;
  readonly key: string;
  everything: Awaited<ReturnType<typeof everythingIn>>;
  readonly count: number;
};

const sources: Record<string, Source> = {};

/** The source of an engine. */
async function sourceOf(engine: string): Promise<Source> {
  sources[engine] ??= await makeSource(engines[engine]!());
  return sources[engine];
}

async function makeSource(url: string): Promise<Source> {
  const key = await fill(shop, url);
  return { url, key, everything: await everythingIn(url), count: await countOf(url, engines.SQLite!()) };
}

type Copied = {
  readonly rows: number;
  readonly bars: number;
  readonly keys: number;
  readonly data_version: number;
  readonly copied_data_version: number;
  readonly source_data_version: number;
  readonly content_hash: string;
  readonly resumed: boolean;
};

const copy = async (from: string, to: string): Promise<Copied> =>
  JSON.parse(await shop.must('copy', '--from', from, '--to', to, '--json')) as Copied;

const hashOf = async (url: string): Promise<string> =>
  (
    JSON.parse(await shop.must('status', '--content-hash', '--json', '--store', url)) as {
      content_hash: string;
    }
  ).content_hash;

/** Runs a statement past the product. */
async function askServer(sql: string): Promise<unknown[]> {
  const asking = new pg.Client({ connectionString: server!.url });
  await asking.connect();
  try {
    return (await asking.query(sql)).rows;
  } finally {
    await asking.end();
  }
}

/** Whether there is something at the place of a store. */
async function hasBegun(url: string): Promise<boolean> {
  const schema = /schema=(\w+)/.exec(url)?.[1];
  if (schema !== undefined)
    return (await askServer(`select from pg_namespace where nspname = '${schema}'`)).length > 0;
  const name = basename(url);
  return readdirSync(shop.folder).some((one) => one.startsWith(name));
}

const quiet: CopyProgress = { begins: () => undefined, reached: () => undefined };

/** Copies in this process. */
async function copyHere(from: string, to: string, progress: CopyProgress) {
  const [source, control] = [await openStore(from, 'read'), await openControl(from, 'read')];
  try {
    const target = await engineAt(to).openCopyTarget(0, () => undefined);
    try {
      return await copyStore(source, control, target, progress, Date.now);
    } finally {
      await target.close();
    }
  } finally {
    await Promise.all([source.close(), control.close()]);
  }
}

class CutOff extends Error {}

/** Cuts a copy off once so many rows and bars were read. */
const cuttingOff = (at: number): CopyProgress => {
  let before = 0;
  let last = 0;
  return {
    begins() {
      before += last;
      last = 0;
    },
    reached(rows) {
      last = rows;
      if (before + rows >= at) throw new CutOff();
    },
  };
};

const pages = '/api/v2/stock/bars/US:AAPL/5M/from/2025-03-01/to/2025-03-08?limit=20';

for (const [from, to] of directions.filter(([one, other]) => one !== other))
  suite(`from ${from} to ${to}, and beside it`, () => {
    test('the copy has every row, block and key, serves the same bytes, and undoes the same runs (contract 4.1, 10)', async () => {
      const source = await sourceOf(from);
      const { url, key } = source;
      const target = engines[to]!();
      const headers = { authorization: `Bearer ${key}` };
      const first = await shop.serve('--store', url);
      const page = await (await first.get(pages, { headers })).text();
      const next = /"next_page_key":"([^"]+)"/.exec(page)![1]!;
      const expected = await (await first.get(`${pages}&next_page_key=${next}`, { headers })).text();
      await first.stop();
      // Its key has been used.
      const before = await everythingIn(url);
      source.everything = before;

      const copied = await copy(url, target);
      assert.equal(copied.content_hash, await hashOf(url));
      assert.equal(copied.keys, 3);
      assert.equal(copied.bars, 3 * 4 * 390 - 3 * 390);
      assert.equal(copied.source_data_version, copied.copied_data_version);
      assert.ok(copied.data_version > Date.UTC(2025, 0), `${copied.data_version} is a moment`);
      assert.equal(copied.resumed, false);
      assert.deepEqual(await everythingIn(url), before);
      assert.deepEqual(await everythingIn(target), before);
      assert.equal(await hashOf(target), copied.content_hash);

      const second = await shop.serve('--store', target);
      assert.equal(withoutAddress(await (await second.get(pages, { headers })).text()), withoutAddress(page));
      const rest = await second.get(`${pages}&next_page_key=${next}`, { headers });
      assert.equal(withoutAddress(await rest.text()), withoutAddress(expected));
      await second.stop();

      // Undone in a further copy, which the source of others stays without.
      const [one, other] = [engines[from]!(), engines[to]!()];
      await copy(url, one);
      await copy(target, other);
      for (const run of ['10', '8']) {
        for (const store of [one, other]) await shop.must('undo', run, '--store', store);
        assert.deepEqual(await hashOf(other), await hashOf(one));
      }
      assert.notEqual(await hashOf(one), copied.content_hash);
      await shop.must('import', 'bars', writeMinutes(shop, 'more.csv', more), ...barFlags, '--store', target);
      const { data_version } = JSON.parse(await shop.must('status', '--json', '--store', target));
      assert.equal(data_version, copied.data_version + 1, 'writes count on from the version of the copy');
      await shop.must('doctor', '--deep', '--store', target);
    });

    test('a killed copy is completed by the same command (contract 10)', async () => {
      const { url, everything } = await sourceOf(from);
      const target = engines[to]!();
      // As soon as there is something at its place, and a little later.
      for (const laterMs of [0, 150]) {
        const child = shop.start(['copy', '--from', url, '--to', target]);
        const ended = new Promise((resolve) => child.once('exit', resolve));
        await until('the copy has begun', () => child.exitCode !== null || hasBegun(target));
        await Promise.race([pause(laterMs), ended]);
        child.kill('SIGKILL');
        await ended;
      }
      const { status, stderr } = await shop.run('copy', '--from', url, '--to', target);
      assert.ok(status === 0 || /there is a store at/.test(stderr), stderr);
      assert.deepEqual(await everythingIn(target), everything);
    });

    test('a source that is written to is copied as it was, and the report says so; a later copy of it is its own (contract 10)', async () => {
      const [url, target] = [engines[from]!(), engines[to]!()];
      await copy((await sourceOf(from)).url, url);
      const before = await everythingIn(url);
      let written: Promise<unknown> | null = null;
      const file = writeMinutes(shop, 'meanwhile.csv', more);
      const progress: CopyProgress = {
        ...quiet,
        begins(doing) {
          if (doing === 'checking the copy')
            written = shop.must('import', 'bars', file, ...barFlags, '--store', url);
        },
      };
      const slow = await openStore(url, 'read');
      const control = await openControl(url, 'read');
      const opened = await engineAt(target).openCopyTarget(0, () => undefined);
      const finish = opened.finish.bind(opened);
      const made = await copyStore(
        slow,
        control,
        {
          ...opened,
          async finish() {
            await written;
            await finish();
          },
        },
        progress,
        Date.now,
      );
      await Promise.all([slow.close(), control.close(), opened.close()]);
      assert.equal(made.sourceVersion, made.copiedVersion! + 1);
      assert.deepEqual(await everythingIn(target), before);
    });

    test('a place with a store is refused, and stays as it is (contract 10)', async () => {
      const { url } = await sourceOf(from);
      const target = engines[to]!();
      await shop.must('import', 'bars', writeMinutes(shop, 'more.csv', more), ...barFlags, '--store', target);
      const before = await hashOf(target);
      const { status, stdout, stderr } = await shop.run('copy', '--from', url, '--to', target);
      assert.deepEqual([status, stdout], [2, '']);
      assert.match(stderr, /there is a store at .*: a copy makes a new one; name another place/);
      assert.equal(await hashOf(target), before);
    });
  });

for (const [from, to] of directions)
  suite(`from ${from} to ${to}`, () => {
    test('a copy that was cut off anywhere is no store, and the same command completes it (contract 10)', async () => {
      const { url, everything, count } = await sourceOf(from);
      const target = engines[to]!();
      const moments = [1, ...Array.from({ length: 3 }, (_, at) => Math.floor((count * (at + 1)) / 3))];
      for (const moment of moments) {
        await assert.rejects(copyHere(url, target, cuttingOff(moment)), CutOff, `at ${moment}`);
        const { status, stderr } = await shop.run('status', '--store', target);
        assert.equal(status, 3, stderr);
        assert.match(stderr, /no store|not finished/);
      }
      const copied = await copy(url, target);
      assert.equal(copied.resumed, true);
      assert.deepEqual(await everythingIn(target), everything);
    });

    test('where the source changed after the copy was cut off, the copy is what the source is now (contract 10)', async () => {
      const [url, target] = [engines[from]!(), engines[to]!()];
      await copy((await sourceOf(from)).url, url);
      const count = await countOf(url, engines.SQLite!());
      await assert.rejects(copyHere(url, target, cuttingOff(count - 1)), CutOff);
      await shop.must('import', 'bars', writeMinutes(shop, 'more.csv', more), ...barFlags, '--store', url);
      await shop.must('undo', '10', '--store', url);
      await shop.must('delete', 'bars', ...barFlags, '--symbol', 'MSFT', '--store', url);
      await copy(url, target);
      assert.deepEqual(await everythingIn(target), await everythingIn(url));
    });
  });

const barFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
const more = { symbols: ['MSFT', 'NEW'], days: 3, price: 400 };

/** An answer without the address of its server. */
const withoutAddress = (text: string): string => text.replace(/127\.0\.0\.1:\d+/g, 'host');

/** How many rows and bars a copy reads in all. */
async function countOf(url: string, target: string): Promise<number> {
  let [before, last] = [0, 0];
  await copyHere(url, target, {
    begins() {
      before += last;
      last = 0;
    },
    reached(rows) {
      last = rows;
    },
  });
  return before + last;
}

test('a path alone is a file; nothing is left beside a finished copy (contract 10)', async () => {
  const { url, everything } = await sourceOf('SQLite');
  const path = shop.path('plain/copy.db');
  await shop.must('copy', '--from', url.replace('sqlite:', ''), '--to', path);
  assert.deepEqual(readdirSync(shop.path('plain')).sort(), ['copy.control.db', 'copy.db']);
  assert.deepEqual(await everythingIn(fileStore(path)), everything);
  assert.ok(existsSync(path));
});

/** A target that does not keep everything that it gets. */
async function copyLosing(what: 'upsert' | 'putBlock', at: number): Promise<void> {
  const { url } = await sourceOf('SQLite');
  const source = await openStore(url, 'read');
  const target = await engineAt(engines.SQLite!()).openCopyTarget(0, () => undefined);
  let calls = 0;
  const losing: CopyTarget = {
    ...target,
    write: (work) =>
      target.write((writer) => {
        const method = writer[what] as (...given: unknown[]) => Promise<void>;
        const losing = async (...given: unknown[]): Promise<void> => {
          if (++calls !== at) await method.apply(writer, given);
        };
        const get = (_: CopyWriter, name: keyof CopyWriter): unknown =>
          name === what ? losing : (writer[name] as () => unknown).bind(writer);
        return work(new Proxy(writer, { get: get as ProxyHandler<CopyWriter>['get'] & object }));
      }),
  };
  try {
    await copyStore(source, null, losing, quiet, Date.now);
  } finally {
    await Promise.all([source.close(), target.close()]);
  }
}

test('a copy that lacks one row or one block is found before it is a store (contract 10)', async () => {
  for (const [what, at] of [
    ['upsert', 1],
    ['upsert', 40],
    ['upsert', 80],
    ['putBlock', 1],
    ['putBlock', 7],
  ] as const)
    await assert.rejects(copyLosing(what, at), /differs from what was written/, `${what} ${at}`);
});

test('the command lacks an address, or names one store twice: wrong usage (contract 10)', async () => {
  const { url } = await sourceOf('SQLite');
  const wrong: [readonly string[], RegExp][] = [
    [['--to', url], /--from STORE is missing/],
    [['--from', url], /--to STORE is missing/],
    [['--from', url, '--to', url], /--to and --from are the same store/],
    [['--from', url, '--to', 'mysql://x@y/z'], /is not the address of a store/],
    [['--from', url, '--to', ':memory:'], /would be gone/],
  ];
  for (const [words, message] of wrong) {
    const { status, stdout, stderr } = await shop.run('copy', ...words, '--json');
    assert.deepEqual([status, stdout], [2, ''], words.join(' '));
    const problem = JSON.parse(stderr) as { error: string; message: string };
    assert.equal(problem.error, 'usage');
    assert.match(problem.message, message);
  }
});

test('a store that is not there is not copied, and nothing is made (contract 10)', async () => {
  for (const [from, to] of directions) {
    const target = engines[to]!();
    const { status, stderr } = await shop.run('copy', '--from', engines[from]!(), '--to', target);
    assert.equal(status, 3, stderr);
    assert.match(stderr, /there is no store at/);
    assert.match((await shop.run('status', '--store', target)).stderr, /there is no store at/);
  }
});

test('a copy into PostgreSQL that is not finished is refused by every command, which says what to do (contract 10)', {
  skip: server === null,
}, async () => {
  const target = engines.PostgreSQL!();
  await assert.rejects(copyHere((await sourceOf('SQLite')).url, target, cuttingOff(500)), CutOff);
  const file = writeMinutes(shop, 'more.csv', more);
  for (const words of [
    ['status'],
    ['import', 'bars', file, ...barFlags],
    ['undo', '1'],
    ['export', 'bars'],
    ['serve', '--port', '0'],
  ]) {
    const { status, stderr } = await shop.run(...words, '--store', target);
    assert.equal(status, 3, `${words.join(' ')}: ${stderr}`);
    assert.match(
      stderr,
      /is not finished: run the same bourse copy again; to give it up, drop its schema s\d+/,
    );
  }
});

test('copies into one place at once: one makes the store, the others are refused, and the store is whole (contract 10)', async () => {
  const { url, everything } = await sourceOf('SQLite');
  const rounds: [to: string, copies: number][] = Object.keys(engines).map((to) => [to, 2]);
  rounds.push(['SQLite', 4]);
  for (const [to, copies] of rounds) {
    const target = engines[to]!();
    const ended = await Promise.all(
      Array.from({ length: copies }, () => shop.run('copy', '--from', url, '--to', target)),
    );
    const others = ended.filter(({ status }) => status !== 0);
    const told = ended.map(({ stderr }) => stderr).join('\n');
    assert.equal(others.length, copies - 1, `${to}: ${told}`);
    for (const { stderr } of others)
      assert.match(stderr, /another bourse copy writes .*: let it end|there is a store at/);
    const name = basename(target, '.db');
    const files = readdirSync(shop.folder).filter((one) => one.startsWith(`${name}.`));
    assert.deepEqual(files.sort(), to === 'SQLite' ? [`${name}.control.db`, `${name}.db`] : []);
    assert.deepEqual(await everythingIn(target), everything);
  }
});

test('a copy that waits for another to end does not disturb it, and is refused (contract 10)', {
  skip: !existsSync('/proc/self/fd'),
}, async () => {
  const { url, everything } = await sourceOf('SQLite');
  const target = engines.SQLite!();
  const [source, control] = [await openStore(url, 'read'), await openControl(url, 'read')];
  const opened = await engineAt(target).openCopyTarget(0, () => undefined);
  const second = shop.start(['copy', '--from', url, '--to', target]);
  const ended = once(second, 'exit');
  const told = text(second.stderr!);
  const data = `${basename(target)}.copying`;
  const { ino } = statSync(shop.path(data));
  const files = `/proc/${second.pid}/fd`;
  const opens = (file: string): boolean =>
    statSync(`${files}/${file}`, { throwIfNoEntry: false })?.ino === ino;
  await until('the second waits', () => readdirSync(files).some(opens));
  await copyStore(source, control, opened, quiet, Date.now);
  await Promise.all([source.close(), control.close(), opened.close()]);
  assert.deepEqual([(await ended)[0], /there is a store at/.test(await told)], [2, true], await told);
  assert.deepEqual(
    readdirSync(shop.folder).filter((one) => one.includes(data)),
    [],
  );
  assert.deepEqual(await everythingIn(target), everything);
});

test('a damaged source in PostgreSQL is refused with the name of what is damaged (contract 10)', {
  skip: server === null,
}, async () => {
  const source = engines.PostgreSQL!();
  await copy((await sourceOf('SQLite')).url, source);
  const client = new pg.Client({ connectionString: server!.url });
  await client.connect();
  await client.query(`set search_path to ${/schema=(\w+)/.exec(source)![1]}`);
  await client.query(
    "update bar_blocks set bytes = '\\x00' where bucket = (select min(bucket) from bar_blocks)",
  );
  await client.end();
  const { status, stderr } = await shop.run('copy', '--from', source, '--to', engines.SQLite!());
  assert.equal(status, 3, stderr);
  assert.match(stderr, /is damaged, and is not copied: bars, stock:US:\w+ 1M, 2025-03-03/);
});

test('a copy waits until what an earlier one sent last has ended: it could come after what replaces it (contract 10)', {
  skip: server === null,
}, async () => {
  const { url, everything } = await sourceOf('SQLite');
  const target = engines.PostgreSQL!();
  await assert.rejects(copyHere(url, target, cuttingOff(500)), CutOff);
  const client = new pg.Client({ connectionString: server!.url });
  await client.connect();
  // As the session of the blocks of that copy has it.
  await client.query("select pg_advisory_lock(hashtext('bourse.' || $1), 5)", [
    /schema=(\w+)/.exec(target)![1],
  ]);
  let isEnded = false;
  const copying = copy(url, target).finally(() => {
    isEnded = true;
  });
  await until('the copy waits', async () => {
    const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
    return isEnded || (await askServer(waiting)).length > 0;
  });
  assert.equal(isEnded, false);
  await client.end();
  await copying;
  assert.deepEqual(await everythingIn(target), everything);
});
