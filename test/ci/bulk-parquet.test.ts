// Bars in bulk as Parquet (contract 9.11), read by DuckDB: the values of the CSV. How the file is made, kept,
// and read in parts.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { textOf } from '../duckdb.ts';
import { noSmallDisk, SmallDisk } from '../reliability/tmpfs.ts';
import { Workshop } from '../service.ts';
import { until } from '../until.ts';

const shop = new Workshop();
after(() => shop.close());

const DAYS = ['03', '04', '05', '06', '07', '10', '11', '12', '13', '14'].map((day) => `2025-02-${day}`);

function* minutesOf(symbols: number, plus = 0) {
  for (let symbol = 0; symbol < symbols; symbol++)
    for (const day of DAYS)
      for (let minute = 0; minute < 390; minute++) {
        const at = new Date(Date.parse(`${day}T14:30:00Z`) + minute * 60_000).toISOString();
        const close = 10 ** (symbol % 4) + ((minute * 37) % 50) / 100 + plus;
        yield `stock,US,S${symbol},1M,${at},${close},${close + 1},${close - 0.5},${close},${minute % 3 === 0 ? '' : minute * 10}`;
      }
}

const HEAD = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';

async function importRows(name: string, rows: Iterable<string>): Promise<void> {
  writeFileSync(shop.path(name), [HEAD, ...rows, ''].join('\n'));
  await shop.must('import', 'bars', shop.path(name));
}

const SYMBOLS = 16;
await importRows('minutes.csv', minutesOf(SYMBOLS));
const key = await shop.must('keys', 'create', 'bulk');
const limited = await shop.must('keys', 'create', 'limited', '--per-day', '2');

/** Temporary files of the servers: a folder of the test, so that others' are not looked at. */
const TEMPORARY = shop.path('temporary');
mkdirSync(TEMPORARY);
const environment = { TMPDIR: TEMPORARY };
const server = await shop.serveWith(environment);

const path = (query: string, secret = key): string =>
  `/api/v2/stock/bulk/bars/us/1M/from/2025-02-03/to/2025-02-14?secret_key=${secret}&format=parquet${query}`;

/** What is being made: a file that is whole has no name. */
const folders = (): string[] => readdirSync(TEMPORARY);

const skip = process.platform !== 'linux' && 'the files and processes of others are seen on Linux alone';

/** How many files the server keeps open. */
const kept = (): number =>
  readdirSync(`/proc/${server.pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${server.pid}/fd/${fd}`).includes('.parquet');
    } catch {
      // It was closed meanwhile.
      return false;
    }
  }).length;

test('Parquet has the values of the CSV in its order, with instants as timestamps in UTC and dates as dates (contract 9.11)', async () => {
  for (const query of ['&session_date=true', '&symbols=S1,S3']) {
    const answer = await server.get(path(query));
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'application/vnd.apache.parquet');
    assert.ok(Number(answer.headers.get('x-data-version')) > 0);
    const bytes = Buffer.from(await answer.arrayBuffer());
    assert.equal(answer.headers.get('content-length'), String(bytes.length));
    writeFileSync(shop.path('got.parquet'), bytes);
    const csv = await server.get(path(query).replace('parquet', 'csv'));
    writeFileSync(shop.path('got.csv'), Buffer.from(await csv.arrayBuffer()));
    const [parquet, text] = ['got.parquet', 'got.csv'].map((name) => `'${shop.path(name)}'`);
    const types = `{'datetime': 'TIMESTAMPTZ', 'close_datetime': 'TIMESTAMPTZ', 'exchange': 'VARCHAR', 'volume': 'DOUBLE', 'vwap': 'DOUBLE', 'open': 'DOUBLE', 'high': 'DOUBLE', 'low': 'DOUBLE', 'close': 'DOUBLE'}`;
    const a = `(select row_number() over () as at, * from ${parquet})`;
    const b = `(select row_number() over () as at, * from read_csv(${text}, types = ${types}))`;
    const found =
      await textOf(`select concat((select count(*) from ${a}), ' ', (select count(*) from (from ${a} except all from ${b})), ' ',
      (select count(*) from (from ${b} except all from ${a})))`);
    const symbols = query.includes('symbols') ? 2 : SYMBOLS;
    assert.equal(found, `${symbols * DAYS.length * 390} 0 0`);
    const columns = await textOf(
      `select string_agg(column_type, ' ') from (describe select * from ${parquet})`,
    );
    const date = query.includes('session_date') ? 'DATE ' : '';
    assert.equal(
      columns,
      `${'VARCHAR '.repeat(5)}${'TIMESTAMP WITH TIME ZONE '.repeat(2)}${date}${'DOUBLE '.repeat(6)}`.trim(),
    );
    const packed = await textOf(
      `select string_agg(distinct compression, ' ') from parquet_metadata(${parquet})`,
    );
    assert.equal(packed, 'ZSTD');
  }
});

test('a market without bars is a file without rows, with its columns (contract 9.11)', async () => {
  const answer = await server.get(path('').replace('/us/', '/JP/'));
  assert.equal(answer.status, 200);
  writeFileSync(shop.path('none.parquet'), Buffer.from(await answer.arrayBuffer()));
  const none = `'${shop.path('none.parquet')}'`;
  const found = await textOf(
    `select concat((select count(*) from ${none}), ' ', (select count(*) from (describe select * from ${none})))`,
  );
  assert.equal(found, '0 13');
});

test('HEAD makes the file, ranges of it are the file, and its tag tells whether it is the same (contract 6.6, 9.7, 9.11)', {
  skip,
}, async () => {
  const query = '&symbols=S5,S6';
  const before = kept();
  const head = await server.get(path(query), { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(kept(), before + 1);
  const length = Number(head.headers.get('content-length'));
  const etag = head.headers.get('etag')!;
  assert.match(etag, /^"[\w-]+"$/);
  assert.equal(head.headers.get('accept-ranges'), 'bytes');
  const whole = Buffer.from(await (await server.get(path(query))).arrayBuffer());
  assert.equal(whole.length, length);
  const step = Math.ceil(length / 5);
  const parts: Buffer[] = [];
  for (let from = 0; from < length; from += step) {
    const range = `bytes=${from}-${from + step - 1}`;
    const part = await server.get(path(query), { headers: { range, 'if-range': etag } });
    assert.equal(part.status, 206);
    const to = Math.min(from + step, length) - 1;
    assert.equal(part.headers.get('content-range'), `bytes ${from}-${to}/${length}`);
    assert.equal(part.headers.get('etag'), etag);
    parts.push(Buffer.from(await part.arrayBuffer()));
  }
  assert.ok(Buffer.concat(parts).equals(whole));
  const forms: readonly [range: string, status: number, bytes: Buffer][] = [
    [`bytes=${length - 8}-`, 206, whole.subarray(-8)],
    ['bytes=-8', 206, whole.subarray(-8)],
    ['bytes=0-0', 206, whole.subarray(0, 1)],
    [`bytes=0-${10 ** 14}`, 206, whole],
    ['bytes=5-2', 200, whole],
    ['bytes=0-1,4-5', 200, whole],
    ['lines=0-1', 200, whole],
  ];
  for (const [range, status, bytes] of forms) {
    const part = await server.get(path(query), { headers: { range } });
    assert.equal(part.status, status, range);
    assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes), range);
  }
  const beyond = await server.get(path(query), { headers: { range: `bytes=${length}-` } });
  assert.equal(beyond.status, 416);
  assert.equal(beyond.headers.get('content-range'), `bytes */${length}`);
  assert.equal(
    ((await beyond.json()) as { detail: { error: string } }).detail.error,
    'range_not_satisfiable',
  );
  const other = await server.get(path(query), { headers: { range: 'bytes=0-9', 'if-range': '"other"' } });
  assert.deepEqual([other.status, (await other.arrayBuffer()).byteLength], [200, length]);
  const known = await server.get(path(query), { headers: { 'if-none-match': etag } });
  assert.deepEqual([known.status, (await known.arrayBuffer()).byteLength], [304, 0]);
  assert.equal(kept(), before + 1);
});

test('the same request at the same time is made once; after an import it is made anew (contract 9.11, 9.12)', {
  skip,
}, async () => {
  const query = '&symbols=S7,S8,S9';
  const before = kept();
  const answers = await Promise.all(Array.from({ length: 6 }, () => server.get(path(query))));
  const bodies = await Promise.all(answers.map(async (one) => Buffer.from(await one.arrayBuffer())));
  assert.ok(bodies.every((body) => body.equals(bodies[0]!)));
  assert.equal(kept(), before + 1);
  await importRows('changed.csv', minutesOf(8, 5));
  const anew = await server.get(path(query));
  assert.notEqual(anew.headers.get('etag'), answers[0]!.headers.get('etag'));
  assert.ok(Number(anew.headers.get('x-data-version')) > Number(answers[0]!.headers.get('x-data-version')));
  await anew.arrayBuffer();
});

test('each moment has a file of its own, with the bars that had closed by then, also for a key that is pinned to it (contract 9.8, 9.11)', {
  skip,
}, async () => {
  const rowsAt = async (query: string, secret?: string): Promise<[asOf: string | null, last: string]> => {
    const answer = await server.get(path(`&symbols=S11,S12${query}`, secret));
    assert.equal(answer.status, 200);
    writeFileSync(shop.path('then.parquet'), Buffer.from(await answer.arrayBuffer()));
    const last = await textOf(
      `select concat(count(*), ' ', max(close_datetime)) from '${shop.path('then.parquet')}'`,
    );
    return [answer.headers.get('x-as-of'), last];
  };
  const [first, second] = ['2025-02-03T15:00:30Z', '2025-02-04T14:31:00Z'];
  const before = kept();
  const ofFirst = [first, '60 2025-02-03 15:00:00+00'];
  const ofSecond = [second, '782 2025-02-04 14:31:00+00'];
  assert.deepEqual(await rowsAt(`&as_of=${first}`), ofFirst);
  assert.deepEqual(await rowsAt(`&as_of=${second}`), ofSecond);
  assert.deepEqual(await rowsAt(`&as_of=${first}`), ofFirst);
  assert.equal(kept(), before + 2);
  const pinned = await shop.must('keys', 'create', 'pinned', '--as-of', second);
  assert.deepEqual(await rowsAt('', pinned), ofSecond);
  assert.deepEqual(await rowsAt(`&as_of=${first}`, pinned), ofFirst);
});

test('the ranges of a file count once for a quota (contract 7.5, 9.11)', async () => {
  const first = await server.get(path('&symbols=S1', limited), { method: 'HEAD' });
  assert.equal(first.headers.get('ratelimit-remaining'), '1');
  const range = { range: 'bytes=0-99' };
  for (let count = 0; count < 5; count++) {
    const part = await server.get(path('&symbols=S1', limited), { headers: range });
    assert.deepEqual([part.status, part.headers.get('ratelimit-remaining')], [206, '1']);
  }
  assert.equal((await server.get(path('&symbols=S2', limited), { headers: range })).status, 206);
  assert.equal((await server.get(path('&symbols=S1', limited), { headers: range })).status, 206);
  assert.equal((await server.get(path('&symbols=S1', limited))).status, 429);
});

/** An answer that a caller waits for, or has left. */
const begun = (
  query: string,
  at = server,
): Promise<IncomingMessage> & { readonly query: string; readonly leave: () => void } => {
  let leave = (): void => undefined;
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    const request = get(`${at.url}${path(query)}`, { agent: false }, resolve).once('error', reject);
    leave = () => request.destroy();
  });
  answer.catch(() => undefined);
  return Object.assign(answer, { query, leave: () => leave() });
};

/** The processes that make Parquet. */
function makers(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return line.includes('export/parquet.') && line.includes(TEMPORARY) && !line.startsWith('/bin/sh');
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Asks for files until one is met that is still being made, and halts its making. */
async function halted(
  at = server,
): Promise<{ readonly answer: ReturnType<typeof begun>; readonly pid: number }> {
  for (let minute = 10; minute < 60; minute++) {
    // Each moment has a file of its own.
    const answer = begun(`&as_of=2025-02-14T23:${minute}:00Z`, at);
    let isAnswered = false;
    answer.then(
      (one) => {
        isAnswered = true;
        one.resume();
      },
      () => undefined,
    );
    await until('it is made', () => isAnswered || makers().length === 1);
    for (const pid of makers()) {
      try {
        process.kill(pid, 'SIGSTOP');
      } catch {
        // It has ended.
        continue;
      }
      if (makers().includes(pid)) return { answer, pid };
    }
  }
  throw new Error('no file was met while it was made');
}

test('what a server left that was killed while it made a file is removed at the start (contract 9.11)', {
  skip,
}, async () => {
  const killed = await shop.serveWith(environment);
  const { pid } = await halted(killed);
  await killed.kill();
  process.kill(pid, 'SIGKILL');
  assert.equal(folders().length, 1);
  await (await shop.serveWith(environment)).stop();
  assert.deepEqual(folders(), []);
});

test('who leaves while a file is made ends its making, and nothing is left (contract 9.11)', {
  skip,
}, async () => {
  const { answer } = await halted();
  answer.leave();
  await until('the process has ended', () => makers().length === 0);
  await until('the file is removed', () => folders().length === 0);
});

test('a process that is killed makes an error, and the next request begins anew (contract 6.3, 9.11)', {
  skip,
}, async () => {
  const { answer, pid } = await halted();
  process.kill(pid, 'SIGKILL');
  assert.equal((await answer).statusCode, 500);
  assert.deepEqual(folders(), []);
  const again = await server.get(path(answer.query));
  assert.equal(again.status, 200);
  await again.arrayBuffer();
});

/** What a cleaner of temporary files does. */
function clean(): void {
  for (const name of readdirSync(TEMPORARY)) rmSync(join(TEMPORARY, name), { recursive: true });
}

test('where temporary files are cleaned, a file stays: kept, read, asked for by HEAD or in part (contract 9.11)', async () => {
  const query = '&symbols=S2,S3';
  const whole = await server.get(path(query));
  const etag = whole.headers.get('etag')!;
  const bytes = Buffer.from(await whole.arrayBuffer());
  const reading = await server.get(path(query));
  clean();
  assert.ok(Buffer.from(await reading.arrayBuffer()).equals(bytes), 'what is sent is sent on');
  const range = { range: 'bytes=8-99', 'if-range': etag };
  const asked: readonly [init: RequestInit, status: number, body: Buffer][] = [
    [{}, 200, bytes],
    [{ method: 'HEAD' }, 200, Buffer.alloc(0)],
    [{ headers: range }, 206, bytes.subarray(8, 100)],
    [{ headers: { 'if-none-match': etag } }, 304, Buffer.alloc(0)],
  ];
  for (const [init, status, body] of asked) {
    clean();
    const answer = await server.get(path(query), init);
    assert.deepEqual([answer.status, answer.headers.get('etag')], [status, etag]);
    assert.ok(Buffer.from(await answer.arrayBuffer()).equals(body));
  }
  assert.equal((await server.getOnce('/readyz')).status, 200);
});

test('where temporary files are cleaned while one is made, it is made again (contract 9.11)', {
  skip,
}, async () => {
  const { answer, pid } = await halted();
  clean();
  process.kill(pid, 'SIGCONT');
  const found = await answer;
  assert.equal(found.statusCode, 200);
  found.resume();
});

const noDisk = noSmallDisk();

test('on a full disk the answer says so, and nothing is left (contract 6.3, 9.11)', {
  skip: noDisk,
}, async () => {
  const disk = new SmallDisk(16 * 1024);
  const small = await shop.serveWith({ TMPDIR: disk.folder });
  try {
    const answer = await small.getOnce(path(''));
    assert.equal(answer.status, 503);
    const { message } = (await answer.json()) as { message: string };
    assert.match(message, /disk on which Parquet files are made is full: ask for csv or arrow/);
    assert.ok(
      readdirSync(disk.folder, { recursive: true }).every((name) => !String(name).endsWith('.parquet')),
    );
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
    const csv = await small.getOnce(path('&symbols=S1').replace('parquet', 'csv'));
    assert.equal(csv.status, 200);
    await csv.arrayBuffer();
  } finally {
    await small.stop();
    disk.close();
  }
});

test('bourse query does not make Parquet, and says so (contract 9.11)', async () => {
  const { status, stderr } = await shop.run('query', path(''));
  assert.equal(status, 1);
  assert.match(stderr, /Only a service answers format=parquet/);
});

test('a server that stops leaves no file (contract 9.11)', async () => {
  await server.stop();
  assert.deepEqual(folders(), []);
});
