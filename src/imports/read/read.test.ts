import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fc, times } from '../../../test/seed.ts';
import { numberOf } from '../../base/decimal.ts';
import { TextCheck } from './digest.ts';
import { FileProblem, NeedsCare } from './file-problem.ts';
import { readChunks } from './read.ts';
import { holdReader } from './reader-process.ts';
import type { ReadPlan } from './scan.ts';

// DuckDB's reading of a CSV, against a parser of a page that knows RFC 4180 and nothing else.

const folder = mkdtempSync(join(tmpdir(), 'bourse-read-'));
const release = holdReader();
after(() => {
  release();
  rmSync(folder, { recursive: true });
});

type Read = {
  readonly texts: (string | null)[][];
  readonly numbers: number[][];
  readonly surplus: (string | null)[];
  readonly chunks: number;
};

const format = { kind: 'csv', delimiter: ',' } as const;

let files = 0;

/** Reads a CSV; texts and numbers by column, each in the order of the rows. */
async function read(csv: string | Buffer, header: readonly string[], plan: ReadPlan): Promise<Read> {
  const path = join(folder, `${++files}.csv`);
  writeFileSync(path, csv);
  const found: Read & { chunks: number } = {
    texts: plan.texts.map(() => []),
    numbers: plan.numbers.map(() => []),
    surplus: [],
    chunks: 0,
  };
  let rows = 0;
  for await (const chunk of readChunks({ name: 'file.csv', path, header, format, types: [] }, plan)) {
    assert.equal(chunk.firstRow, rows + 1);
    rows += chunk.count;
    found.chunks++;
    for (const [index, column] of chunk.texts.entries())
      for (let row = 0; row < chunk.count; row++) found.texts[index]!.push(column.text(row));
    for (const [index, column] of chunk.numbers.entries()) {
      for (let row = 0; row < chunk.count; row++) found.numbers[index]!.push(column[row]!);
    }
    for (let row = 0; row < chunk.count; row++) found.surplus.push(chunk.surplus?.text(row) ?? null);
  }
  rmSync(path);
  return found;
}

/** Cells of a CSV by RFC 4180, the header left out. */
function parseCsv(csv: string): string[][] {
  const rows: string[][] = [[]];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < csv.length; at++) {
    const mark = csv[at]!;
    if (isQuoted && mark === '"' && csv[at + 1] === '"') cell += csv[at++];
    else if (mark === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (mark === ',' || mark === '\n')) {
      rows[rows.length - 1]!.push(cell);
      cell = '';
      if (mark === '\n') rows.push([]);
    } else if (isQuoted || mark !== '\r') cell += mark;
  }
  if (cell !== '' || rows[rows.length - 1]!.length > 0) rows[rows.length - 1]!.push(cell);
  else rows.pop();
  return rows.slice(1);
}

const header = ['first', 'price', 'unused', 'last'];

const graphic = fc.constantFrom(...Array.from('abcXYZ019 ,"é€😀ß中\t;\'|\\#'));
const wild = fc.oneof(
  fc.constantFrom(
    '',
    'AAPL',
    'MSFT',
    'ABCDEFGHIJKL',
    'ABCDEFGHIJKLM',
    '2025-03-03T09:30:00Z',
    'NULL',
    '"',
    ',,',
  ),
  fc.array(graphic, { maxLength: 30 }).map((marks) => marks.join('')),
  fc.array(graphic, { minLength: 300, maxLength: 400 }).map((marks) => marks.join('')),
  fc.constantFrom('one\ntwo', '\n', 'a "quoted"\nline, and more of it'),
);
const price = fc.oneof(
  fc.constantFrom('', '1', '0.1', '-5', '1e5', '431.2'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);

/** A CSV: cells of a small store, put together in a random order. */
const csvs = fc
  .record({
    texts: fc.array(wild, { minLength: 1, maxLength: 12 }),
    prices: fc.array(price, { minLength: 1, maxLength: 12 }),
    seed: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
    count: fc.oneof(
      { weight: 3, arbitrary: fc.integer({ min: 1, max: 60 }) },
      { weight: 1, arbitrary: fc.integer({ min: 5000, max: 5500 }) },
    ),
    newline: fc.constantFrom('\n', '\r\n'),
    endsOpen: fc.boolean(),
    quotesAll: fc.boolean(),
  })
  .map(({ texts, prices, seed, count, newline, endsOpen, quotesAll }) => {
    let state = seed;
    const pick = (from: readonly string[]): string => {
      state = Math.imul(state, 48_271) & 0x7fff_ffff || 1;
      return from[state % from.length]!;
    };
    const cellOf = (text: string): string => {
      const inFile = text.replaceAll('\n', newline);
      return quotesAll || /[",\r\n]/.test(inFile) || pick(['y', 'n', 'n']) === 'y'
        ? `"${inFile.replaceAll('"', '""')}"`
        : inFile;
    };
    const lines = [header.join()];
    for (let row = 0; row < count; row++)
      lines.push([pick(texts), pick(prices), pick(texts), `${pick(texts)}.`].map(cellOf).join());
    return lines.join(newline) + (endsOpen ? '' : newline);
  });

const emptyIsNull = (cells: readonly string[]): (string | null)[] =>
  cells.map((cell) => (cell === '' ? null : cell));

const columnOf = (rows: readonly string[][], column: number): string[] => rows.map((row) => row[column]!);

test('a random CSV read fast gives the cells that a plain parser gives, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(csvs, async (csv) => {
      const rows = parseCsv(csv);
      const found = await read(csv, header, { texts: ['last', 'first'], numbers: ['price'], careful: false });
      assert.deepEqual(found.texts, [columnOf(rows, 3), emptyIsNull(columnOf(rows, 0))]);
      assert.deepEqual(
        found.numbers[0],
        columnOf(rows, 1).map((cell) => (cell === '' ? Number.NaN : Number(cell))),
      );
    }),
    { numRuns: times(16) },
  );
});

test('a random CSV read carefully gives every cell as its text, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(csvs, async (csv) => {
      const rows = parseCsv(csv);
      const found = await read(csv, header, { texts: header, numbers: [], careful: true });
      for (const column of header.keys()) assert.deepEqual(found.texts[column], columnOf(rows, column));
      assert.ok(found.surplus.every((cell) => cell === null));
    }),
    { numRuns: times(16) },
  );
});

test('a large CSV with line breaks in cells comes in the order of its rows', async () => {
  const rows = Array.from({ length: 44_000 }, (_, row) => [
    `row ${row}`,
    String(row / 4),
    row % 7 === 0 ? `a break\nand ${'more text '.repeat(60)}` : 'x'.repeat(row % 240),
    `end of ${row}`,
  ]);
  const csv = [header, ...rows].map((row) => row.map((cell) => `"${cell}"`).join()).join('\n');
  assert.ok(csv.length > 8_000_000);
  const fast = await read(csv, header, { texts: ['first', 'last'], numbers: ['price'], careful: false });
  assert.deepEqual(fast.texts, [columnOf(rows, 0), columnOf(rows, 3)]);
  assert.deepEqual(fast.numbers[0], columnOf(rows, 1).map(Number));
  assert.ok(fast.chunks > 20);
  const careful = await read(csv, header, { texts: header, numbers: [], careful: true });
  assert.deepEqual(
    careful.texts,
    header.map((_, column) => columnOf(rows, column)),
  );
});

test('rows of very long texts come whole, and in their order', async () => {
  const rows = Array.from({ length: 12 }, (_, row) => [
    row % 3 === 0 ? '' : String.fromCharCode(97 + row).repeat(3_000_000),
    `${row}`,
    'é',
    'end',
  ]);
  const csv = [header, ...rows].map((row) => row.map((cell) => `"${cell}"`).join()).join('\n');
  const { texts, surplus } = await read(csv, header, { texts: header, numbers: [], careful: true });
  assert.deepEqual(
    texts,
    header.map((_, column) => columnOf(rows, column)),
  );
  assert.equal(surplus.length, rows.length);
});

test('a number read fast is the one that its text says by our own rules, or the file is read carefully', async () => {
  const odd = fc.oneof(
    fc.constantFrom(
      'nan',
      'NaN',
      '-nan',
      'inf',
      '-Infinity',
      '0x10',
      '1e400',
      '-1e400',
      '1e-400',
      '１',
      'true',
      '1f',
    ),
    fc
      .array(fc.constantFrom(...Array.from('0123456789+-.eE, xXdn')), { minLength: 1, maxLength: 6 })
      .map((marks) => marks.join('')),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(odd, { minLength: 1, maxLength: 2 }), async (cells) => {
      const csv = ['price,last', ...cells.map((cell) => `"${cell}",x`), ''].join('\n');
      const plan = { texts: ['last'], numbers: ['price'], careful: false };
      const found = await read(csv, ['price', 'last'], plan).catch((error: unknown) => {
        assert.ok(error instanceof NeedsCare, String(error));
        return null;
      });
      const check = new TextCheck();
      check.take(Buffer.from(csv));
      // What is infinite is refused as such, so that the file is read carefully.
      const isRefused =
        found === null ||
        check.digest('').mayHaveOddNumbers ||
        found.numbers[0]!.some((value) => Math.abs(value) === Infinity);
      if (!isRefused) assert.deepEqual(found.numbers[0], cells.map(numberOf));
    }),
    { numRuns: times(40), examples: [[['+-0', '1']], [['1_0']]] },
  );
});

test('rows with missing and surplus cells are read carefully, and differ from rows with empty cells', async () => {
  const csv = 'a,b,c\n1,2,3\n1,2\n1\n1,,\n1,2,3,4\n1,2,3,"4,5"\n1,2,3\n';
  const { texts, surplus } = await read(csv, ['a', 'b', 'c'], {
    texts: ['b', 'c'],
    numbers: [],
    careful: true,
  });
  assert.deepEqual(texts, [
    ['2', '2', null, '', '2', '2', '2'],
    ['3', null, null, '', '3', '3', '3'],
  ]);
  assert.deepEqual(surplus, [null, null, null, null, '4', '4,5', null]);
});

test('a missing or surplus cell ends a fast reading', async () => {
  for (const row of ['1,2', '1,2,3,4']) {
    const plan = { texts: ['a'], numbers: ['b', 'c'], careful: false };
    await assert.rejects(read(`a,b,c\n1,2,3\n${row}\n`, ['a', 'b', 'c'], plan), NeedsCare, row);
  }
});

const headers: readonly (readonly [what: string, names: readonly string[]])[] = [
  ['that differ by their letter case alone', ['close', 'Close', 'CLOSE']],
  ['of which one has no name', ['a', '', 'c']],
  ['with quotes and brackets in their names', ['it\'s "a"', "{'b'}", '[c] -- ;']],
  ['whose names are words of SQL', ['select', 'from', 'null']],
  ['whose names we might have used ourselves', ['surplus cells', 'column0', 'rowid']],
];

for (const [what, names] of headers) {
  test(`columns ${what} are read like any others`, async () => {
    const csv = `${names.map((name) => `"${name.replaceAll('"', '""')}"`).join()}\nx,1,y\nz,2,w\n`;
    const fast = await read(csv, names, { texts: [names[2]!], numbers: [names[1]!], careful: false });
    assert.deepEqual([fast.texts, fast.numbers], [[['y', 'w']], [[1, 2]]]);
    const careful = await read(csv, names, { texts: names, numbers: [], careful: true });
    assert.deepEqual(careful.texts, [
      ['x', 'z'],
      ['1', '2'],
      ['y', 'w'],
    ]);
  });
}

const broken: readonly (readonly [what: string, csv: string | Buffer, says: RegExp])[] = [
  [
    'text behind a closing quote',
    'a,b,c\n1,2,3\n"1"x,2,3\n',
    /line 3: a quote is not closed, or text follows/,
  ],
  [
    'bytes that are not UTF-8',
    Buffer.from('a,b,c\n1,2,3\n1,\xff\xfe,3\n', 'latin1'),
    /line 3: the text is not UTF-8/,
  ],
  [
    'a line without an end',
    `a,b,c\n1,2,${'3'.repeat(4_200_000)}\n`,
    /line 2: a row is longer than 4100000 bytes/,
  ],
];

for (const [what, csv, says] of broken) {
  test(`${what} ends both readings, the careful one with the place and the reason`, async () => {
    const columns = ['a', 'b', 'c'];
    await assert.rejects(
      read(csv, columns, { texts: ['a', 'b'], numbers: ['c'], careful: false }),
      NeedsCare,
    );
    await assert.rejects(read(csv, columns, { texts: columns, numbers: [], careful: true }), (error) => {
      assert.ok(error instanceof FileProblem, String(error));
      assert.equal(error.kind, 'content');
      assert.match(error.message, /^file\.csv: /);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });
  });
}

test('a reading that is given up early leaves nothing behind that fails later', async () => {
  const line = `${'some text '.repeat(10)},1.5,x,y\n`;
  const path = join(folder, 'large.csv');
  writeFileSync(path, `${header.join()}\n${line.repeat(40_000)}`);
  for (let round = 0; round < 8; round++) {
    const plan = { texts: ['first'], numbers: ['price'], careful: false };
    let left = round % 4;
    for await (const chunk of readChunks({ name: 'large.csv', path, header, format, types: [] }, plan)) {
      assert.ok(chunk.count > 0);
      if (left-- === 0) break;
    }
  }
});

test('a file that is gone needs care, and a careful reading says so', async () => {
  const path = join(folder, 'gone.csv');
  const file = { name: 'gone.csv', path, header, format, types: [] };
  const chunksOf = (careful: boolean) =>
    readChunks(file, { texts: ['first'], numbers: ['price'], careful }).next();
  await assert.rejects(chunksOf(false), NeedsCare);
  await assert.rejects(chunksOf(true), FileProblem);
});
