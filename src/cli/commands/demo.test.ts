import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { demoBars } from '../shared/demo-bars.ts';
import { sampleText } from './demo.ts';

const DAY_MS = 86_400_000;
const FRIDAY = 5;
const WRITTEN_MS = Date.UTC(2026, 0, 5);
const WRITTEN = WRITTEN_MS / DAY_MS;

/** The expirations of a text of option contracts: as a date, and as the symbol has it. */
const expirationsOf = (text: string): [date: string, inSymbol: string][] =>
  Array.from(text.matchAll(/(\d{6})[CP]\d{8},.*,(\d{4}-\d\d-\d\d),/g), ([, inSymbol, date]) => [
    date!,
    inSymbol!,
  ]);

test('dates of sample files move by whole weeks, those in option symbols with them (contract 1.4)', async () => {
  const file = readFileSync(join(import.meta.dirname, '../../../examples/option-contracts.csv'), 'utf8');
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
    const text = readFileSync(join(import.meta.dirname, `../../../examples/${name}.csv`), 'utf8');
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

/** The minutes of the demo, made once: a text for each session. */
const minutes = [...demoBars('1M', WRITTEN_MS, [])];

/** The lines of a symbol in texts of sessions, as cells. */
const linesOf = (symbol: string, texts: Iterable<string>): string[][] =>
  [...texts]
    .filter((text) => text.includes(`,${symbol},`))
    .flatMap((text) => text.trimEnd().split('\n'))
    .map((line) => line.split(','));

test('raw prices of the demo before a split are as many times as high, and volumes as low', () => {
  const day = WRITTEN - 900;
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  const [plain, split] = [[], [{ symbol: 'AAPL', day, ratio: 4 }]].map((splits) =>
    linesOf('AAPL', demoBars('DAY', WRITTEN_MS, splits)),
  ) as [string[][], string[][]];
  assert.ok(plain.length > 200 && plain.length === split.length);
  for (const [at, cells] of plain.entries()) {
    const ratio = cells[3]! < date ? 4 : 1;
    const [before, after] = [cells, split[at]!].map((one) => one.slice(4).map(Number)) as [
      number[],
      number[],
    ];
    for (const column of [0, 1, 2, 3]) assert.ok(Math.abs(after[column]! - ratio * before[column]!) < 0.03);
    assert.ok(Math.abs(after[4]! - before[4]! / ratio) < 1);
  }
});

test('one stock of the demo lacks a session, and 25 minutes of another', () => {
  const byDay = (symbol: string) => Map.groupBy(linesOf(symbol, minutes), (cells) => cells[3]!.slice(0, 10));
  const [whole, holed] = [byDay('SPY'), byDay('MSFT')];
  // Until 13:00 in New York also a shortened session trades each minute.
  const timesOf = (lines: readonly string[][]): string[] =>
    lines.map((cells) => cells[3]!).filter((time) => time.slice(11) >= '14:30' && time.slice(11) < '18:00');
  const lost = [...whole].map(([day, lines]) => {
    const traded = new Set(timesOf(holed.get(day) ?? []));
    return timesOf(lines).filter((time) => !traded.has(time));
  });
  const [session, part, ...others] = lost.filter((times) => times.length > 0);
  assert.deepEqual([session!.length, part!.length, others], [210, 25, []]);
  assert.deepEqual([part![0]!.slice(11, 16), part!.at(-1)!.slice(11, 16)], ['16:00', '16:24']);
});

test('bars of the demo are the same each time, and each lies within its high and low', () => {
  const days = [...demoBars('DAY', WRITTEN_MS, [])];
  assert.deepEqual([...demoBars('1M', WRITTEN_MS, []).take(20)], minutes.slice(0, 20));
  assert.deepEqual([...demoBars('DAY', WRITTEN_MS, [])], days);
  for (const [, ...texts] of [minutes, days]) {
    assert.ok(texts.length > 0);
    for (const line of texts.filter((_, at) => at % 5 === 0).flatMap((text) => text.trimEnd().split('\n'))) {
      const cells = line.split(',');
      const [open, high, low, close] = [cells[4], cells[5], cells[6], cells[7]].map(Number);
      if (!(low! <= Math.min(open!, close!) && Math.max(open!, close!) <= high!)) assert.fail(line);
    }
  }
});

/** The time of the newest minute of the first symbol, in a demo that is made at a moment. */
function lastMinuteAt(nowMs: number): string {
  let last = '';
  for (const text of demoBars('1M', nowMs, [])) {
    if (text.includes(',MSFT,')) break;
    if (text !== '') last = text;
  }
  return linesOf('AAPL', [last]).at(-1)![3]!;
}

test('no bar of the demo closes after the moment at which it is made, though post-market of yesterday may go on', () => {
  // A Tuesday: Monday's post-market ends at 20:00 in New York.
  const midnightMs = Date.UTC(2026, 0, 6);
  for (const after of [0, 61]) {
    const nowMs = midnightMs + after * 60_000;
    const last = lastMinuteAt(nowMs);
    const lastMs = Date.parse(last);
    const closedMs = Math.min(nowMs, midnightMs + 3_600_000);
    assert.ok(lastMs < closedMs && lastMs > closedMs - 30 * 60_000, last);
  }
});
