// Stores to copy, and what a copy of one holds.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { CopyOptions } from '../../src/store/store.ts';
import type { Finished, Workshop } from '../service.ts';
import { contentOfFile, fileStore } from './files.ts';

const DAY_MS = 86_400_000;
const firstMs = Date.UTC(2025, 2, 3, 15);

/** The instant of the minute bar of a day, as an answer writes it. */
export const minuteOf = (day: number): string =>
  `${new Date(firstMs + day * DAY_MS).toISOString().slice(0, 19)}+00:00`;

/** A file of one minute bar on each of some days. */
export function writeDays(shop: Workshop, name: string, days: readonly number[]): string {
  const rows = days.map((day) => `${minuteOf(day)},10,12,9,11,100`);
  writeFileSync(shop.path(name), ['datetime,open,high,low,close,volume', ...rows, ''].join('\n'));
  return shop.path(name);
}

/** Flags of an import of US minutes. */
export const minuteFlags = ['--schema', 'stock', '--country', 'US', '--interval', '1M'] as const;

export type SmallStore = {
  readonly folder: string;
  readonly path: string;
  readonly control: string;
  readonly url: string;
};

function storeIn(folder: string): SmallStore {
  const path = join(folder, 'bourse.db');
  return { folder, path, control: join(folder, 'bourse.control.db'), url: fileStore(path) };
}

/**
 * Stores of two bars of A and one key, each in a folder of its own; the command line made the first of them.
 */
export class SmallStores {
  readonly #shop: Workshop;
  #made = 0;

  constructor(shop: Workshop) {
    this.#shop = shop;
  }

  async make(): Promise<void> {
    const file = writeDays(this.#shop, 'two.csv', [0, 1]);
    await this.#shop.must('import', 'bars', file, ...minuteFlags, '--symbol', 'A');
    await this.#shop.must('keys', 'create', 'me');
  }

  fresh(): SmallStore {
    const folder = this.#shop.path(`case-${++this.#made}`);
    mkdirSync(folder);
    const made = storeIn(folder);
    const first = storeIn(this.#shop.folder);
    copyFileSync(first.path, made.path);
    copyFileSync(first.control, made.control);
    return made;
  }
}

/** Every row of a backup's data. */
export function dataOf(backup: string): ReturnType<typeof contentOfFile> {
  const { backup: manifest, ...data } = contentOfFile(backup);
  assert.equal(manifest?.length, 1);
  return data;
}

const ofVersions = ['data_version', 'former_rows'];

/**
 * What a restore and a copy leave as it was: all but the version of the store, and what is kept about
 * versions.
 */
export function exceptVersions(content: ReturnType<typeof contentOfFile>): ReturnType<typeof contentOfFile> {
  const { changes: _changes, counters_sums: _ofCounters, row_sums: _ofRows, ...rest } = content;
  const counters = rest.counters!.filter(({ name }) => !ofVersions.includes(String(name)));
  const former_rows = rest.former_rows!.filter(({ dataset }) => dataset !== 'counters');
  return { ...rest, counters, former_rows };
}

/** Changes a file behind everybody's back. */
export function alter(path: string, sql: string, ...values: readonly Uint8Array[]): void {
  // A test may change the schema too.
  const database = new DatabaseSync(path, { defensive: false });
  if (values.length === 0) database.exec(sql);
  else database.prepare(sql).run(...values);
  database.close();
}

export const plainly: CopyOptions = { force: false, tell: () => undefined, nowMs: Date.now };
export const forced: CopyOptions = { ...plainly, force: true };

/** Checks what a command that failed says: a message without a stack trace, and nothing else. */
export function told(finished: Finished, status: number, message: RegExp): void {
  assert.equal(finished.status, status, finished.stderr);
  assert.equal(finished.stdout, '');
  assert.match(finished.stderr, message);
  assert.doesNotMatch(finished.stderr, /^ +at /m);
}
