// `bourse help`: the columns of each dataset, with an example that works (contract 10.2).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileDatasetNames } from '../src/store/schema/index.ts';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

/** The columns that a help text names, and which of them are needed. */
function columnsIn(text: string): Map<string, boolean> {
  const [, table = ''] = /^COLUMN .*\n((?:[a-z]\w* {2}.*\n)+)/m.exec(text) ?? [];
  const lines = table.trimEnd().split('\n');
  return new Map(lines.map((line) => [line.split(' ', 1)[0]!, /^\w+ +yes /.test(line)]));
}

for (const dataset of fileDatasetNames)
  test(`help import ${dataset} names the columns that an import needs, and its example is imported (contract 10.2)`, async () => {
    const text = await shop.must('help', 'import', dataset);
    const columns = columnsIn(text);
    const [, name, head, row, call] =
      /^Example, a file (.*):\n\n {2}(.*)\n {2}(.*)\n\n {2}bourse (.*)\n/m.exec(text)!;
    const names = head!.split(',');
    assert.deepEqual(
      names.filter((one) => !columns.has(one)),
      [],
    );
    const write = (header: string): void => writeFileSync(join(shop.folder, name!), `${header}\n${row}\n`);
    write(head!);
    const { rowsRead, rowsRefused, ignoredColumns } = JSON.parse(
      await shop.must(...call!.split(' '), '--json'),
    );
    assert.deepEqual([rowsRead, rowsRefused, ignoredColumns], [1, 0, []]);
    // Without a column: an import ends with an error about it just where help says that it is needed.
    for (const column of names) {
      write(names.map((one) => (one === column ? 'nothing' : one)).join());
      const { status, stderr } = await shop.run(...call!.split(' '), '--dry-run', '--preset', 'none');
      assert.equal(status !== 0 && stderr.includes(column), columns.get(column), `${column}: ${stderr}`);
    }
  });

test('help of a command is what its --help prints; without a word that of the program (contract 10.2)', async () => {
  for (const path of ['', 'import', 'keys', 'keys create', 'delete bars', 'help']) {
    const words = path.split(' ').filter(Boolean);
    assert.equal(await shop.must('help', ...words), await shop.must(...words, '--help'), path);
  }
});

test('help for what there is not is wrong usage, with the nearest right word (contract 10.2)', async () => {
  const cases = [
    [['improt'], /is it import\?/],
    [['import', 'bar'], /is it bars\?/],
    [['keys', 'creat'], /is it create\?/],
    [['status', 'bars'], /there is no help for status bars/],
  ] as const;
  for (const [words, message] of cases) {
    const { status, stdout, stderr } = await shop.run('help', ...words);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, message);
  }
});
