// Nested values of JSON in column mappings: values within objects, and one row for each value of a list
// (contract 11).
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { rowsOf } from '../stores.ts';
import { type Flags, Vendor } from './vendor.ts';

const vendor = new Vendor();
after(() => vendor.close());

let maps = 0;
/** What ties an item to an instrument is read where the map names it. */
const tied = { asset_name: 'asset_name', country_iso_code: 'country_iso_code' };
function mapped(columns: Readonly<Record<string, unknown>>): Flags {
  const path = vendor.shop.path(`map-${++maps}.json`);
  writeFileSync(path, JSON.stringify({ columns: { ...tied, ...columns } }));
  return { dataset: 'news', map: path };
}

const us = { asset_name: 'stock', country_iso_code: 'US' };
const item = (title: string, more: object) => ({
  title,
  published_date: '2025-02-03T14:30:00Z',
  publisher_url: `https://example.com/${title}`,
  ...more,
});
const stored = (): unknown[] =>
  rowsOf(vendor.url, 'select title, symbol, publisher from news order by title, symbol').map((row) =>
    Object.values(row),
  );

const items = [
  item('a', { ...us, tickers: ['AAPL', 'MSFT'], publisher: { name: 'Wire, Inc', place: { city: 'NY' } } }),
  item('b', { tickers: [], publisher: null }),
  item('c', { ...us, tickers: 'KO', publisher: { name: '"Q"' } }),
  item('d', { publisher: {} }),
];

const forms = {
  'an array': JSON.stringify(items, null, 1),
  NDJSON: items.map((one) => JSON.stringify(one)).join('\n'),
};
for (const [form, content] of Object.entries(forms)) {
  test(`of ${form} a list gives a row for each of its values, and one where it has none (contract 11)`, async () => {
    const flags = mapped({ symbol: 'tickers[]', publisher: 'publisher.name' });
    const report = await vendor.import('news.json', content, flags);
    assert.deepEqual([report.rowsRead, report.rowsNew, report.rowsRefused], [5, 5, 0]);
    assert.deepEqual(stored(), [
      ['a', 'AAPL', 'Wire, Inc'],
      ['a', 'MSFT', 'Wire, Inc'],
      ['b', null, null],
      ['c', 'KO', '"Q"'],
      ['d', null, null],
    ]);
    const again = await vendor.import('news.json', content, flags, false);
    assert.deepEqual([again.rowsUnchanged, again.rowsNew, again.rowsReplaced], [5, 0, 0]);
  });
}

test('lists within a list, objects within objects, and cells that are computed from them (contract 11)', async () => {
  const wrapped = {
    status: 'OK',
    results: [items[0], { ...items[2], publisher: { place: { city: 'LA' } } }],
  };
  const flags = mapped({
    title: 'results[].title',
    published_date: 'results[].published_date',
    publisher_url: 'results[].publisher_url',
    asset_name: { column: 'results[].asset_name', lookup: { stock: 'stock' } },
    country_iso_code: 'results[].country_iso_code',
    symbol: { column: 'results[].tickers[]', remove: 'L$' },
    publisher: 'results[].publisher.place.city',
  });
  await vendor.import('news.json', JSON.stringify(wrapped), flags);
  assert.deepEqual(stored(), [
    ['a', 'AAP', 'NY'],
    ['a', 'MSFT', 'NY'],
    ['c', 'KO', 'LA'],
  ]);
});

test('an object that has one list and nothing beside it gives the rows of the list (contract 11)', async () => {
  const fields = ['title', 'published_date', 'publisher_url', 'asset_name', 'country_iso_code'];
  const wrapped = {
    results: [item('a', { ...us, tickers: ['AAPL'] }), item('b', { ...us, tickers: ['KO'] })],
  };
  const columns = Object.fromEntries(fields.map((field) => [field, `results[].${field}`]));
  const flags = mapped({ ...columns, symbol: 'results[].tickers[]' });
  await vendor.import('news.json', JSON.stringify(wrapped), flags);
  assert.deepEqual(stored(), [
    ['a', 'AAPL', null],
    ['b', 'KO', null],
  ]);
});

test('a key with a point in its name is that key (contract 11)', async () => {
  const flat = { ...item('a', us), symbol: 'AAPL', 'publisher.name': 'flat', publisher: { name: 'nested' } };
  await vendor.import(
    'news.json',
    JSON.stringify(flat),
    mapped({ symbol: 'symbol', publisher: 'publisher.name' }),
  );
  assert.deepEqual(stored(), [['a', 'AAPL', 'flat']]);
});

test('a path that leads nowhere, and two lists side by side, are refused with what is there (contract 11)', async () => {
  const content = JSON.stringify(items);
  const refusal = (columns: Readonly<Record<string, string>>) =>
    vendor.refusal('news.json', content, mapped(columns));
  const [nam, town, editor] = await Promise.all([
    refusal({ publisher: 'publisher.nam' }),
    refusal({ title: 'publisher.place.town' }),
    refusal({ title: 'editor.name' }),
  ]);
  assert.match(
    nam,
    /line 1: news\.json: has no nam in publisher\.nam, .*; there it has name, place; is it name\?$/,
  );
  assert.match(town, /no town in .*; there it has city$/);
  assert.match(editor, /has no editor in editor\.name, .* there it has title, published_date/);
  const both = JSON.stringify(item('a', { tickers: ['A'], tags: ['x'] }));
  assert.equal(
    await vendor.refusal('news.json', both, mapped({ symbol: 'tickers[]', publisher: 'tags[]' })),
    'news.json: the column mapping names two lists, tags[] and tickers[]: a row can have values of only one',
  );
});

test('a refused row of a list is imported from its own file when it is corrected (contract 11)', async () => {
  const columns = { symbol: 'tickers[]', publisher: 'publisher.name' };
  const content = JSON.stringify(
    item('a', { ...us, tickers: ['AAPL', 'no symbol'], publisher: { name: 'W' } }),
  );
  const flags = mapped(columns);
  const { rejectedFile, refused } = await vendor.import('news.json', content, flags);
  assert.deepEqual(
    refused.map(({ row, column, value }) => [row, column, value]),
    [[2, 'tickers[]', 'no symbol']],
  );
  const corrected = readFileSync(rejectedFile!, 'utf8').replaceAll('no symbol', 'MSFT');
  await vendor.import('corrected.csv', corrected, flags, false);
  assert.deepEqual(stored(), [
    ['a', 'AAPL', 'W'],
    ['a', 'MSFT', 'W'],
  ]);
});

test('keys that are not read are listed, in the objects of a list and within others too (contract 11)', async () => {
  const one = item('a', {
    ...us,
    ticker: 'A',
    publisher: { name: 'W', place: { city: 'NY', zip: '1' } },
    tags: ['x'],
    votes: [{ by: 'B' }],
  });
  const names = ['title', 'published_date', 'publisher_url', 'asset_name', 'country_iso_code'];
  const fields = (list: string) => Object.fromEntries(names.map((name) => [name, `${list}${name}`]));
  const listed = mapped({
    ...fields('results[].'),
    symbol: 'results[].ticker',
    publisher: 'results[].publisher.place.city',
  });
  const wrapped = JSON.stringify({ status: 'OK', results: [one] });
  const { ignoredColumns } = await vendor.import('news.json', wrapped, listed);
  assert.deepEqual(ignoredColumns, [
    'status',
    ...['results[].tags', 'results[].votes', 'results[].publisher.name', 'results[].publisher.place.zip'],
  ]);
  const plain = mapped({ ...fields(''), symbol: 'ticker', publisher: 'publisher.name' });
  const flat = await vendor.import('news.json', JSON.stringify([one]), plain);
  assert.deepEqual(flat.ignoredColumns, ['tags', 'votes', 'publisher.place']);
});

/** Columns of an optional field, the publishers that are stored, and the column that no object has. */
const optional: readonly (readonly [cell: unknown, stored: (string | null)[], lacking: string])[] = [
  ['editor.name', [null, null], 'editor.name'],
  ['publisher.place.town', [null, null], 'publisher.place.town'],
  ['editor', [null, null], 'editor'],
  [{ column: 'editor', remove: 'x' }, [null, null], 'editor'],
  [{ column: 'title', join: 'editor' }, ['a', 'b'], 'editor'],
  [{ column: 'publisher.name', join: 'publisher.tail' }, ['W', 'V'], 'publisher.tail'],
];
const untied = { published_date: 'published_date', publisher_url: 'publisher_url', title: 'title' };

for (const [cell, expected, lacking] of optional) {
  test(`no object has ${lacking}: ${JSON.stringify(cell)} is no error in JSON (contract 11)`, async () => {
    const path = vendor.shop.path(`map-${++maps}.json`);
    writeFileSync(path, JSON.stringify({ columns: { ...untied, publisher: cell } }));
    const flags: Flags = { dataset: 'news', map: path };
    const two = [item('a', { publisher: { name: 'W' } }), item('b', { publisher: { name: 'V' } })];
    for (const content of [JSON.stringify(two), two.map((one) => JSON.stringify(one)).join('\n')]) {
      const { rowsNew, lackingColumns } = await vendor.import('n.json', content, flags);
      assert.deepEqual([rowsNew, lackingColumns], [2, [lacking]]);
      const publishers = (stored() as unknown[][]).map((row) => row[2]);
      assert.deepEqual(publishers, expected);
    }
    const csv = 'title,published_date,publisher_url\na,2025-02-03T14:30:00Z,https://example.com/a\n';
    assert.match(await vendor.refusal('n.csv', csv, flags), /n\.csv: has no column/);
  });
}

test('a misspelt key of an optional field and a key that rows need are told (contract 11)', async () => {
  const refusal = (columns: object) => {
    const path = vendor.shop.path(`map-${++maps}.json`);
    writeFileSync(path, JSON.stringify({ columns }));
    const content = JSON.stringify(item('a', { editor: 'E' }));
    return vendor.refusal('n.json', content, { dataset: 'news', map: path });
  };
  assert.match(await refusal({ ...untied, publisher: 'edtior' }), /has no column edtior, .*is it editor\?$/);
  assert.match(await refusal({ ...untied, title: 'headline' }), /has no column headline/);
});
