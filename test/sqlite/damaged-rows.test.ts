// Damaged rows whose damage is in SQLite's own pages: an identifier beside its index, a journal beside the
// one that lost its rows.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Workshop } from '../service.ts';
import { copyStore } from '../stores.ts';
import { alter } from './copies.ts';
import { rowsOfFile, storeFile } from './files.ts';

const shop = new Workshop();
after(() => shop.close());

const files: Readonly<Record<string, string>> = {
  instruments: 'asset_schema,country_iso_code,symbol,name\nstock,US,A,Alpha Works\nstock,US,B,Beta Foods\n',
  news: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol\n2025-03-03T12:00:00Z,One,https://example.com/1,stock,US,A\n2025-03-04T12:00:00Z,Two,https://example.com/2,stock,US,B\n',
};

before(async () => {
  for (const [dataset, text] of Object.entries(files)) {
    writeFileSync(shop.path(`${dataset}.csv`), text);
    await shop.must('import', dataset, `${dataset}.csv`);
  }
});

test('an instrument whose identifier is damaged gets no other one, and is not deleted', async () => {
  const store = shop.storeUrl('identifier');
  copyStore(shop.store, store);
  const path = storeFile(store);
  const bytes = readFileSync(path);
  // The table has the key, then the identifier; its index has the identifier first, and keeps the right one.
  const at = bytes.indexOf(Buffer.concat([Buffer.from('stockUSA'), Buffer.from([0x01, 0x86, 0xa1])]));
  assert.ok(at > 0);
  bytes[at + 10]! ^= 0x40;
  writeFileSync(path, bytes);
  for (const words of [
    ['import', 'instruments', 'instruments.csv'],
    ['delete', 'instruments', '--symbol', 'A', '--country', 'US'],
  ]) {
    const done = await shop.run(...words, '--store', store);
    assert.equal(done.status, 3);
    assert.match(done.stderr, /instruments, row .*symbol "A": its checksum does not match/);
  }
});

test('an undo whose journal an index has lost in part is refused, and says so', async () => {
  const hidden = "pragma writable_schema = on; delete from sqlite_schema where name like 'row_changes_by_%'";
  const [index] = rowsOfFile(
    storeFile(shop.store),
    "select * from sqlite_schema where name like 'row_changes_by_%'",
  );
  const { name, rootpage, sql } = index as { name: string; rootpage: number; sql: string };
  const store = shop.storeUrl('journal');
  copyStore(shop.store, store);
  for (const statement of [
    `${hidden}; pragma writable_schema = reset`,
    "delete from row_changes where row_key = (select min(row_key) from row_changes where dataset = 'news')",
    `pragma writable_schema = on; insert into sqlite_schema values ('index', '${name}', 'row_changes', ${rootpage}, '${sql}'); pragma writable_schema = reset`,
  ])
    alter(storeFile(store), statement);
  const undone = await shop.run('undo', '2', '--store', store);
  assert.equal(undone.status, 3, undone.stderr);
  assert.match(undone.stderr, /row_changes, its table or an index: .*; run 2 is not undone: /);
});
