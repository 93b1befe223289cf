// Bars as JSON and CSV: the same records, digit for digit (contract 3.12, 5.1).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/seed.ts';
import { plainDecimal } from '../../base/decimal.ts';
import { DAY_MS, dayOf, formatDay, formatInstant } from '../../base/instant.ts';
import { type BarField, barRecord } from '../../contract/bars.ts';
import { fieldsOf } from '../../contract/endpoint.ts';
import { emptyBars, valueColumns } from '../../market/bars/columns.ts';
import type { TimedBars } from '../../market/bars/grid.ts';
import { allocateFresh } from '../query.ts';
import {
  type BarConstants,
  formOf,
  plainForm,
  type RowForm,
  writeCsvHeader,
  writeCsvRows,
  writeJsonRows,
} from './bar-records.ts';
import { csvCell, Sink } from './sink.ts';

type Row = { openMs: number; closeMs: number; day: number } & Record<(typeof valueColumns)[number], number>;

const price = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0),
  fc.tuple(fc.integer(), fc.nat(8)).map(([units, decimals]) => units / 10 ** decimals),
);
const orNull = fc.option(price, { nil: Number.NaN });
const second = fc.integer({ min: dayOf(1900, 1, 1) * 86_400, max: dayOf(2200, 12, 31) * 86_400 });
const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.record({
    openMs: second.map((value) => value * 1000),
    closeMs: second.map((value) => value * 1000),
    day: fc.integer({ min: dayOf(1900, 1, 1), max: dayOf(2200, 12, 31) }),
    open: price,
    high: price,
    low: price,
    close: price,
    volume: orNull,
    vwap: orNull,
  }),
  { maxLength: 30 },
);
const constants: fc.Arbitrary<BarConstants> = fc.record({
  asset_schema: fc.constantFrom('STOCK', 'FOREX'),
  interval: fc.constantFrom('1M', 'DAY'),
  country_iso_code: fc.constant('US'),
  exchange: fc.option(fc.string({ unit: 'grapheme' })),
  symbol: fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1 }),
    fc.constantFrom('A"B', 'A,B', 'A\r\nB', ' A '),
  ),
});

function timedOf(all: readonly Row[]): TimedBars {
  const bars = emptyBars(all.length + 2);
  bars.count = all.length;
  const timed = {
    bars,
    openMs: new Float64Array(all.length),
    closeMs: new Float64Array(all.length),
    day: new Int32Array(all.length),
  };
  for (const [at, row] of all.entries()) {
    for (const column of valueColumns) bars[column][at] = row[column];
    timed.openMs[at] = row.openMs;
    timed.closeMs[at] = row.closeMs;
    timed.day[at] = row.day;
  }
  return timed;
}

const nullable = (value: number): number | null => (Number.isNaN(value) ? null : value + 0);

function recordOf(row: Row, fixed: BarConstants, withSessionDate: boolean): Record<string, unknown> {
  return {
    ...fixed,
    datetime: formatInstant(row.openMs),
    close_datetime: formatInstant(row.closeMs),
    ...(withSessionDate ? { session_date: formatDay(row.day) } : {}),
    ...Object.fromEntries(valueColumns.map((column) => [column, nullable(row[column])])),
  };
}

const sink = new Sink();
function written(write: (to: Sink) => void): string {
  sink.start();
  write(sink);
  return Buffer.from(sink.take(allocateFresh)).toString();
}

/** A whole CSV. */
function writeCsv(to: Sink, timed: TimedBars, fixed: BarConstants, form: RowForm): void {
  writeCsvHeader(to, form);
  writeCsvRows(to, timed, fixed, form);
}

/** The cells of a CSV text by RFC 4180; a quoted cell keeps its quotes, to be told from a bare one. */
function cellsOf(csv: string): string[][] {
  const table: string[][] = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/y;
  while (cell.lastIndex < csv.length) {
    const match = cell.exec(csv);
    assert.ok(match !== null, 'the text is not CSV');
    table.at(-1)!.push(match[1]!);
    if (match[2] === '\r\n') table.push([]);
  }
  assert.deepEqual(table.pop(), [], 'the last line ends in CRLF');
  return table;
}

test('JSON rows parse to the records, fields in the order of the contract (contract 3.12)', () => {
  fc.assert(
    fc.property(rows, constants, fc.boolean(), (all, fixed, withSessionDate) => {
      const text = written((to) => writeJsonRows(to, timedOf(all), fixed, plainForm(withSessionDate)));
      const records = all.map((row) => recordOf(row, fixed, withSessionDate));
      assert.deepEqual(JSON.parse(`[${text}]`), records);
      const order = fieldsOf(barRecord).filter((field) => withSessionDate || field !== 'session_date');
      for (const record of JSON.parse(`[${text}]`)) assert.deepEqual(Object.keys(record), order);
    }),
    { numRuns: 150 },
  );
});

/** Numbers of many scales. */
const scaled = fc.oneof(
  price,
  ...[1e4, 1e7, 2 ** 32, 1e15].map((most) =>
    fc
      .tuple(fc.integer({ min: -most, max: most }), fc.nat(12))
      .map(([units, decimals]) => units / 10 ** decimals + 0),
  ),
);
const scaledRows = fc.integer({ min: 0, max: 60 }).chain((count) =>
  fc.array(
    fc.record({
      openMs: second.map((value) => value * 1000),
      closeMs: second.map((value) => value * 1000),
      day: fc.integer({ min: dayOf(1900, 1, 1), max: dayOf(2200, 12, 31) }),
      ...{ open: scaled, high: scaled, low: scaled, close: scaled },
      ...{ volume: fc.option(scaled, { nil: Number.NaN }), vwap: fc.option(scaled, { nil: Number.NaN }) },
    }),
    { minLength: count, maxLength: count },
  ),
);

test('JSON rows are the bytes of JSON.stringify, numbers without exponents (contract 3.12)', () => {
  fc.assert(
    fc.property(scaledRows, constants, fc.boolean(), (all, fixed, withSessionDate) => {
      const text = written((to) => writeJsonRows(to, timedOf(all), fixed, plainForm(withSessionDate)));
      const expected = all.map((row) => {
        const record = Object.entries(recordOf(row, fixed, withSessionDate)).map(([name, value]) => {
          const json = typeof value === 'number' ? plainDecimal(value) : JSON.stringify(value);
          return `${JSON.stringify(name)}:${json}`;
        });
        return `{${record.join()}}`;
      });
      assert.equal(text, expected.join());
    }),
    { numRuns: 400 },
  );
});

test('CSV has the fields as header and the same texts as JSON in its cells (contract 5.1)', () => {
  fc.assert(
    fc.property(rows, constants, fc.boolean(), (all, fixed, withSessionDate) => {
      const timed = timedOf(all);
      const [header, ...table] = cellsOf(
        written((to) => writeCsv(to, timed, fixed, plainForm(withSessionDate))),
      );
      const order = fieldsOf(barRecord).filter((field) => withSessionDate || field !== 'session_date');
      assert.deepEqual(header, order);
      assert.equal(table.length, all.length);
      for (const [at, row] of all.entries()) {
        const one = timedOf([row]);
        const json = written((to) => writeJsonRows(to, one, fixed, plainForm(withSessionDate)));
        const record = JSON.parse(json) as Record<string, string | number | null>;
        for (const [place, field] of order.entries()) {
          const cell = table[at]![place]!;
          const value = record[field]!;
          if (value === null) assert.equal(cell, '');
          else if (typeof value === 'number')
            assert.ok(json.includes(`"${field}":${cell}`), `${field} ${cell}`);
          else assert.equal(cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell, value);
        }
      }
    }),
    { numRuns: 100 },
  );
});

test('a CSV without rows is its header (contract 5.1)', () => {
  const fixed = {
    asset_schema: 'STOCK',
    interval: '1M',
    country_iso_code: 'US',
    exchange: null,
    symbol: 'A',
  };
  assert.equal(
    written((to) => writeCsv(to, timedOf([]), fixed, plainForm(false))),
    'asset_schema,interval,country_iso_code,exchange,symbol,datetime,close_datetime,open,high,low,close,volume,vwap\r\n',
  );
});

test('a bar in CSV, with volume, without exchange and vwap (contract 5.1)', () => {
  const fixed = {
    asset_schema: 'STOCK',
    interval: '1M',
    country_iso_code: 'US',
    exchange: null,
    symbol: 'A',
  };
  const openMs = Date.parse('2025-03-03T14:30:00Z');
  const row = {
    openMs,
    closeMs: openMs + 60_000,
    day: openMs / DAY_MS,
    open: 1.5,
    high: 2,
    low: 1,
    close: 1.75,
  };
  const csv = written((to) =>
    writeCsv(
      to,
      timedOf([{ ...row, day: Math.floor(row.day), volume: 1e-7, vwap: Number.NaN }]),
      fixed,
      plainForm(true),
    ),
  );
  assert.equal(
    csv.split('\r\n')[1],
    'STOCK,1M,US,,A,2025-03-03T14:30:00+00:00,2025-03-03T14:31:00+00:00,2025-03-03,1.5,2,1,1.75,0.0000001,',
  );
});

/** An instant as a form has it. */
function instantIn(ms: number, { timestamps, zone }: RowForm): string | number {
  if (timestamps !== 'iso') return timestamps === 'unix' ? ms / 1000 : ms;
  const minutes = zone === null ? 0 : Math.round(zone.offsetAt(ms) / 60_000);
  const [sign, size] = [minutes < 0 ? '-' : '+', Math.abs(minutes)];
  const offset = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0')).join(':');
  return `${formatInstant(ms + minutes * 60_000).slice(0, 19)}${sign}${offset}`;
}

const anyForm = fc
  .record({
    session_date: fc.boolean(),
    columns: fc.option(fc.shuffledSubarray(fieldsOf(barRecord) as BarField[], { minLength: 1 }), {
      nil: undefined,
    }),
    timestamps: fc.constantFrom('iso' as const, 'unix' as const, 'unix_ms' as const, undefined),
    tz: fc.constantFrom('America/New_York', 'Asia/Kathmandu', 'Africa/Monrovia', undefined),
  })
  .map((asked) => (asked.timestamps?.startsWith('unix') ? { ...asked, tz: undefined } : asked));

test('rows have the columns that were asked for in their order, and instants in their form, in JSON and CSV (contract 9.16)', () => {
  fc.assert(
    fc.property(rows, constants, anyForm, (all, fixed, asked) => {
      const form = formOf(asked);
      const timed = timedOf(all);
      const names =
        asked.columns ??
        fieldsOf(barRecord).filter((field) => asked.session_date || field !== 'session_date');
      const records = all.map((row) => {
        const record: Record<string, unknown> = {
          ...recordOf(row, fixed, true),
          datetime: instantIn(row.openMs, form),
          close_datetime: instantIn(row.closeMs, form),
        };
        return Object.fromEntries(names.map((name) => [name, record[name]]));
      });
      const text = `[${written((to) => writeJsonRows(to, timed, fixed, form))}]`;
      assert.deepEqual(JSON.parse(text), records);
      for (const record of JSON.parse(text) as object[]) assert.deepEqual(Object.keys(record), names);
      const cells = records.map((record) =>
        Object.values(record).map((value) => {
          if (typeof value === 'number') return plainDecimal(value);
          return csvCell(value as string | null);
        }),
      );
      assert.equal(
        written((to) => writeCsv(to, timed, fixed, form)),
        [names, ...cells].map((line) => `${line.join()}\r\n`).join(''),
      );
    }),
    { numRuns: 400 },
  );
});

const cellCases: readonly (readonly [value: string | null, cell: string])[] = [
  [null, ''],
  ['', '""'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "no"', '"say ""no"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\r\nlines', '"two\r\nlines"'],
  [' spaces ', ' spaces '],
  ['null', 'null'],
];
for (const [value, cell] of cellCases) {
  test(`the CSV cell of ${JSON.stringify(value)} is ${JSON.stringify(cell)} (contract 5.1)`, () => {
    assert.equal(csvCell(value), cell);
  });
}
