import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { demoBars, withQuotes } from '../shared/demo-data.ts';
import { knownAt, sampleText } from './demo.ts';

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

test('there are events and news of the current week: those to come have no result, or are left out', () => {
  const known = (name: string, nowMs: number): string[] =>
    knownAt(name, readFileSync(join(import.meta.dirname, `../../../examples/${name}.csv`), 'utf8'), nowMs)
      .trimEnd()
      .split('\n')
      .slice(1);
  const instantOf = (line: string): number => Date.parse(/20[\dT:-]+Z/.exec(line)![0]);
  let events = 0;
  for (let nowMs = WRITTEN_MS; nowMs < WRITTEN_MS + 7 * DAY_MS; nowMs += DAY_MS / 4) {
    const results = known('economic-events', nowMs).filter((line) => !/_driven,\w+,,/.test(line));
    assert.ok(results.every((line) => instantOf(line) <= nowMs));
    assert.ok(known('news', nowMs).every((line) => instantOf(line) <= nowMs));
    events = results.filter((line) => instantOf(line) >= WRITTEN_MS).length;
  }
  assert.equal(events, 4);
  assert.equal(known('economic-events', WRITTEN_MS).length, known('economic-events', 0).length);
  assert.ok(known('news', WRITTEN_MS + 7 * DAY_MS).length > known('news', WRITTEN_MS).length);
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

test('one stock of the demo lacks a session, and half an hour of another', () => {
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
  assert.deepEqual([session!.length, part!.length, others], [210, 30, []]);
  assert.deepEqual([part![0]!.slice(11, 16), part!.at(-1)!.slice(11, 16)], ['16:00', '16:29']);
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

const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

test('prices of the demo have what real ones have: busy opens and closes, gaps over night, volatility in clusters', () => {
  const sessions = [...Map.groupBy(linesOf('AAPL', minutes), (cells) => cells[3]!.slice(0, 10)).values()]
    // Regular hours in winter.
    .map((lines) => lines.filter(([, , , time]) => time!.slice(11) >= '14:30' && time!.slice(11) < '21:00'))
    .filter(
      ([first, ...others]) =>
        first !== undefined && first[3]!.endsWith('T14:30:00Z') && others.length === 389,
    );
  assert.ok(sessions.length > 100);
  const volumes = Array.from({ length: 13 }, (_, half) =>
    mean(
      sessions.flatMap((lines) => lines.slice(30 * half, 30 * half + 30).map((cells) => Number(cells[8]))),
    ),
  );
  assert.ok(Math.min(volumes[0]!, volumes[12]!) > 1.5 * Math.max(...volumes.slice(4, 9)), volumes.join());
  const days = linesOf('BTCUSD', demoBars('DAY', WRITTEN_MS, [])).map((cells) =>
    cells.slice(4, 8).map(Number),
  );
  const moved = days.map(([open, , , close]) => Math.log(close! / open!) ** 2);
  const variance = mean(moved.map((square) => (square - mean(moved)) ** 2));
  const together = (lag: number): number =>
    mean(moved.slice(lag).map((square, at) => (square - mean(moved)) * (moved[at]! - mean(moved))));
  assert.ok(mean([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(together)) > 0.03 * variance);
  const stockDays = linesOf('SPY', demoBars('DAY', WRITTEN_MS, []));
  const gaps = stockDays
    .slice(1)
    .map((cells, at) => Math.abs(Number(cells[4]) / Number(stockDays[at]![7]) - 1));
  assert.ok(mean(gaps) > 0.001);
});

test('quotes of the demo keep put-call parity, and expired contracts have none (contract 9.22)', () => {
  const contracts = readFileSync(join(import.meta.dirname, '../../../examples/option-contracts.csv'), 'utf8');
  const quoted = withQuotes(contracts, WRITTEN_MS)
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(','));
  assert.ok(quoted.every((cells) => cells.length === 20));
  const active = quoted.filter(([, , , , , , , status]) => status === 'active');
  assert.ok(quoted.filter((cells) => cells[8] === '').length === quoted.length - active.length);
  const lastOf = Object.fromEntries(
    ['AAPL', 'SPY'].map((symbol) => [
      symbol,
      Number(linesOf(symbol, minutes).findLast(([, , , time]) => time! < '2026-01-02T21')![7]),
    ]),
  );
  for (let at = 0; at < active.length; at += 2) {
    const [call, put] = [active[at]!, active[at + 1]!];
    assert.deepEqual([call[4], put[4], call[5]], ['call', 'put', put[5]]);
    const [strike, years] = [Number(call[5]), (Date.parse(call[6]!) / DAY_MS - (WRITTEN - 3)) / 365];
    const middle = (cells: readonly string[]): number => (Number(cells[8]) + Number(cells[9])) / 2;
    const parity = lastOf[call[3]!]! - strike * Math.exp(-0.04 * years);
    assert.ok(
      Math.abs(Number(call[10]) - Number(put[10]) - parity) < 0.03,
      `${call.join()} ${put.join()} ${parity}`,
    );
    for (const cells of [call, put]) {
      assert.ok(Number(cells[8]) < Number(cells[9]) && middle(cells) > 0, cells.join());
      assert.equal(cells[19], '2026-01-02T21:00:00Z');
    }
    assert.ok(Math.abs(Number(call[14]) - Number(put[14]) - 1) < 0.001);
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
