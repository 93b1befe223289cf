// Computed columns that a plain file gives without DuckDB, against what DuckDB computes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fc, times } from '../../../test/seed.ts';
import { plainRows } from '../read/plain-csv.ts';
import { readChunks } from '../read/read.ts';
import { holdReader } from '../read/reader-process.ts';
import { type Cell, derive } from './cell.ts';
import { lean } from './presets/lean.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-plain-cells-'));
const release = holdReader();
after(() => {
  release();
  rmSync(folder, { recursive: true, force: true });
});

type Fields = Readonly<Record<string, Cell>>;

/** The cells of computed columns, numbers first: as a plain file gives them, or as DuckDB computes them. */
async function madeOf(text: string, header: readonly string[], fields: Fields, by: 'rule' | 'DuckDB') {
  const path = join(folder, 'file.csv');
  writeFileSync(path, text);
  const format = { kind: 'csv', delimiter: ',', headerLines: 0 } as const;
  const ruled = Object.entries(fields).map(([field, cell]) => derive(field, cell as Exclude<Cell, string>));
  const isNumber = ({ plain }: (typeof derived)[number]): boolean => plain?.kind === 'number';
  const numbers = ruled.filter(isNumber).map(({ name }) => name);
  const texts = ['time', ...ruled.filter((one) => !isNumber(one)).map(({ name }) => name)];
  // Without their rules, only SQL computes the columns.
  const derived = by === 'rule' ? ruled : ruled.map((column) => ({ ...column, plain: undefined }));
  const plan = { texts, numbers, careful: false, derived };
  const rows: unknown[][] = [];
  const file = { name: path, path, format, header, types: [] };
  assert.equal(plainRows(file, plan).next().done, by === 'DuckDB');
  for await (const chunk of readChunks(file, plan))
    for (let row = 0; row < chunk.count; row++)
      rows.push([
        ...chunk.numbers.map((column) => column[row]),
        ...chunk.texts.map((column) => column.text(row)),
      ]);
  return rows;
}

const number = fc.oneof(
  fc.tuple(fc.nat(), fc.nat({ max: 99_999 })).map(([whole, part]) => `${whole}.${part}`),
  fc.nat().map(String),
  fc.constantFrom('', '0', '-12.5', '123456789012345', '0.000001', '4.35', '1.1', '0.07'),
);

/** The double nearest to a number times a factor, both in digits. */
function product(text: string, scale: string): number {
  if (text === '') return Number.NaN;
  const [[, whole = '', part = ''] = [], [, factor = '', less = ''] = []] = [text, scale].map(
    (one) => /^(-?\d+)(?:\.(\d+))?$/.exec(one) ?? [],
  );
  return Number(`${BigInt(whole + part) * BigInt(factor + less)}e-${part.length + less.length}`);
}

test('a number times a power of ten is the double nearest to the product, by its rule and by DuckDB', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 20 }),
      fc.constantFrom('0.0001', '0.01', '1', '100', '1000000'),
      fc.constantFrom('0.001', '0.000000001', '10'),
      async (rows, first, second) => {
        const header = ['time', 'one', 'other'];
        const text = rows.map((cells) => `t,${cells.join()}\n`).join('');
        const fields = {
          first: { column: 'one', scale: Number(first) },
          second: { column: 'other', scale: Number(second) },
        };
        const expected = rows.map(([one, other]) => [product(one, first), product(other, second), 't']);
        assert.deepEqual(await madeOf(text, header, fields, 'rule'), expected);
        assert.deepEqual(await madeOf(text, header, fields, 'DuckDB'), expected);
      },
    ),
    { numRuns: times(30) },
  ));

type Form = readonly [
  what: string,
  cell: object,
  of: (whole: string, part: string) => readonly [string, number],
];

/** Numbers as files write them, with the map of their column, and the double that each stands for. */
const forms: readonly Form[] = [
  ['a plain number', { scale: 0.3 }, (a, b) => [`${a}.${b}`, product(`${a}.${b}`, '0.3')]],
  ['a plain number', { scale: 7 }, (a, b) => [`${a}.${b}`, product(`${a}.${b}`, '7')]],
  ['thousands', { scale: 'suffix' }, (a, b) => [`${a}.${b}K`, Number(`${a}.${b}e3`)]],
  ['millions of dollars', { scale: 'suffix' }, (a, b) => [`-$${a}.${b} M`, Number(`-${a}.${b}e6`)]],
  ['percents', { scale: 'percent' }, (a, b) => [`${a}.${b}%`, Number(`${a}.${b}e-2`)]],
  [
    'spaces',
    { thousands: ' ', decimal: ',', scale: 1 },
    (a, b) => [`${grouped(a, ' ')},${b}`, Number(`${a}.${b}`)],
  ],
  [
    'narrow spaces',
    { thousands: ' ', scale: 1 },
    (a, b) => [`${grouped(a, '\u202f')}.${b}`, Number(`${a}.${b}`)],
  ],
  ['apostrophes', { thousands: "'", scale: 1 }, (a, b) => [`${grouped(a, "'")}.${b}`, Number(`${a}.${b}`)]],
  [
    'commas',
    { thousands: ',', scale: 'suffix' },
    (a, b) => [`€${grouped(a, ',')}.${b}b`, Number(`${a}.${b}e9`)],
  ],
];

const grouped = (whole: string, mark: string): string => whole.replace(/(?=(\d{3})+$)(?!^)/g, mark);

for (const [what, cell, of] of forms) {
  test(`${what} by ${JSON.stringify(cell)} are the double nearest to what it says, fast and carefully`, () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 99_999_999 }), fc.nat({ max: 999_999 })), {
          minLength: 1,
          maxLength: 20,
        }),
        async (rows) => {
          const made = rows.map(([whole, part]) => of(String(whole), String(part)));
          const path = join(folder, 'forms.csv');
          writeFileSync(path, made.map(([text]) => `"${text}","t"\n`).join(''));
          const format = { kind: 'csv', delimiter: ',', headerLines: 0 } as const;
          const derived = [derive('x', { column: 'a', ...cell })];
          const about = { name: path, path, format, header: ['a', 'b'], types: [] };
          for (const careful of [false, true]) {
            const names = [derived[0]!.name];
            const plan = { texts: careful ? names : [], numbers: careful ? [] : names, careful, derived };
            const found: number[] = [];
            for await (const { count, texts, numbers } of readChunks(about, plan))
              for (let row = 0; row < count; row++)
                found.push(careful ? Number(texts[0]!.text(row)) : numbers[0]![row]!);
            assert.deepEqual(
              found,
              made.map(([, value]) => value),
            );
          }
        },
      ),
      { numRuns: times(10) },
    ));
}

test("the times and prices of LEAN's files of minutes are those that DuckDB gives", () =>
  fc.assert(
    fc.asyncProperty(
      fc.date({ min: new Date('1998-01-02'), max: new Date('2199-12-30'), noInvalidDate: true }),
      fc.array(fc.tuple(fc.nat({ max: 99_999_999 }), fc.nat({ max: 20_000_000 })), {
        minLength: 1,
        maxLength: 20,
      }),
      async (date, rows) => {
        const day = date.toISOString().slice(0, 10).replaceAll('-', '');
        const text = rows.map(([ms, price]) => `${[ms, price, price, price, price, 100].join()}\n`).join('');
        const { header, columns } = lean.mappingOf({
          name: `equity/usa/minute/spy/${day}_trade.zip/${day}_spy_minute_trade.csv`,
          text,
          isCut: false,
        });
        const fields = Object.fromEntries(Object.entries(columns).filter(([field]) => field !== 'volume'));
        assert.deepEqual(
          await madeOf(text, header!, fields, 'rule'),
          await madeOf(text, header!, fields, 'DuckDB'),
        );
      },
    ),
    { numRuns: times(20) },
  ));
