// Computed cells: the fast reading gives what the careful one does, or leaves the file to it (contract 11).
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { seed } from '../../../test/seed.ts';
import type { Chunk } from '../read/chunk.ts';
import { NeedsCare } from '../read/file-problem.ts';
import { readChunks } from '../read/read.ts';
import { holdReader } from '../read/reader-process.ts';
import { type ReadPlan, UNMADE } from '../read/scan.ts';
import { type Cell, derive } from './cell.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-cell-'));
const release = holdReader();
after(() => {
  release();
  rmSync(folder, { recursive: true });
});

const path = join(folder, 'a.csv');
const file = {
  name: 'a.csv',
  path,
  header: ['a', 'b'],
  format: { kind: 'csv', delimiter: ',' },
  types: [],
} as const;

/** A cell of the first row. The reading is ended, so that the next one has its database. */
async function cellOf<T>(plan: ReadPlan, cell: (chunk: Chunk) => T): Promise<T> {
  const cells: T[] = [];
  for await (const chunk of readChunks(file, plan)) cells.push(cell(chunk));
  assert.equal(cells.length, 1);
  return cells[0]!;
}

/** A cell that is computed. */
type Made = Exclude<Cell, string>;

/** The text that a careful reading of a cell gives. */
async function careful(cell: Made): Promise<string | null> {
  const derived = [derive('x', cell)];
  const plan = { texts: ['a', 'b', derived[0]!.name], numbers: [], careful: true, derived };
  return cellOf(plan, ({ texts }) => texts[2]!.text(0));
}

/** What a fast reading gives, `care` where it leaves it to the careful one. */
async function fast(cell: Made, isNumber: boolean): Promise<number | string | null> {
  const derived = [derive('x', cell)];
  const { name } = derived[0]!;
  const plan = { texts: isNumber ? [] : [name], numbers: isNumber ? [name] : [], careful: false, derived };
  try {
    return await cellOf(plan, ({ texts, numbers }) => (isNumber ? numbers[0]![0]! : texts[0]!.text(0)));
  } catch (error) {
    if (error instanceof NeedsCare) return 'care';
    throw error;
  }
}

const row = (a: string, b = '1'): void =>
  writeFileSync(path, `a,b\n"${a.replaceAll('"', '""')}","${b.replaceAll('"', '""')}"\n`);

const sound = ['1', '1.5', '+1.5', '-1.5', '.5', '5.', '1e3', '1.5E-3', ' 1.5 ', '007', '123456789012.345'];
// Of what DuckDB takes and is no number, an underscore and two signs are seen in the file as a whole.
const none = [
  'abc',
  '1,5',
  'nan',
  'inf',
  'Infinity',
  '0x10',
  '0b1',
  '1e',
  '.',
  '-',
  '--1',
  '1 000',
  '$1',
  '1%',
  '1f',
  'true',
  '１',
];

/** Cells that make a number, and the number by the oracle. */
const numeric: readonly (readonly [what: string, cell: Made, of: (number: number) => number])[] = [
  ['a scale', { column: 'a', scale: 0.01 }, (number) => number / 100],
  ['an expression', { sql: '#{a} * 2' }, (number) => number * 2],
];

for (const [what, cell, of] of numeric) {
  test(`a number with ${what} is the same fast and carefully; what is none is marked, and never read fast`, async () => {
    for (const text of sound) {
      row(text);
      const expected = of(Number(text));
      assert.equal(await fast(cell, true), expected, text);
      assert.equal(Number(await careful(cell)), expected, text);
    }
    for (const text of none) {
      row(text);
      const found = await fast(cell, true);
      assert.ok(found === 'care' || !Number.isFinite(found), text);
      const isMissing = 'column' in cell && (text === 'nan' || text === '-');
      assert.equal(await careful(cell), isMissing ? null : `${UNMADE}${text}`, text);
    }
    row('');
    assert.equal(await fast(cell, true), Number.NaN);
    assert.equal(await careful(cell), null);
    row('1_000');
    assert.equal(await careful(cell), `${UNMADE}1_000`);
  });
}

const texts: readonly (readonly [cell: Made, a: string, b: string, made: string | null])[] = [
  [{ column: 'a', lookup: { N: 'XNYS', "O'Q": 'XNAS' } }, 'N', '', 'XNYS'],
  [{ column: 'a', lookup: { N: 'XNYS', "O'Q": 'XNAS' } }, "O'Q", '', 'XNAS'],
  [{ column: 'a', lookup: { N: 'XNYS' } }, 'n', '', null],
  [{ column: 'a', remove: '\\.US$' }, 'A.US', '', 'A'],
  [{ column: 'a', join: 'b', format: '%Y%m%d %H%M' }, '20250203', '0930', '2025-02-03T09:30:00.000'],
  [{ column: 'a', join: 'b', format: '%Y%m%d %H%M' }, '20250203', 'x', null],
  [{ column: 'a', join: 'b', format: '%Y%m%d %H%M' }, '20250203', '', null],
  [{ column: 'a', join: 'b' }, '2025-02-03', '', '2025-02-03'],
  [{ column: 'a', join: 'b', remove: '[^a-z]' }, 'Fed Speech', '', 'edpeech'],
  [{ column: 'a', format: '%d.%m.%Y' }, '03.02.2025', '', '2025-02-03'],
  [{ column: 'a', format: '%d.%m.%Y' }, '20250203', '', null],
  [{ column: 'a', format: '%d.%m.%Y' }, '31.02.2025', '', null],
  [{ column: 'a', decimal: ',' }, '1,5', '', '1.5'],
  [{ column: 'a', decimal: ',' }, '1.234', '', null],
  [{ column: 'a', remove: '\\.', decimal: ',' }, '1.234,5', '', '1234.5'],
  [{ column: 'a', remove: '^\\$ ?' }, '$ 12.5', '', '12.5'],
  [{ column: 'a', scale: 1e-9 }, '254855000001', '', '254.855000001'],
  [{ column: 'a', scale: 0.25 }, '10', '', '2.5'],
  [{ column: 'a', scale: 1000 }, '1.5', '', '1500.0'],
  [{ column: 'a', format: '%Y%m%d %H%M %z' }, '20250203 0930 -0500', '', '2025-02-03T14:30:00.000Z'],
  [
    { column: 'a', format: '%Y-%m-%d %H:%M', offset: '-05:00' },
    '2025-07-03 09:30',
    '',
    '2025-07-03T09:30:00.000-05:00',
  ],
  [{ column: 'a', offset: '+01:00' }, '2025-02-03T15:30:00', '', '2025-02-03T15:30:00+01:00'],
  [{ column: 'a', epoch: 's' }, '1.738593E9', '', '2025-02-03T14:30:00.000000Z'],
  [{ column: 'a', epoch: 'us' }, '1738593000000000', '', '2025-02-03T14:30:00.000000Z'],
  [{ column: 'a', epoch: 'ns' }, '1738593000000000000', '', '2025-02-03T14:30:00.000000Z'],
  [{ column: 'a', epoch: 's' }, '0.5', '', '1970-01-01T00:00:00.500000Z'],
  [{ column: 'a', epoch: 's' }, 'soon', '', null],
  [{ column: 'a', scale: 'suffix' }, ' -$1.25M ', '', '-1250000.0'],
  [{ column: 'a', scale: 'suffix' }, '$-3', '', '-3.0'],
  [{ column: 'a', scale: 'suffix' }, '4.35k', '', '4350.0'],
  [{ column: 'a', scale: 'suffix' }, '0.3%', '', '0.3'],
  [{ column: 'a', scale: 'suffix' }, '215', '', '215.0'],
  [{ column: 'a', scale: 'suffix' }, '1.5X', '', null],
  [{ column: 'a', scale: 'suffix' }, '0-2-7', '', null],
  [{ column: 'a', scale: 'suffix' }, '-$-3', '', null],
  [{ column: 'a', scale: 'suffix', decimal: ',' }, '1,5 €', '', '1.5'],
  [{ column: 'a', scale: 'percent' }, '25.3 %', '', '0.253'],
  [{ column: 'a', scale: 'percent' }, '25.3', '', '0.253'],
  [{ column: 'a', scale: 'percent' }, '5K', '', null],
  [{ column: 'a', scale: 100 }, '4.35', '', '435.0'],
  [{ column: 'a', scale: 0.1 }, '1.1', '', '0.11'],
  [{ column: 'a', scale: 3 }, '1.1', '', '3.3'],
  [{ column: 'a', scale: 0.01 }, '1.5e3', '', '15.0'],
  [{ column: 'a', thousands: ' ' }, '1\u00a0234\u00a0567.5', '', '1234567.5'],
  [{ column: 'a', thousands: ' ', decimal: ',' }, '-1 000,5', '', '-1000.5'],
  [{ column: 'a', thousands: "'" }, '1’234.5', '', '1234.5'],
  [{ column: 'a', thousands: ',' }, '1,23,456.7', '', '123456.7'],
  [{ column: 'a', thousands: ' ', scale: 1 }, '10 00', '', null],
  [{ column: 'a', blanks: '_' }, ' Fed  Chair speaks ', '', 'Fed_Chair_speaks'],
  [{ column: 'a', remove: '[^A-Za-z0-9 ]', blanks: '_' }, 'CPI (m/m)', '', 'CPI_mm'],
  [{ column: 'a', value: 'stock' }, 'ACME', '', 'stock'],
  [{ column: 'a', default: 'USD' }, 'EUR', '', 'EUR'],
  [{ column: 'a', default: 'USD' }, 'N/A', '', 'USD'],
  [{ column: 'a', lookup: { '-': 'XNYS' } }, '-', '', 'XNYS'],
  [{ column: 'a', join: ['b', 'b'] }, '2025-02-03', '09', '2025-02-03 09 09'],
  [
    { column: 'a', format: '%a, %d %b %Y %H:%M:%S %Z' },
    'Mon, 03 Mar 2025 14:30:00 GMT',
    '',
    '2025-03-03T14:30:00.000Z',
  ],
  [
    { column: 'a', format: '%a, %d %b %Y %H:%M:%S %Z' },
    'Mon, 03 Mar 2025 14:30:00 +0100',
    '',
    '2025-03-03T13:30:00.000Z',
  ],
  [{ column: 'a', format: '%d %b %Y %H:%M %Z' }, '03 Mar 2025 14:30 EST', '', '2025-03-03T19:30:00.000Z'],
  [{ column: 'a', format: '%d %b %Y %H:%M %Z' }, '03 Mar 2025 14:30 CEST', '', null],
  [{ sql: "nullif({a}, '-')", isStrict: true }, '-', '', null],
  [{ sql: '{a} || {b}' }, 'x', 'y', 'xy'],
];

for (const [cell, a, b, made] of texts) {
  test(`${JSON.stringify(cell)} of ${a} and ${b} is ${made ?? 'marked, and left to a careful reading'}`, async () => {
    row(a, b);
    const shown = 'join' in cell && cell.join === 'b' ? `${a} ${b}`.trim() : a.trim();
    assert.equal(await careful(cell), made ?? `${UNMADE}${shown}`);
    assert.equal(await fast(cell, false), made ?? 'care');
    row('', 'join' in cell ? b : '');
    assert.equal(await careful(cell), 'default' in cell ? cell.default : null);
  });
}

test('a cell of which nothing is left is missing, fast and carefully', async () => {
  row('-');
  for (const cell of [
    { column: 'a', remove: '^-$' },
    { column: 'a', remove: '^-$', scale: 0.01 },
    { column: 'a', remove: '-', lookup: { N: 'XNYS' } },
  ]) {
    assert.equal(await careful(cell), null);
    assert.equal(await fast(cell, false), null);
  }
});

test('what two columns have in common breaks neither, where it cannot be made', async () => {
  const day = "strptime({a}, '%Y-%m-%d')";
  const cells: readonly Made[] = [
    { sql: `strftime(${day}, '%Y')`, isStrict: true },
    { sql: `strftime(${day}, '%m')`, isStrict: true },
    { column: 'a', format: '%Y-%m-%d' },
    { column: 'a', epoch: 's' },
    { column: 'a', scale: 0.01 },
    { column: 'a', scale: 0.1 },
  ];
  const derived = cells.map((cell, index) => derive(`x${index}`, cell));
  const names = derived.map(({ name }) => name);
  row('2025-13-03');
  for await (const { texts: read } of readChunks(file, { texts: names, numbers: [], careful: true, derived }))
    for (const [index, name] of names.entries())
      assert.equal(read[index]!.text(0), `${UNMADE}2025-13-03`, name);
});

test('a column that gives a number itself gives it to another one too', async () => {
  const derived = [derive('x', { sql: 'round(#{a} / nullif(#{b}, 0), 3)' })];
  const plan = { texts: [], numbers: ['b', derived[0]!.name], careful: false, derived };
  for (const [a, b, ratio] of [
    ['1', '3', 0.333],
    ['1', '0', Number.NaN],
  ] as const) {
    row(a, b);
    for await (const { numbers } of readChunks(file, plan))
      assert.deepEqual(
        numbers.map((column) => column[0]),
        [Number(b), ratio],
      );
  }
});

const FILLED_ROWS = 30_000;

test('blank cells have the value of the nearest row above, in chunk after chunk (contract 11)', async () => {
  let state = seed;
  const chance = (of: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state % of;
  };
  const rows = Array.from({ length: FILLED_ROWS }, (_, row) => [
    row > 5_000 && row < 15_000 ? '' : chance(4) > 0 ? ['', ' '][chance(2)]! : `d${row}`,
    chance(3) > 0 ? '' : String(row),
    chance(5) > 0 ? '' : `c${row}`,
  ]);
  writeFileSync(path, `a,b,c\n${rows.map((cells) => `${cells.join()}\n`).join('')}`);
  // The oracle: a loop over the rows.
  const above: (string | null)[] = [null, null];
  const expected = rows.map((cells) => {
    for (const place of [0, 1]) if (cells[place]!.trim() !== '') above[place] = cells[place]!;
    return [...above.map((text) => text ?? ''), cells[2]];
  });
  const derived = [derive('x', { column: 'a', join: 'b', fill: 'down' })];
  for (const careful of [true, false]) {
    const plan = { texts: ['a', 'b', 'c', derived[0]!.name], numbers: [], careful, derived };
    const found: string[][] = [];
    for await (const { count, texts: columns } of readChunks({ ...file, header: ['a', 'b', 'c'] }, plan))
      for (let row = 0; row < count; row++)
        found.push(columns.slice(0, 3).map((column) => (column.text(row) ?? '').trim()));
    assert.deepEqual(found, expected);
  }
});
