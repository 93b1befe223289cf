import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { demoBars } from './demo-bars.ts';
import { sampleText } from './demo-store.ts';

const DAY_MS = 86_400_000;
const FRIDAY = 5;
const WRITTEN = Date.UTC(2026, 0, 5) / DAY_MS;

/** The expirations of a text of option contracts: as a date, and as the symbol has it. */
const expirationsOf = (text: string): [date: string, inSymbol: string][] =>
  Array.from(text.matchAll(/(\d{6})[CP]\d{8},.*,(\d{4}-\d\d-\d\d),/g), ([, inSymbol, date]) => [
    date!,
    inSymbol!,
  ]);

test('dates of sample files move by whole weeks, those in option symbols with them (contract 1.4)', async () => {
  const file = readFileSync(join(import.meta.dirname, '../../examples/option-contracts.csv'), 'utf8');
  assert.equal(await sampleText('option-contracts.csv', WRITTEN), file);
  const written = expirationsOf(file);
  assert.equal(written.length, file.trim().split('\n').length - 1);
  for (const [after, weeks] of [
    [6, 0],
    [7, 1],
    [400, 57],
    [-1, -1],
  ] as const) {
    const moved = expirationsOf(await sampleText('option-contracts.csv', WRITTEN + after));
    for (const [index, [date, inSymbol]] of moved.entries()) {
      const day = Date.parse(date) / DAY_MS;
      assert.equal(day, Date.parse(written[index]![0]) / DAY_MS + 7 * weeks);
      assert.equal(new Date(day * DAY_MS).getUTCDay(), FRIDAY);
      assert.equal(inSymbol, date.slice(2).replaceAll('-', ''));
    }
  }
});

test('no sample is of the week in which the files are written: moved, none is of today that has not happened yet', () => {
  for (const name of ['corporate-actions', 'economic-events', 'news', 'option-contracts']) {
    const text = readFileSync(join(import.meta.dirname, `../../examples/${name}.csv`), 'utf8');
    const days = Array.from(
      text.matchAll(/\d{4}-\d\d-\d\d/g),
      ([date]) => Date.parse(date) / DAY_MS - WRITTEN,
    );
    assert.deepEqual(
      days.filter((day) => day >= 0 && day < 7),
      [],
      name,
    );
  }
});

test('bars of the demo are the same each time, and each lies within its high and low', () => {
  const make = (interval: '1M' | 'DAY'): string => [...demoBars(interval, WRITTEN - 4, WRITTEN)].join('');
  for (const interval of ['1M', 'DAY'] as const) {
    assert.equal(make(interval), make(interval));
    const [, ...lines] = make(interval).trim().split('\n');
    assert.ok(lines.length > 0);
    for (const line of lines) {
      const [open, high, low, close] = line.split(',').slice(4, 8).map(Number) as [
        number,
        number,
        number,
        number,
      ];
      assert.ok(low <= Math.min(open, close) && Math.max(open, close) <= high, line);
    }
  }
});
