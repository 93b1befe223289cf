// One set of bars in every format and packing that `bourse import` takes, and what of them is refused
// (contract 11, "Native files").
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import duckdb from '@duckdb/node-bindings';
import { limits } from '../src/contract/limits.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { ownNames } from '../src/imports/map/column-mapping.ts';
import { holdReader } from '../src/imports/read/reader-process.ts';
import { openSources } from '../src/imports/read/source.ts';
import { engineAt } from '../src/store/engines.ts';
import { Workshop } from './service.ts';
import { barsOf } from './stored.ts';
import { openToWrite } from './stores.ts';
import { zipOf } from './zip.ts';

const shop = new Workshop();
after(() => shop.close());
process.once('exit', holdReader());
// What is made to read packed files is looked for at the end: other tests make such folders too.
mkdirSync(shop.path('temporary'));
process.env.TMPDIR = shop.path('temporary');

const columns = ['symbol', 'datetime', 'open', 'high', 'low', 'close', 'volume'] as const;
const rows = Array.from({ length: 30 }, (_, at) => {
  const datetime = `2024-01-02T14:${at + 30}:00Z`;
  return ['A', datetime, 10 + at / 100, 10.55 + at / 100, 9.5, 10.25, 100 + at] as const;
});
const records = rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));

const partedBy = (mark: string): string => `${[columns, ...rows].map((row) => row.join(mark)).join('\n')}\n`;
const csv = partedBy(',');
const json = JSON.stringify(records);
const ndjson = records.map((record) => `${JSON.stringify(record)}\n`).join('');

/** Lets DuckDB write the rows of a CSV as Parquet, its columns as `select` has them. */
async function writeParquet(path: string, select: string): Promise<void> {
  const database = await duckdb.open(':memory:');
  const connection = await duckdb.connect(database);
  try {
    const source = `read_csv('${shop.path('source.csv')}')`;
    await duckdb.query(connection, `copy (select ${select} from ${source}) to '${path}' (format parquet)`);
  } finally {
    duckdb.disconnect_sync(connection);
    duckdb.close_sync(database);
  }
}

const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];
let stores = 0;

/** Imports a file into a store of its own. */
async function imported(name: string, content: string | Buffer | null, ...more: readonly string[]) {
  if (content !== null) writeFileSync(shop.path(name), content);
  const url = shop.storeUrl(String(++stores));
  const finished = await shop.run('import', 'bars', name, '--store', url, ...flags, ...more);
  return { ...finished, url };
}

let expected: ReturnType<typeof barsOf>;
before(async () => {
  const { url } = await imported('source.csv', csv);
  expected = barsOf(url);
  assert.equal(expected['stock:US:A:1M']?.length, rows.length);
});

const half = csv.indexOf('\n', csv.length / 2) + 1;
const skippable = Buffer.from([0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const readable: readonly (readonly [what: string, name: string, content: string | Buffer])[] = [
  ['TSV', 'a.tsv', partedBy('\t')],
  ['TSV under the name of a CSV', 'tabs.csv', partedBy('\t')],
  ['NDJSON', 'a.ndjson', ndjson],
  ['NDJSON with a byte order mark', 'bom.ndjson', `\ufeff${ndjson}`],
  [
    'objects over several lines each',
    'wide.ndjson',
    records.map((one) => JSON.stringify(one, null, 2)).join('\n'),
  ],
  ['a JSON array', 'a.json', json],
  ['an indented JSON array', 'wide.json', JSON.stringify(records, null, 2)],
  [
    'JSON with numbers as text',
    'text.json',
    JSON.stringify(records.map((one) => ({ ...one, open: String(one.open) }))),
  ],
  ['gzip', 'a.csv.gz', gzipSync(csv)],
  ['gzip of JSON', 'a.json.gz', gzipSync(json)],
  ['Zstandard', 'a.csv.zst', zstdCompressSync(csv)],
  [
    'Zstandard in several frames',
    'frames.csv.zst',
    Buffer.concat([zstdCompressSync(csv.slice(0, half)), skippable, zstdCompressSync(csv.slice(half))]),
  ],
  [
    'zip',
    'a.zip',
    zipOf({ name: 'folder/', bytes: Buffer.alloc(0) }, { name: 'folder/a.csv', bytes: Buffer.from(csv) }),
  ],
  ['gzip in zip', 'gz.zip', zipOf({ name: 'a.csv.gz', bytes: gzipSync(csv) })],
];

for (const [what, name, content] of readable) {
  test(`${what} is imported as the CSV is (contract 11)`, async () => {
    const { status, stderr, url } = await imported(name, content);
    assert.equal(status, 0, stderr);
    assert.deepEqual(barsOf(url), expected);
  });
}

test('Parquet is imported as the CSV is, whatever the types of its columns (contract 11)', async () => {
  const shapes = [
    ['*', []],
    [
      'symbol, datetime::timestamptz as datetime, open::decimal(12,4) as open, high, low::real as low, close, volume::integer as volume',
      [],
    ],
    ["symbol, strftime(datetime, '%Y-%m-%dT%H:%M:%SZ') as datetime, open, high, low, close, volume", []],
    [
      'symbol, datetime::timestamp_ns as datetime, open, high, low, close, volume::double as volume',
      ['--zone', 'UTC'],
    ],
    ['symbol, epoch_ms(datetime::timestamptz) as datetime, open, high, low, close, volume', []],
  ] as const;
  for (const [index, [select, more]] of shapes.entries()) {
    await writeParquet(shop.path(`${index}.parquet`), select);
    const zone = index === 0 ? ['--zone', 'UTC'] : more;
    const { status, stderr, url } = await imported(`${index}.parquet`, null, ...zone);
    assert.equal(status, 0, `${select}: ${stderr}`);
    assert.deepEqual(barsOf(url), expected, select);
  }
});

test('a Parquet timestamp of midnight in UTC is a date in a row of DAY (contract 3.10)', async () => {
  const prices = '10 as open, 12 as high, 9 as low, 11 as close, 5 as volume';
  await writeParquet(
    shop.path('days.parquet'),
    `any_value(symbol) as symbol, timestamptz '2024-01-03 00:00:00+00' as datetime, ${prices}`,
  );
  const { status, stderr, url } = await imported('days.parquet', null, '--interval', 'DAY');
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.values(barsOf(url)), [[['2024-01-03T00:00', 10, 12, 9, 11, 5, null]]]);
});

test('a NaN in Parquet is a missing number, as data frames write it', async () => {
  await writeParquet(
    shop.path('nan.parquet'),
    `symbol, datetime::timestamptz as datetime, open, high, low, close, 'nan'::double as volume`,
  );
  const { status, stderr, url } = await imported('nan.parquet', null);
  assert.equal(status, 0, stderr);
  assert.deepEqual(
    barsOf(url)['stock:US:A:1M']?.map((bar) => bar[5]),
    rows.map(() => null),
  );
});

test('a refused row of Parquet is named by its number, with its cells as text (contract 11)', async () => {
  const select = `symbol, datetime::timestamptz as datetime, open::decimal(12,4) as open, case when volume = ${rows[1]![6]} then 'infinity'::double else high end as high, low, close, volume`;
  await writeParquet(shop.path('odd.parquet'), select);
  const { status, stderr, url } = await imported('odd.parquet', null);
  assert.equal(status, 1, stderr);
  assert.equal(barsOf(url)['stock:US:A:1M']?.length, rows.length - 1);
  const refused = readFileSync(shop.path('odd.parquet.rejected.csv'), 'utf8').split('\n');
  assert.match(refused[1]!, /^A,2024-[^,]+Z,[\d.]+,inf,/);
  assert.match(refused[1]!.trimEnd(), /,2,high,is not a number$/);
});

test('a key that only a late JSON object has is taken', async () => {
  const late = `${ndjson}${JSON.stringify({ ...records[0], datetime: '2024-01-02T15:00:00Z', vwap: 10.5 })}\n`;
  const { url } = await imported('late.ndjson', late);
  assert.equal(barsOf(url)['stock:US:A:1M']?.at(-1)?.[6], 10.5);
});

test('standard input is read as the file is', async () => {
  for (const content of [csv, gzipSync(csv)]) {
    const url = shop.storeUrl(String(++stores));
    const { status, stderr } = await shop.pipe(
      Buffer.from(content),
      'import',
      'bars',
      '-',
      '--store',
      url,
      ...flags,
    );
    assert.equal(status, 0, stderr);
    assert.deepEqual(barsOf(url), expected);
  }
});

test('standard input is read in any format, packed or not', async () => {
  const fields = new Map(Object.entries({ asset_schema: 'stock', country_iso_code: 'US', interval: '1M' }));
  for (const [what, , content] of readable) {
    const url = shop.storeUrl(String(++stores));
    const store = await openToWrite(url);
    for await (const file of openSources('-', Readable.from([Buffer.from(content)]), ownNames)) {
      assert.ok(!(file instanceof Error), what);
      const request = { file, flags: fields, source: null, dryRun: false, nowMs: Date.now };
      await importFile(store, 'bars', request);
      await file.close();
    }
    await store.close();
    assert.deepEqual(barsOf(url), expected, what);
  }
});

type Refused = {
  readonly what: string;
  readonly content: string | Buffer;
  readonly says: RegExp;
  readonly status?: number;
};
const cut = (bytes: Buffer, by: number): Buffer => bytes.subarray(0, bytes.length - by);
const changed = (bytes: Buffer, at: number): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ 0xff;
  return copy;
};
const zip = zipOf({ name: 'a.csv', bytes: Buffer.from(csv) });
/** What packs small and unpacks to more than is read of such a file. */
const zeros = Buffer.alloc(limits.unpackedBytesFree + 1_000_000);
const field = 100_000_000;

const refused: readonly Refused[] = [
  {
    what: 'JSON that is cut off',
    content: json.slice(0, -30),
    says: /near record 3\d: the JSON is not well-formed/,
  },
  {
    what: 'NDJSON that is cut off',
    content: ndjson.slice(0, -30),
    says: /near record 3\d: the JSON is not well-formed/,
  },
  {
    what: 'NDJSON with a key twice in an object',
    content: `${ndjson}${JSON.stringify(records[0]).replace('{', '{"open":1,')}\n`,
    says: new RegExp(`refused: record ${rows.length + 1}: one object has the key "open" twice\\.`),
  },
  {
    what: 'a JSON array with a key twice in an object',
    content: json.replace('{', '{"x. y":1,"x. y":1,'),
    says: /refused: record 1: one object has the key "x\. y" twice\./,
  },
  {
    what: 'JSON with a key of its own in each of very many objects',
    content: JSON.stringify(Array.from({ length: 30_000 }, (_, at) => ({ ...records[0], [`k${at}`]: at }))),
    says: /refused: reading it takes more than 400MB of memory: .* its objects have too many keys\./,
  },
  { what: 'JSON of numbers', content: '[1,2,3]', says: /the JSON has a value that is not an object/ },
  { what: 'an empty JSON array', content: ' [ ]\n', says: /: has no rows/ },
  { what: 'JSON that is nested deep', content: '['.repeat(100_000), says: /the JSON is not well-formed/ },
  {
    what: 'one JSON object with two lists of rows',
    content: `{"bars":${json},"more":${json}}`,
    says: /columns missing.*The open may be bars\[\]\.open or more\[\]\.open/,
    status: 2,
  },
  {
    what: 'NDJSON that is not UTF-8',
    content: Buffer.concat([Buffer.from(ndjson), Buffer.from([0x7b, 0xff, 0x7d])]),
    says: /UTF-8/,
  },
  {
    what: 'a JSON field of 100 MB',
    content: `{"symbol":"${'A'.repeat(field)}"}\n`,
    says: /a row is longer than 4100000 bytes/,
  },
  {
    what: 'a CSV field of 100 MB',
    content: `${csv}A,2024-01-02T15:00:00Z,${'1'.repeat(field)},1,1,1,1\n`,
    says: /a row is longer than 4100000 bytes/,
  },
  {
    what: 'mixed line ends',
    content: csv.replace('14:45:00Z', '14:45:00Z').replaceAll(/(14:[45]\d.*)\n/g, '$1\r\n'),
    says: /lines end in different ways/,
  },
  { what: 'a TSV with a column twice', content: 'open\topen\n1\t2\n', says: /two columns are named open/ },
  {
    what: 'zstd that is cut off',
    content: cut(zstdCompressSync(csv), 3),
    says: /zstd data is damaged: it is incomplete/,
  },
  {
    what: 'zstd with something behind it',
    content: Buffer.concat([zstdCompressSync(csv), Buffer.from('more')]),
    says: /zstd data is damaged: something else follows/,
  },
  { what: 'zip that is cut off', content: cut(zip, 40), says: /zip data is damaged/ },
  {
    what: 'zip with a wrong checksum',
    content: zipOf({ name: 'a.csv', bytes: Buffer.from(csv), crc: 1 }),
    says: /zip data is damaged: the checksum of a.csv/,
  },
  { what: 'zip with changed data', content: changed(zip, 60), says: /zip data is damaged/ },
  {
    what: 'zip that is encrypted',
    content: zipOf({ name: 'a.csv', bytes: Buffer.from(csv), flags: 1 }),
    says: /a\.csv in it is encrypted/,
  },
  {
    what: 'zip with a name that leads out of it',
    content: zipOf({ name: '../../a.csv', bytes: Buffer.from(csv) }),
    says: /zip data is damaged.*relative path/,
  },
  { what: 'zip with nothing in it', content: zipOf(), says: /contains no file/ },
  { what: 'zip in zip', content: zipOf({ name: 'a.zip', bytes: zip }), says: /packed more than once/ },
  {
    what: 'a gzip bomb',
    content: gzipSync(zeros, { level: 1 }),
    says: /unpacks to more than 200 times its size/,
  },
  {
    what: 'a zip bomb',
    content: zipOf({ name: 'a.csv', bytes: zeros }),
    says: /unpacks to more than 200 times its size/,
  },
];

for (const { what, content, says, status = 1 } of refused) {
  test(`${what} is refused with one message, and no store is made (contract 10, 11)`, async () => {
    const finished = await imported('refused', content);
    assert.match(finished.stderr, says);
    assert.equal(finished.stderr.trim().split('\n').length, 1, finished.stderr);
    assert.doesNotMatch(finished.stderr, /bourse-import-/);
    assert.equal(finished.status, status, finished.stderr);
    assert.deepEqual(Object.keys(await barsIfAny(finished.url)), []);
  });
}

async function barsIfAny(url: string): Promise<ReturnType<typeof barsOf>> {
  return (await engineAt(url).isMade()) ? barsOf(url) : {};
}

test('Parquet with any part of it cut off or changed is refused, or read right', async () => {
  await writeParquet(
    shop.path('whole.parquet'),
    'symbol, datetime::timestamptz as datetime, open, high, low, close, volume',
  );
  const whole = readFileSync(shop.path('whole.parquet'));
  for (const bytes of [
    cut(whole, 1),
    cut(whole, 8),
    cut(whole, 100),
    whole.subarray(0, 4),
    changed(whole, whole.length - 10),
    changed(whole, whole.length - 60),
  ]) {
    const finished = await imported('broken.parquet', bytes);
    if (finished.status === 0) assert.deepEqual(barsOf(finished.url), expected);
    else assert.match(finished.stderr, /^bourse: broken\.parquet: [^\n]+\n$/);
  }
});

test('Parquet with a text that is not UTF-8 is refused with advice that Parquet can follow', async () => {
  await writeParquet(
    shop.path('texts.parquet'),
    "'ÜBER' as symbol, datetime::timestamptz as datetime, open, high, low, close, volume",
  );
  const bytes = readFileSync(shop.path('texts.parquet'))
    .toString('latin1')
    .replaceAll('\xc3\x9cBER', '\xff\xffBER');
  const { status, stderr } = await imported('latin.parquet', Buffer.from(bytes, 'latin1'));
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^bourse: latin\.parquet: a text in the Parquet data is not UTF-8: it is damaged, or has/,
  );
});

test('a pattern takes every file that fits, each as a run of its own; one at fault does not keep others out', async () => {
  for (const [name, content] of [
    ['p1.csv', csv],
    ['p2.csv', 'open\n'],
    ['p3.json', json],
  ] as const)
    writeFileSync(shop.path(name), content);
  writeFileSync(shop.path('p2.csv'), json.slice(0, -9));
  const url = shop.storeUrl(String(++stores));
  const finished = await shop.run('import', 'bars', 'p*', '--store', url, ...flags);
  assert.equal(finished.status, 1);
  assert.match(finished.stdout, /^p1\.csv: .*run 1[\s\S]*^p3\.json: .*run 2/m);
  assert.match(finished.stderr, /p2\.csv: .*not well-formed[\s\S]*3 files: 1 failed/);
  assert.deepEqual(barsOf(url), expected);
});

test('an archive is imported but for the files in it that are at fault, each told, refused rows apart (contract 11)', async () => {
  const bad = Buffer.from(
    'symbol,datetime,open,high,low,close\nA,2024-01-03T14:30:00Z,1,2,3,1\nA,2024-01-03T14:31:00Z,2,2,2,2\n',
  );
  const members = [
    { name: 'empty.csv', bytes: Buffer.alloc(0) },
    { name: 'readme.txt', bytes: Buffer.from('what this is\n') },
    { name: '2024/p.csv', bytes: bad },
    { name: 'a.csv', bytes: Buffer.from(csv) },
    { name: '2025/p.csv', bytes: bad },
  ];
  const finished = await imported('mixed.zip', zipOf(...members));
  assert.equal(finished.status, 1);
  assert.match(
    finished.stderr,
    /mixed\.zip\/empty\.csv: is empty[\s\S]*mixed\.zip\/readme\.txt: required columns missing[\s\S]*5 files: 2 failed/,
  );
  assert.equal(barsOf(finished.url)['stock:US:A:1M']?.length, rows.length + 1);
  const names = readdirSync(shop.folder).filter(
    (name) => name.startsWith('mixed.zip') && name.endsWith('.rejected.csv'),
  );
  assert.deepEqual(names.sort(), ['mixed.zip.2024-p.rejected.csv', 'mixed.zip.2025-p.rejected.csv']);
});

test('a pattern leaves files of refused rows out, told by what they are', async () => {
  writeFileSync(shop.path('q1.rejected.csv'), csv);
  for (const place of ['q0.rejected.csv', 'q0.rejected.2.csv'])
    writeFileSync(
      shop.path(place),
      'symbol,rejected_row,rejected_column,rejected_reason\r\nA,1,open,is missing\r\n',
    );
  const { status, stderr, url } = await imported('q*.csv', null);
  assert.equal(status, 0, stderr);
  assert.deepEqual(barsOf(url), expected);
});

test('a pipe in the place of a file is told from an empty file', async () => {
  execFileSync('mkfifo', [shop.path('pipe')]);
  const { status, stderr } = await imported('pipe', null);
  assert.equal(status, 2);
  assert.match(stderr, /is a pipe or a device, not a file/);
});

test('names that stand for nothing are told before anything is imported (contract 10)', async () => {
  for (const [names, says] of [
    [['source.csv', 'none.csv'], /none\.csv: there is no such file/],
    [['none-*.csv'], /no file matches/],
    [['-', '-'], /only once/],
  ] as const) {
    const url = shop.storeUrl(String(++stores));
    const finished = await shop.run('import', 'bars', ...names, '--store', url, ...flags);
    assert.equal(finished.status, 2);
    assert.match(finished.stderr, says);
    assert.deepEqual(await barsIfAny(url), {});
  }
});

test('what was made to read packed files is removed', () => {
  // Stores of the test itself are there too.
  const left = readdirSync(shop.path('temporary')).filter((name) => !name.startsWith('bourse-test-'));
  assert.deepEqual(left, []);
});
