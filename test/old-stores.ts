// Stores that older programs wrote (test/fixtures/stores), unpacked for a test; and the commands that wrote
// them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

/** The folder of the stores. */
const fixtures = join(import.meta.dirname, 'fixtures/stores');

/** What the program that wrote a store said of it. */
export type Said = {
  /** The key of a caller. */
  readonly key: string;
  /** Others of layout 16: with a quota by the day, pinned to an instant, revoked. */
  readonly keys?: Readonly<Record<'counted' | 'pinned' | 'revoked', string>>;
  /**
   * Results by path, next page keys left out; among the paths are second pages under page keys that it
   * signed.
   */
  readonly answers: Readonly<Record<string, unknown>>;
};

/** The content of a packed file of a fixture. */
export const unpacked = (fixture: string, name: string): Buffer =>
  gunzipSync(readFileSync(join(fixtures, fixture, `${name}.gz`)));

/** Writes a packed file of a fixture as `path`. */
export const unpack = (fixture: string, name: string, path: string): void =>
  writeFileSync(path, unpacked(fixture, name), { mode: 0o600 });

/** What is known of a fixture from the program that wrote it. */
export const saidOf = (fixture: string): Said =>
  JSON.parse(unpacked(fixture, 'said.json').toString()) as Said;

/**
 * Terms of an instrument as programs before layout 15 wrote them, the beginnings of words that a search must
 * find by them, and the terms that it is found by since.
 */
export const markedTerms = {
  old: ['søren møller', 'møller søren'],
  asked: ['mol', 'møl', 'soren moller', 'MØLLER'],
  now: ['moller soren', 'soren moller'],
} as const;

/** What made the stores: files, and commands in their folder at moments of a false clock. */
export const { files, steps } = JSON.parse(readFileSync(join(fixtures, 'steps.json'), 'utf8')) as {
  readonly files: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly at: string; readonly words: readonly string[] }[];
};
