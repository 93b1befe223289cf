// Opening a file: a wrong one is refused before anything of it is imported (contract 11).
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { crc32, gzipSync } from 'node:zlib';
import { zipOf } from '../../../test/zip.ts';
import { ownMark } from '../../base/temporary.ts';
import { SMALL_FILE_BYTES } from './digest.ts';
import { FileProblem } from './file-problem.ts';
import { openSources, rejectedPathOf, type SourceFile } from './source.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-file-'));
after(() => rmSync(folder, { recursive: true }));

const openSource = async (path: string): Promise<SourceFile> =>
  (await openSources(path, process.stdin, () => ({})).next()).value as SourceFile;

/** The first bytes of a file. */
function beginningOf(path: string, length: number): Buffer {
  const file = openSync(path, 'r');
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, 0);
  closeSync(file);
  return bytes;
}

let files = 0;
function fileOf(content: string | Buffer, name = 'prices.csv'): string {
  const path = join(folder, String(++files));
  mkdirSync(path);
  writeFileSync(join(path, name), content);
  return join(path, name);
}

const csv = `datetime,open,high,low,close\n${'2025-03-03T14:30:00Z,1,2,0.5,1.5\n'.repeat(50)}`;

/** The header of a file, its text as it is read, and its digest. */
async function opened(path: string) {
  const source = await openSource(path);
  try {
    return { header: source.header, text: readFileSync(source.path, 'utf8'), ...(await source.digest()) };
  } finally {
    await source.close();
  }
}

test('a file is read by a descriptor of this process, by its reader too (contract 10)', {
  skip: process.platform !== 'linux' && 'only Linux has such paths',
}, async () => {
  const path = fileOf('{"datetime":"2025-03-03","close":1}\n', 'prices.ndjson');
  const file = openSync(path, 'r');
  try {
    for (const own of [`/dev/fd/${file}`, `/proc/self/fd/${file}`])
      assert.deepEqual((await opened(own)).header, ['datetime', 'close'], own);
  } finally {
    closeSync(file);
  }
});

async function problemOf(path: string): Promise<FileProblem> {
  const error: unknown = await openSource(path).then(
    (source) => source.close().then(() => null),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof FileProblem, `${path}: ${String(error)}`);
  assert.ok(error.message.startsWith(`${path}: `), error.message);
  return error;
}

test('a plain file is read in its place, and its hash is that of its bytes', async () => {
  const found = await opened(fileOf(csv));
  assert.deepEqual(found.header, ['datetime', 'open', 'high', 'low', 'close']);
  assert.equal(found.text, csv);
  assert.equal(found.sha256, createHash('sha256').update(csv).digest('hex'));
});

test('gzip is recognized by its bytes, of one member or several, and its hash is that of the compressed file', async () => {
  const half = csv.indexOf('\n', csv.length / 2) + 1;
  const several = Buffer.concat([gzipSync(csv.slice(0, half)), gzipSync(''), gzipSync(csv.slice(half))]);
  for (const [bytes, name] of [
    [gzipSync(csv), 'prices.csv.gz'],
    [several, 'prices.csv.gz'],
    [gzipSync(csv), 'prices.csv'],
    [gzipSync(csv, { level: 0 }), 'prices'],
  ] as const) {
    const found = await opened(fileOf(bytes, name));
    assert.equal(found.text, csv);
    assert.equal(found.sha256, createHash('sha256').update(bytes).digest('hex'));
  }
});

test('what was made to read gzip is removed, also where it was damaged', async () => {
  const made = (): string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`bourse-import-${ownMark}-`));
  await opened(fileOf(gzipSync(csv)));
  await problemOf(fileOf(gzipSync(csv).subarray(0, 40)));
  await problemOf(fileOf(gzipSync('')));
  assert.deepEqual(made(), []);
});

test('gzip that is cut off anywhere is damaged, whole members before the cut or not', async () => {
  const first = gzipSync(csv.slice(0, 500));
  const bytes = Buffer.concat([first, gzipSync(csv.slice(500))]);
  for (let length = 1; length < bytes.length; length++) {
    // Cut between two members it is a whole file.
    if (length === first.length) continue;
    const problem = await problemOf(fileOf(bytes.subarray(0, length), 'prices.csv.gz'));
    assert.equal(problem.kind, 'content', `${length} of ${bytes.length} bytes: ${problem.message}`);
    assert.match(problem.message, /gzip/, `${length} of ${bytes.length} bytes`);
  }
});

test('a zip too large to be read at once is damaged where a checksum does not match', async () => {
  const bytes = randomBytes(SMALL_FILE_BYTES);
  const crc = (crc32(bytes) ^ 1) >>> 0;
  const unpacked = openSource(fileOf(zipOf({ name: 'a.csv', bytes, crc }), 'a.zip'));
  await assert.rejects(unpacked, /zip data is damaged: the checksum of a\.csv does not match/);
});

test('gzip with any changed byte behind its head is damaged', async () => {
  const bytes = gzipSync(csv);
  for (let at = 10; at < bytes.length; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = damaged[at]! ^ 0x10;
    const problem = await problemOf(fileOf(damaged));
    assert.equal(problem.kind, 'content');
    assert.match(problem.message, /gzip data is damaged/, `byte ${at}`);
  }
});

const refused: readonly (readonly [
  what: string,
  make: () => string,
  kind: 'unfit' | 'content',
  says: RegExp,
])[] = [
  ['no such file', () => join(folder, 'none.csv'), 'unfit', /there is no such file/],
  ['a file below a file', () => join(fileOf(csv), 'none.csv'), 'unfit', /cannot be read \(ENOTDIR\)/],
  ['a folder', () => folder, 'unfit', /is a folder/],
  [
    'a folder of archives, with a pattern that fits them,',
    () => {
      const inner = mkdtempSync(join(folder, 'archives-'));
      writeFileSync(join(inner, 'a.zip'), '');
      return inner;
    },
    'unfit',
    /Name the files in it, such as '.*\/\*\.zip'/,
  ],
  ['an empty file', () => fileOf(''), 'content', /is empty/],
  ['gzip of nothing', () => fileOf(gzipSync('')), 'content', /is empty/],
  ['a program', () => fileOf(beginningOf(process.execPath, 200_000)), 'content', /not a text file/],
  [
    'UTF-16 of half a character',
    () => fileOf(Buffer.from(`\ufeff${csv}`, 'utf16le').subarray(0, -1)),
    'content',
    /not (?:text in )?utf-16le/,
  ],
  ['gzip of gzip', () => fileOf(gzipSync(gzipSync(csv))), 'content', /packed more than once/],
  ['Latin-1', () => fileOf(Buffer.from('datum,é\n1,2\n', 'latin1')), 'content', /not UTF-8/],
  ['an empty first line', () => fileOf(`\n${csv}`), 'content', /first line is empty/],
  ['no header line', () => fileOf(csv.slice(csv.indexOf('\n') + 1)), 'content', /Add a header line/],
  ['a first line without an end', () => fileOf('x'.repeat(70_000)), 'content', /first line is longer/],
  ['a column twice', () => fileOf('a,b,a\n1,2,3\n'), 'content', /two columns are named a/],
  ['two columns without a name', () => fileOf('a,,\n1,2,3\n'), 'content', /two columns have no name/],
  ['an open quote in the header', () => fileOf('a,"b\n1,2\n'), 'content', /header line cannot be read/],
];

for (const [what, make, kind, says] of refused) {
  test(`${what} is refused (contract 11)`, async () => {
    const problem = await problemOf(make());
    assert.equal(problem.kind, kind);
    assert.match(problem.message, says);
    assert.doesNotMatch(problem.message, /\n/);
  });
}

const read: readonly (readonly [what: string, header: string, names: readonly string[]])[] = [
  ['quoted names', '"open","hi""gh","lo,w"\n', ['open', 'hi"gh', 'lo,w']],
  ['CRLF', 'open,high\r\n', ['open', 'high']],
  ['a byte order mark', '\ufeffopen,high\n', ['open', 'high']],
  ['a byte order mark and quotes', '\ufeff"open","high"\n', ['open', 'high']],
  ['spaces around names', 'open , high\n', ['open', 'high']],
  ['names of other scripts', '日時,始値\n', ['日時', '始値']],
  ['a column without a name', 'open,,high\n', ['open', '', 'high']],
];

for (const [what, header, names] of read) {
  test(`a header with ${what} is read`, async () => {
    assert.deepEqual((await opened(fileOf(`${header}1,2,3\n`))).header, names);
  });
}

for (const [what, text] of [
  ['small', csv],
  ['large', csv + '2025-03-03T14:31:00Z,1,2,0.5,1.5\n'.repeat(SMALL_FILE_BYTES / 32)],
] as const) {
  for (const [how, change] of [
    ['grows', (path: string) => appendFileSync(path, '2025-03-03T14:31:00Z,1,2,0.5,1.5\n')],
    ['keeps its size and changes', (path: string) => utimesSync(path, 0, 0)],
  ] as const)
    test(`a ${what} file that ${how} while it is read is refused`, async () => {
      const path = fileOf(text);
      const source = await openSource(path);
      change(path);
      await assert.rejects(source.digest(), (error) => {
        assert.ok(error instanceof FileProblem);
        assert.match(error.message, /changed while it was read/);
        return true;
      });
      await source.close();
    });

  test(`the digest of a ${what} file is that of its bytes`, async () => {
    const source = await openSource(fileOf(text));
    assert.equal((await source.digest()).sha256, createHash('sha256').update(text).digest('hex'));
    await source.close();
  });
}

test('refused rows go beside the file, under its name', () => {
  for (const [name, path] of [
    ['/data/prices.csv', '/data/prices.rejected.csv'],
    ['/data/prices.csv.gz', '/data/prices.csv.gz.rejected.csv'],
    ['/data/prices.tsv', '/data/prices.tsv.rejected.csv'],
    ['/data/prices.CSV', '/data/prices.rejected.csv'],
    ['/data/prices.2024', '/data/prices.2024.rejected.csv'],
  ] as const)
    assert.equal(rejectedPathOf(name), path);
});
