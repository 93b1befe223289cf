// Files of minute bars and what a store made of them: what the checks of reliability have in common.
import { readFileSync, writeFileSync } from 'node:fs';
import { random, writeMinutes } from '../../bench/minutes.ts';
import { contentHash } from '../../src/store/copy.ts';
import { openStore } from '../../src/store/engines.ts';

/** What a check measured, and the target that it missed. */
export type Figure = readonly [what: string, value: string, missed?: string];

/** A figure with its target, which is missed unless `isReached`. */
export const aimed = (what: string, value: string, isReached: boolean, target: string): Figure =>
  isReached ? [what, value] : [what, value, target];

/** Flags of the fields that the files have no columns for. */
export const named = ['--schema', 'stock', '--country', 'US', '--interval', '1M'];

/** A file of `symbols` x `minutes` rows, by time; its path. */
export function minutesFile(path: string, symbols: number, minutes: number, firstMinute = 0): string {
  writeMinutes({ path, rows: symbols * minutes, order: 'time', symbols, firstMinute });
  return path;
}

/** The rows of a file, its header apart. */
export function rowsIn(path: string): { header: string; rows: string[] } {
  const [header, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n');
  return { header: header!, rows };
}

/** Writes a file of rows; its path. */
export function fileOf(path: string, header: string, rows: readonly string[]): string {
  writeFileSync(path, `${[header, ...rows].join('\n')}\n`);
  return path;
}

/** The same rows in an order that the seed gives. */
export function shuffled(rows: readonly string[], seed: number): string[] {
  const next = random(seed);
  const mixed = [...rows];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = Math.floor(next() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!];
  }
  return mixed;
}

/** The hash of what a store holds. */
export async function hashOf(url: string): Promise<string> {
  const store = await openStore(url, 'read');
  try {
    return await store.snapshot(contentHash);
  } finally {
    await store.close();
  }
}

export const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
