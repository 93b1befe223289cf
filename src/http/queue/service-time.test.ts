// The mean time of a request, estimated from the latest ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceTime } from './service-time.ts';

/** The mean after requests that take these times, one after the other. */
function meanOf(...tookMs: readonly number[]): number {
  const time = new ServiceTime();
  for (const took of tookMs) time.add(took);
  return time.meanMs;
}

const near = (measured: number, expected: number): void =>
  assert.ok(Math.abs(measured - expected) < 0.05 * expected, `${measured}, not ${expected}`);

test('before the first measurement the estimate is 0', () => {
  assert.equal(new ServiceTime().meanMs, 0);
});

test('requests of one length have that length', () => {
  near(meanOf(2, 2, 2, 2), 2);
});

test('a few slow requests among many count by their number', () => {
  const hundred = [...Array.from({ length: 99 }, () => 0.2), 30];
  near(meanOf(...Array.from({ length: 50 }, () => hundred).flat()), (99 * 0.2 + 30) / 100);
});

test('old measurements no longer count', () => {
  near(meanOf(...Array.from({ length: 100 }, () => 40), ...Array.from({ length: 20_000 }, () => 0.2)), 0.2);
});
