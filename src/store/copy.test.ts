// What content hashes are made of, where columns were added later.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashed } from './copy.ts';
import { news } from './schema/news.ts';

const added = new Map([['news', new Set(['language'])]]);

test('a column that was added later is hashed only where it is not null', () => {
  const row = { news_id: 'a', symbol: null };
  assert.deepEqual(hashed(news, { ...row, language: null }, added), row);
  assert.deepEqual(hashed(news, { ...row, language: 'en' }, added), { ...row, language: 'en' });
});

test('a column of that name in another dataset is hashed as it always was', () => {
  const row = { language: null };
  assert.deepEqual(hashed({ ...news, name: 'other' }, row, added), row);
});
