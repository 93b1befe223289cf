// Where refused rows go, and which files there are replaced and removed: those of earlier imports, and no
// other.
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const header = 'datetime,open,high,low,close';
const good = `${header}\n2025-03-03T14:30:00Z,1,1,1,1\n`;
const bad = `${good}2025-03-03T14:31:00Z,x,1,1,1\n`;
const worse = `${bad}2025-03-03T14:32:00Z,y,1,1,1\n`;
const named = ['--schema', 'stock', '--country', 'US', '--symbol', 'A', '--interval', '1M'];
const rejected = (...rows: readonly string[]): string =>
  [`${header},rejected_row,rejected_column,rejected_reason`, ...rows, ''].join('\r\n');
const first = '2025-03-03T14:31:00Z,x,1,1,1,2,open,is not a number';
const second = '2025-03-03T14:32:00Z,y,1,1,1,3,open,is not a number';

let folders = 0;

/** A folder with a file to import, and what else lies in it. */
class Folder {
  readonly path = shop.path(String(++folders));

  constructor(others: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.path);
    for (const [name, content] of Object.entries(others)) writeFileSync(join(this.path, name), content);
  }

  /** Imports what is to be in `x.csv`; the file of refused rows that the report names. */
  async import(content: string, ...flags: readonly string[]): Promise<string | null> {
    const file = join(this.path, 'x.csv');
    writeFileSync(file, content);
    const { stdout, stderr } = await shop.run('import', 'bars', file, ...named, '--json', ...flags);
    assert.equal(stderr, '');
    return (JSON.parse(stdout) as { rejectedFile: string | null }).rejectedFile;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  /** Everything but the imported file. */
  get others(): string[] {
    return readdirSync(this.path)
      .filter((name) => name !== 'x.csv')
      .sort();
  }
}

test('the refused rows of an earlier import of the same file are replaced', async () => {
  const folder = new Folder();
  const place = join(folder.path, 'x.rejected.csv');
  assert.equal(await folder.import(worse), place);
  assert.equal(folder.read('x.rejected.csv'), rejected(first, second));
  assert.equal(await folder.import(bad), place);
  assert.equal(folder.read('x.rejected.csv'), rejected(first));
  assert.deepEqual(folder.others, ['x.rejected.csv']);
});

test('a file of the same name that is none of refused rows stays, and they go beside it', async () => {
  for (const foreign of ['my notes\n', '', `${header}\r\n`, 'rejected_row,rejected_reason\r\n1,odd\r\n']) {
    const folder = new Folder({ 'x.rejected.csv': foreign });
    for (const [content, rows] of [
      [worse, rejected(first, second)],
      [bad, rejected(first)],
    ] as const) {
      assert.equal(await folder.import(content), join(folder.path, 'x.rejected.2.csv'));
      assert.equal(folder.read('x.rejected.2.csv'), rows);
    }
    assert.equal(folder.read('x.rejected.csv'), foreign);
    assert.deepEqual(folder.others, ['x.rejected.2.csv', 'x.rejected.csv']);
  }
});

test('a folder or a link in the place stays too', async () => {
  const folder = new Folder({ 'mine.csv': rejected(first) });
  symlinkSync('mine.csv', join(folder.path, 'x.rejected.csv'));
  mkdirSync(join(folder.path, 'x.rejected.2.csv'));
  assert.equal(await folder.import(bad), join(folder.path, 'x.rejected.3.csv'));
  assert.deepEqual(folder.others, ['mine.csv', 'x.rejected.2.csv', 'x.rejected.3.csv', 'x.rejected.csv']);
});

test('an import that refuses nothing removes what an earlier one of the file refused, and nothing else', async () => {
  const folder = new Folder();
  await folder.import(bad);
  assert.equal(await folder.import(good, '--dry-run'), null);
  assert.deepEqual(folder.others, ['x.rejected.csv'], 'after a trial');
  assert.equal(await folder.import(good), null);
  assert.deepEqual(folder.others, []);

  const other = new Folder({ 'x.rejected.csv': 'my notes\n' });
  await other.import(bad);
  assert.equal(await other.import(good), null);
  assert.deepEqual(other.others, ['x.rejected.csv']);
  assert.equal(other.read('x.rejected.csv'), 'my notes\n');
});

test('refused rows of standard input are never replaced: they lie nowhere else', async () => {
  const before = readdirSync(shop.folder);
  for (const content of [bad, good, worse]) await shop.pipe(content, 'import', 'bars', '-', ...named);
  const made = readdirSync(shop.folder).filter((name) => !before.includes(name) && name.endsWith('.csv'));
  assert.deepEqual(made.sort(), ['stdin.rejected.2.csv', 'stdin.rejected.csv']);
  assert.equal(readFileSync(shop.path('stdin.rejected.csv'), 'utf8'), rejected(first));
});

test('a file of refused rows that is mended and refused again has its reasons once', async () => {
  const folder = new Folder();
  await folder.import(rejected(first, second.replace(',y,', ',1,')));
  assert.equal(folder.read('x.rejected.csv'), rejected(first.replace(',2,open', ',1,open')));
});
