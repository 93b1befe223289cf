// Random files, deletions, undos and changes of calendars: every bar that is served is one that a direct
// reading of contract 3.9 serves, and no other (contract 3.6, 3.8, 3.9, 10).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY_MS, formatInstant } from '../../src/base/instant.ts';
import { fc, times } from '../seed.ts';
import { TestFolder } from '../stores.ts';
import { openOf, type Stored } from './facts.ts';
import { iso } from './journal.ts';
import type { Asked } from './oracle.ts';
import { msOf, SYMBOLS, Truth, take, worlds } from './steps.ts';
import { lineOf, World } from './world.ts';

/** Random worlds. */
const RUNS = times(20);

/** After all that is imported. */
const END_MS = Date.parse('2024-03-01T00:00:00Z');

const STORED: readonly Stored[] = ['1M', '5M', '30M', '60M', 'DAY'];
const ASKED: readonly Asked[] = ['5M', '30M', '60M', 'DAY', 'WEEK'];

/** Compares what is served of a symbol with the reading; the number of bars. */
async function compare(
  world: World,
  symbol: string,
  intervals: readonly Asked[],
  moments: readonly number[],
): Promise<number> {
  const { journal } = world;
  const held = journal.files.filter(({ bars }) => bars.some((bar) => bar.symbol === symbol));
  const isMixed = new Set(held.map(({ interval }) => interval)).size > 1;
  let compared = 0;
  for (const asked of held.length === 0 ? [] : intervals) {
    // Weeks of several series have rules of their own.
    if (asked === 'WEEK' && isMixed) continue;
    for (const isEth of [false, true])
      for (const nowMs of moments) {
        const expected = journal.oracle.served(symbol, asked, isEth, nowMs);
        const found = await world.bars(symbol, asked, isEth, nowMs);
        compared += expected.length;
        const asking = `${symbol} ${asked} is_eth=${isEth} at ${new Date(nowMs).toISOString()}`;
        const words = `${journal.market}: ${asking} after\n${journal.words}\n(+ served, - contract)`;
        assert.deepEqual(found, expected.map(lineOf), words);
      }
  }
  return compared;
}

/**
 * Compares how the stored series of a symbol are listed with the reading: they have finished bars alone
 * (contract 3.9 (5), 9.9).
 */
async function compareList(world: World, symbol: string): Promise<void> {
  const { journal } = world;
  const held = STORED.flatMap((interval) => {
    const bars = journal.oracle.finished(symbol, interval);
    return bars.length === 0 ? [] : { interval, bars };
  });
  const words = `${journal.market}: ${symbol} after\n${journal.words}`;
  const listed = held.map(({ interval, bars }) => {
    const [first, last] = [bars[0]!, bars.at(-1)!].map(({ keyMs }) => {
      // A daily bar on a day that a file closes opens as the day would.
      const isClosed = interval === 'DAY' && journal.calendar.sessionOn(keyMs / DAY_MS) === null;
      return formatInstant(openOf(isClosed ? journal.base : journal.calendar, interval, keyMs));
    });
    return `${interval} ${bars.length} ${first} ${last}`;
  });
  assert.deepEqual(await world.listed(symbol), listed, words);
  const last = held.map(({ interval, bars }) => `${interval} ${iso(bars.at(-1)!.keyMs)}`);
  assert.deepEqual(await world.lastFinished(symbol), last.sort(), words);
}

test('every bar served is one that a direct reading of contract 3.9 serves, and no other', async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(worlds, async ({ market, base, steps, moment }) => {
      const folder = new TestFolder();
      const world = await World.open(folder, market);
      try {
        const truth = new Truth(world, base);
        for (const [at, one] of steps.entries()) {
          await take(world, truth, one, at + 1);
          // What was asked before must not be kept beyond a change.
          compared += await compare(world, SYMBOLS[at % SYMBOLS.length]!, ['60M', 'DAY'], [END_MS]);
        }
        for (const symbol of SYMBOLS) {
          compared += await compare(world, symbol, ASKED, [END_MS, msOf(truth, moment)]);
          await compareList(world, symbol);
        }
      } finally {
        await world.close();
        folder.close();
      }
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared > 20 * RUNS, `only ${compared} bars were compared`);
});
