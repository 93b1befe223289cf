// The mean time of a request, estimated from the latest ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServiceTime } from './service-time.ts';

/** The mean after requests that take these times, one after the other. */
function meanOf(...tookMs: readonly number[]): number {
  const time = new ServiceTime(0);
  for (const took of tookMs) time.add(took, 0);
  return time.meanMs;
}

const near = (measured: number, expected: number): void =>
  assert.ok(Math.abs(measured - expected) < 0.05 * expected, `${measured}, not ${expected}`);

test('before the first measurement the estimate is 0', () => {
  const time = new ServiceTime(0);
  assert.equal(time.meanMs, 0);
  assert.ok(!time.isWarm);
});

test('a thread is warm after so much processor time, not after so many requests, nor sooner because others take the processor', () => {
  const time = new ServiceTime(100);
  for (const processorMs of [30, 40]) time.add(3 * processorMs, processorMs);
  assert.ok(!time.isWarm);
  time.add(30, 30);
  assert.ok(time.isWarm);
});

test('a thread that waits for its store alone is warm, too, after four times as long', () => {
  const time = new ServiceTime(100);
  for (const tookMs of [150, 200]) time.add(tookMs, 1);
  assert.ok(!time.isWarm);
  time.add(50, 1);
  assert.ok(time.isWarm);
});

test('of parts of the time and processor time the longer counts, over all requests', () => {
  const time = new ServiceTime(0);
  // The processor time of requests that are answered together is measured with the first.
  for (let count = 0; count < 100; count++) time.add(0.5, count % 10 === 0 ? 4 : 0);
  near(time.meanMs, 0.5);
  for (let count = 0; count < 10_000; count++) time.add(0.5, count % 10 === 0 ? 20 : 0);
  near(time.meanMs, 2);
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
