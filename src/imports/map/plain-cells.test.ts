// Computed columns that a plain file gives without DuckDB, against what DuckDB computes.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fc } from '../../../test/seed.ts';
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
  fc.constantFrom('', '0', '-12.5', '1234567890123456789', '0.000001'),
);

test('a number times a factor is the double that DuckDB gives', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(number, number), { minLength: 1, maxLength: 20 }),
      fc.constantFrom(0.0001, 0.01, 0.3, 1, 100, 1.1, 1e-9),
      fc.constantFrom(0.001, 7),
      async (rows, first, second) => {
        const header = ['time', 'one', 'other'];
        const text = rows.map((cells) => `t,${cells.join()}\n`).join('');
        const fields = { first: { column: 'one', scale: first }, second: { column: 'other', scale: second } };
        const [plain, computed] = [
          await madeOf(text, header, fields, 'rule'),
          await madeOf(text, header, fields, 'DuckDB'),
        ];
        assert.deepEqual(plain, computed);
      },
    ),
    { numRuns: 30 },
  ));

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
    { numRuns: 20 },
  ));
