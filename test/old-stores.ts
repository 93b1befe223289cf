// Stores that older programs wrote (test/fixtures/stores), unpacked for a test.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The folder of the stores. */
export const fixtures = join(import.meta.dirname, 'fixtures/stores');

/** What the program that wrote a store said of it. */
export type Said = {
  /** SHA-256 of all rows and bars, at the end and before its last run. */
  readonly contentHash: string;
  readonly contentHashBeforeLastRun: string;
  /** The key of a caller. */
  readonly key: string;
  /** Results by path, next page keys left out; among the paths are second pages under page keys that it signed. */
  readonly answers: Readonly<Record<string, unknown>>;
};

/** Writes a packed file of a fixture as `path`. */
export function unpack(fixture: string, name: string, path: string): void {
  writeFileSync(path, gunzipSync(readFileSync(join(fixtures, fixture, `${name}.gz`))), { mode: 0o600 });
}

/** What is known of a fixture from the program that wrote it. */
export const saidOf = (fixture: string): Said =>
  JSON.parse(readFileSync(join(fixtures, fixture, 'said.json'), 'utf8')) as Said;
