// The project's own words are few, each once, and each is used in the file that the glossary names.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');

const WORDS_MAX = 60;

/** The rows of the glossary: a word, what it is, and a file. */
const rows = Array.from(textOf('docs/glossary.md').matchAll(/^\| (.+?) \| (.+) \| `(.+)` \|$/gm), (row) => ({
  word: row[1]!,
  file: row[3]!,
}));

test('each word of the glossary is there once, in order, and its file uses it', () => {
  const words = rows.map(({ word }) => word);
  assert.ok(words.length > 20 && words.length <= WORDS_MAX);
  assert.deepEqual(words, [...new Set(words)].sort());
  const unused = rows.filter(({ word, file }) => {
    const longest = word.split(' ').sort((one, other) => other.length - one.length)[0]!;
    return !textOf(file).toLowerCase().includes(longest);
  });
  assert.deepEqual(unused, []);
});
