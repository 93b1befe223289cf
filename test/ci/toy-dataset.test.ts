// One declaration drives everything that is done with a dataset: a copy of the sources gets a toy by its
// file, its line and its frozen step.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { TestFolder } from '../stores.ts';

const root = join(import.meta.dirname, '../..');
const temporary = new TestFolder();
after(() => temporary.close());

const { folder } = temporary;
cpSync(join(root, 'src'), join(folder, 'src'), {
  recursive: true,
  filter: (path) => !path.endsWith('.test.ts'),
});
for (const name of ['node_modules', 'package.json', 'examples'])
  symlinkSync(join(root, name), join(folder, name));

/** Replaces a text that a file has once. */
function edit(file: string, from: string, to: string): void {
  const path = join(folder, 'src', file);
  const text = readFileSync(path, 'utf8');
  assert.equal(text.split(from).length, 2, `${file} has "${from}" once`);
  writeFileSync(path, text.replace(from, to));
}

// Its file, its line, and the step that makes its table.
writeFileSync(
  join(folder, 'src/store/schema/toys.ts'),
  `import { anyNumber, countryRule, dataset, dayRule } from './dataset.ts';
import { optional, required, someText, symbolRule } from './dataset.ts';

export const toys = dataset({
  name: 'toys',
  columns: { country_iso_code: 'text', symbol: 'text', sold_date: 'day', maker: 'text', price: 'real null' },
  key: ['country_iso_code', 'symbol', 'sold_date'],
  file: {
    fields: {
      country_iso_code: required(countryRule, { flag: '--country' }),
      symbol: required(symbolRule, { flag: '--symbol' }),
      sold_date: required(dayRule),
      maker: required(someText),
      price: optional(anyNumber),
    },
    time: 'sold_date',
    names: [{ assetSchema: 'stock', symbol: 'symbol', on: ['sold_date'] }],
    repeated: { column: 'sold_date', reason: 'the file has this toy already' },
    deletion: {
      about: 'Delete toys.',
      rows: 'toys',
      needs: ['--country'],
      flags: { '--country': 'its country', '--symbol': 'the stock' },
      examples: ['--country US --symbol TOY'],
    },
  },
});
`,
);
edit(
  'store/schema/index.ts',
  "import { instruments, instrumentTerms } from './reference.ts';",
  "import { instruments, instrumentTerms } from './reference.ts';\nimport { toys } from './toys.ts';",
);
edit('store/schema/index.ts', '  instrumentTerms,\n  series,', '  toys,\n  instrumentTerms,\n  series,');
edit('store/migrations/index.ts', 'steps: [splitDays, quotes],', 'steps: [splitDays, quotes, toyStep],');
edit(
  'store/migrations/index.ts',
  '/** The layouts of a store. */',
  `const toyStep: Step = {
  tables: [
    dataset({
      name: 'toys',
      columns: { country_iso_code: 'text', symbol: 'text', sold_date: 'day', maker: 'text', price: 'real null' },
      key: ['country_iso_code', 'symbol', 'sold_date'],
    }),
  ],
};

/** The layouts of a store. */`,
);

const store = temporary.storeUrl();

/** What a command of the copy prints. @throws where it does not end with 0 */
const bourse = (...words: string[]): string =>
  execFileSync(process.execPath, [join(folder, 'src/cli/main.ts'), ...words, '--store', store], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

writeFileSync(
  join(folder, 'content-hash.ts'),
  `import { contentHash } from './src/store/copy.ts';
import { openStore } from './src/store/engines.ts';
const store = await openStore(process.argv[2]!, 'read');
process.stdout.write(await store.snapshot(contentHash));
await store.close();
`,
);
const contentHash = (): string =>
  execFileSync(process.execPath, [join(folder, 'content-hash.ts'), store], { encoding: 'utf8' });

const lines = [
  'country_iso_code,symbol,sold_date,maker,price',
  'US,TOY,2025-03-03,Ann,1.5',
  'US,TOY,2025-03-04,Bo,',
];

test('a dataset of one declaration is imported, counted, hashed, exported, deleted and undone (contract 10, 11)', () => {
  const file = join(folder, 'toys.csv');
  writeFileSync(file, `${lines.join('\n')}\n`);
  bourse('import', 'instruments', join(root, 'examples/instruments.csv'));
  const before = contentHash();

  const report = JSON.parse(bourse('import', 'toys', file, '--json'));
  assert.deepEqual([report.rowsRead, report.rowsWritten, report.newInstruments], [2, 2, 1]);
  const held = JSON.parse(bourse('status', '--json'));
  assert.deepEqual(
    held.datasets.find(({ dataset }: { dataset: string }) => dataset === 'toys'),
    { dataset: 'toys', rows: 2, first: '2025-03-03', last: '2025-03-04' },
  );
  const imported = contentHash();
  assert.notEqual(imported, before);
  assert.equal(bourse('export', 'toys', '--country', 'US'), `${lines.join('\r\n')}\r\n`);
  assert.equal(bourse('export', 'toys', '--from', '2025-03-04'), `${[lines[0], lines[2]].join('\r\n')}\r\n`);

  assert.throws(() => bourse('delete', 'instruments', '--symbol', 'TOY', '--country', 'US'), /toys/);
  const deleted = JSON.parse(
    bourse('delete', 'toys', '--country', 'US', '--symbol', 'TOY', '--to', '2025-03-03', '--json'),
  );
  assert.equal(deleted.rowsDeleted, 1);
  assert.notEqual(contentHash(), imported);
  bourse('undo', String(deleted.runId));
  assert.equal(contentHash(), imported, 'the deletion is undone');
  bourse('undo', String(report.runId));
  assert.equal(contentHash(), before, 'the import is undone, the instrument that it made with it');
});
