// Cells of Parquet that are read as numbers, against what their texts say: a careful reading has nothing but
// the texts.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import duckdb from '@duckdb/node-bindings';
import { fc, times } from '../../../test/seed.ts';
import { numberOf } from '../../base/decimal.ts';
import { open } from '../read/duckdb.ts';
import { NeedsCare } from '../read/file-problem.ts';
import { readChunks } from '../read/read.ts';
import { holdReader } from '../read/reader-process.ts';
import { parquetMoment, parquetNumber } from '../read/scan.ts';
import { InstantCell } from './instant-cell.ts';

const folder = mkdtempSync(join(tmpdir(), 'bourse-parquet-'));
const release = holdReader();
after(() => {
  release();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Writes a column of a type, of SQL literals, to a file, and reads it: its texts, and its numbers, null where
 * they need care.
 */
async function bothOf(type: string, literals: readonly string[]) {
  const path = join(folder, 'file.parquet');
  const { connection, close } = await open();
  try {
    const rows = literals.map((literal) => `(cast(${literal} as ${type}))`).join();
    await duckdb.query(
      connection,
      `copy (select * from (values ${rows}) t(a)) to '${path}' (format parquet)`,
    );
  } finally {
    close();
  }
  const file = { name: path, path, format: { kind: 'parquet' }, header: ['a'], types: [type] } as const;
  const texts: (string | null)[] = [];
  for await (const chunk of readChunks(file, { texts: ['a'], numbers: [], careful: true }))
    for (let row = 0; row < chunk.count; row++) texts.push(chunk.texts[0]!.text(row));
  const numbers: number[] = [];
  try {
    for await (const chunk of readChunks(file, { texts: [], numbers: ['a'], careful: false }))
      numbers.push(...chunk.numbers[0]!);
  } catch (error) {
    if (!(error instanceof NeedsCare)) throw error;
    return { texts, numbers: null };
  }
  return { texts, numbers };
}

const whole = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => `'${value}'`);
const numberTypes: Readonly<Record<string, fc.Arbitrary<string>>> = {
  DOUBLE: fc.oneof(double, fc.constantFrom("'nan'", "'-0.0'", "'0.1'", 'null')),
  FLOAT: fc.oneof(
    fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => `'${value}'`),
    fc.constantFrom("'0.1'", "'nan'", 'null'),
  ),
  BIGINT: fc.oneof(whole.map(String), fc.constant('null')),
  INTEGER: fc.integer().map(String),
  UBIGINT: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  HUGEINT: fc.bigInt({ min: -(2n ** 100n), max: 2n ** 100n }).map(String),
  'DECIMAL(15,4)': fc.oneof(
    fc.integer({ min: -1e9, max: 1e9 }).map((cents) => `'${cents / 10_000}'`),
    fc.tuple(fc.nat(2 ** 31 - 1), fc.nat(9_999)).map(([integer, part]) => `'${integer}.${part}'`),
    fc.bigInt({ min: 0n, max: 10n ** 11n - 1n }).map((integer) => `'-${integer}.4999'`),
  ),
  'DECIMAL(9,9)': fc.nat(999_999_999).map((value) => `'0.${String(value).padStart(9, '0')}'`),
  'DECIMAL(38,10)': fc
    .tuple(fc.bigInt({ min: 0n, max: 10n ** 27n }), fc.nat(2 ** 31 - 1))
    .map(([integer, part]) => `'${integer}.${String(part).padStart(10, '0')}'`),
};

test('a number of Parquet is the double that its text gives, of every type of numbers', async () => {
  for (const [type, literal] of Object.entries(numberTypes)) {
    assert.notEqual(parquetNumber('a', type), null, type);
    await fc.assert(
      fc.asyncProperty(fc.array(literal, { minLength: 100, maxLength: 150 }), async (literals) => {
        const { texts, numbers } = await bothOf(type, literals);
        assert.deepEqual(numbers, texts.map(numberOf), type);
      }),
      { numRuns: times(2) },
    );
  }
});

test('a type that is none of numbers is read as text', () => {
  for (const type of ['VARCHAR', 'BOOLEAN', 'BLOB', 'TIME', 'DOUBLE[]'])
    assert.equal(parquetNumber('a', type), null);
});

const timeTypes = ['TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMP WITH TIME ZONE', 'DATE'];

test('a moment of Parquet is what its text says, of every type of dates and times', async () => {
  const encoder = new TextEncoder();
  const cell = new InstantCell();
  for (const type of timeTypes) {
    const moment = fc.oneof(
      fc.date({ min: new Date('1900-01-01'), max: new Date('2199-12-31'), noInvalidDate: true }),
      fc.constant(new Date('1969-12-31T23:59:59.999Z')),
    );
    const literal = fc.tuple(moment, fc.boolean()).map(([date, isMinute]) => {
      const text = date.toISOString();
      return `'${isMinute ? `${text.slice(0, 16)}:00` : text.slice(0, -1)}'`;
    });
    await fc.assert(
      fc.asyncProperty(fc.array(literal, { minLength: 50, maxLength: 200 }), async (literals) => {
        const { texts, numbers } = await bothOf(type, literals);
        for (const [row, text] of texts.entries()) {
          const bytes = encoder.encode(text!);
          cell.read(bytes, 0, bytes.length);
          assert.deepEqual([type, parquetMoment(type), numbers![row]], [type, cell.kind, cell.ms]);
        }
      }),
      { numRuns: times(2) },
    );
  }
});

test('a part of a microsecond needs care, and an infinite date is missing', async () => {
  assert.equal((await bothOf('TIMESTAMP_NS', ["'2025-03-03 14:30:00.000000001'"])).numbers, null);
  const { numbers } = await bothOf('TIMESTAMP', ["'infinity'", "'-infinity'"]);
  assert.deepEqual(numbers, [Number.NaN, Number.NaN]);
});

test('a null of any type is a missing number', async () => {
  for (const type of [...Object.keys(numberTypes), ...timeTypes])
    assert.deepEqual((await bothOf(type, ['null', 'null'])).numbers, [Number.NaN, Number.NaN], type);
});
