// The reading of plain CSV files, against DuckDB's reading of the same rows.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fc, times } from '../../../test/seed.ts';
import { NeedsCare } from './file-problem.ts';
import { plainRows } from './plain-csv.ts';
import { readChunks } from './read.ts';
import { holdReader } from './reader-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-plain-'));
const release = holdReader();
after(() => {
  release();
  rmSync(folder, { recursive: true, force: true });
});

const header = ['at', 'name', 'price', 'size'];
const plan = { texts: ['name', 'at'], numbers: ['size', 'price'], careful: false };
type Csv = { readonly delimiter: string; readonly headerLines: number };

/** Every row that a fast reading gives, its cells as they are compared; null where it needs care. */
async function rowsOf(text: string, csv: Csv, from: 'memory' | 'disk'): Promise<unknown[][] | null> {
  const path = join(folder, 'file.csv');
  writeFileSync(path, text);
  const format = { kind: 'csv', ...csv } as const;
  const content = from === 'memory' ? { content: Buffer.from(text) } : {};
  const rows: unknown[][] = [];
  try {
    for await (const chunk of readChunks({ name: path, path, format, header, types: [], ...content }, plan)) {
      assert.equal(chunk.firstRow, rows.length + 1);
      for (const column of chunk.texts) column.gather();
      for (let row = 0; row < chunk.count; row++) {
        const texts = chunk.texts.map((column) => {
          const bytes = column.bytes.subarray(column.starts[row], column.ends[row]);
          const found = column.text(row);
          assert.equal(Buffer.from(bytes).toString(), found ?? '');
          if (column.repeats(row)) assert.equal(column.text(row - 1), found);
          return found;
        });
        rows.push([...texts, ...chunk.numbers.map((column) => column[row])]);
      }
    }
    return rows;
  } catch (error) {
    if (error instanceof NeedsCare) return null;
    throw error;
  }
}

/** The same by DuckDB: a header line with quotes leaves all rows to it. */
function rowsByDuckDb(text: string, { delimiter, headerLines }: Csv): Promise<unknown[][] | null> {
  const lineEnd = text.indexOf('\n');
  const end = text[lineEnd - 1] === '\r' ? '\r\n' : '\n';
  const rows = headerLines === 0 ? text : lineEnd < 0 ? '' : text.slice(lineEnd + 1);
  const quoted = header.map((name) => `"${name}"`).join(delimiter);
  return rowsOf(quoted + end + rows, { delimiter, headerLines: 1 }, 'disk');
}

/** How many rows of a text are read without DuckDB, and whether these are all. */
function plainPart(text: string, csv: Csv): { readonly rows: number; readonly isWhole: boolean } {
  const file = { path: '', content: Buffer.from(text), format: { kind: 'csv', ...csv } as const, header };
  const parts = plainRows(file, plan);
  let rows = 0;
  for (let next = parts.next(); ; next = parts.next()) {
    if (next.done === true) return { rows, isWhole: next.value };
    rows += next.value.count;
  }
}

const isPlain = (text: string, csv: Csv): boolean => plainPart(text, csv).isWhole;

/** Mostly cells of the first kind: one of the others is enough for a whole file. */
const mostly = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 60 }, { arbitrary: odd, weight: 1 });

const number = mostly(
  fc.oneof(
    fc.tuple(fc.integer(), fc.nat({ max: 999_999 })).map(([whole, part]) => `${whole}.${part}`),
    fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 20 }).map((digits) => digits.join('')),
    fc.double({ min: 1e-6, max: 1e20, noNaN: true }).map((value) => value.toFixed(12)),
    fc.constantFrom('', '-0', '0', '00.50', '9007199254740993', '0.1', '123456789012345.6'),
  ),
  fc.constantFrom('1e5', '.5', '5.', '-', '+1', ' 1', 'nan', 'x', '1_0', '-.', '1.2.3'),
);
const word = mostly(
  fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'B', ' ', '-', '.', '1', ':'), maxLength: 14 }),
    fc.constantFrom('', '2025-03-03T14:30:00Z', 'a long name, which fits no cell'),
  ),
  fc.constantFrom('"q"', 'a"b', 'é'),
);
const csvArbitrary = fc.record({
  rows: fc.array(fc.tuple(word, word, number, number), { maxLength: 6 }),
  delimiter: fc.constantFrom(',', ';', '\t'),
  headerLines: fc.constantFrom(0, 1),
  end: fc.constantFrom('\n', '\r\n'),
  last: mostly(fc.constantFrom('', '\n', '\r\n'), fc.constantFrom('\n\n', ',')),
});

test('a file gives the rows that DuckDB reads from it, however many of them are plain', async () => {
  const seen = { whole: 0, partly: 0 };
  await fc.assert(
    fc.asyncProperty(csvArbitrary, async ({ rows, delimiter, headerLines, end, last }) => {
      const lines = [...(headerLines === 1 ? [header] : []), ...rows].map((cells) => cells.join(delimiter));
      const text = lines.join(end) + (lines.length === 0 ? '' : last);
      const csv = { delimiter, headerLines };
      const part = plainPart(text, csv);
      if (part.isWhole) seen.whole++;
      else if (part.rows > 0) seen.partly++;
      const expected = await rowsByDuckDb(text, csv);
      assert.deepEqual(await rowsOf(text, csv, 'memory'), expected);
      assert.deepEqual(await rowsOf(text, csv, 'disk'), expected);
    }),
    { numRuns: times(60) },
  );
  assert.ok(seen.whole > times(10) / 2 && seen.partly > times(2) / 2, JSON.stringify(seen));
});

test('a large file gives the rows that DuckDB reads from it, also where some late ones are not plain', async () => {
  const odd = ['', '"x",A,1,1\n', 'x,"a""b",1e3,.5\n\nx,,,\n'];
  for (const [end, late] of [
    ['\n', odd[0]],
    ['\n', odd[1]],
    ['\r\n', odd[0]],
    ['\r\n', odd[2]],
  ] as const) {
    const usual = Array.from(
      { length: 16_000 },
      (_, row) => `2025-03-03T14:${row % 60}:00Z,N${row % 700},${row / 100},${row % 7 === 0 ? '' : row}`,
    ).join(end);
    // Longer than a piece of the file, so that the late rows are in another one than the first.
    assert.ok(usual.length > 512 * 1024);
    const text = `${header.join()}${end}${usual}${end}${late!.replaceAll('\n', end)}${usual}`;
    const csv = { delimiter: ',', headerLines: 1 };
    const expected = await rowsByDuckDb(text, csv);
    assert.ok(expected!.length >= 32_000);
    assert.deepEqual(await rowsOf(text, csv, 'disk'), expected);
  }
});

test('a line that is longer than a piece of the file is left to DuckDB', async () => {
  const text = `${header.join()}\nx,A,1,1\n${'y'.repeat(600_000)},A,1,1\nz,A,1,1\n`;
  const csv = { delimiter: ',', headerLines: 1 };
  assert.deepEqual(await rowsOf(text, csv, 'disk'), await rowsByDuckDb(text, csv));
});

test('plain files are those of usual vendors, with any line end and empty cells', () => {
  const csv = { delimiter: ',', headerLines: 1 };
  const head = header.join();
  for (const text of [
    `${head}\n2025-03-03,A,1.5,100\n2025-03-04,A,1.25,\n`,
    `${head}\r\n2025-03-03,A,1.5,100\r\n2025-03-04,,-1,0`,
    `${head}\n`,
    head,
  ])
    assert.ok(isPlain(text, csv), JSON.stringify(text));
  assert.ok(isPlain('1,A,1.5,100', { delimiter: ',', headerLines: 0 }));
});

for (const [what, text] of [
  ['a quote', 'x,"A",1,1\n'],
  ['a character beyond ASCII', 'x,Ä,1,1\n'],
  ['a byte 0', 'x,\0,1,1\n'],
  ['a missing cell', 'x,A,1\n'],
  ['a surplus cell', 'x,A,1,1,1\n'],
  ['an empty line', 'x,A,1,1\n\nx,A,1,1\n'],
  ['line ends of two kinds', 'x,A,1,1\r\nx,A,1,1\n'],
  ['a line end of CR alone', 'x,A,1,1\rx,A,1,1\n'],
  ['a text in place of a number', 'x,A,1,none\n'],
  ['a number with an exponent', 'x,A,1e3,1\n'],
] as const)
  test(`a file with ${what} is left to DuckDB`, () => {
    assert.equal(isPlain(text, { delimiter: ',', headerLines: 0 }), false);
  });
