// Which run makes the import of a watched file needless, by the runs of a store (contract 10).
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { TestFolder } from '../../../test/stores.ts';
import { zipOf } from '../../../test/zip.ts';
import { openStore } from '../../store/engines.ts';
import type { RowOf } from '../../store/schema/dataset.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Store } from '../../store/store.ts';
import { hashOfFile } from '../read/digest.ts';
import { runOfPath } from './watched-file.ts';

type Run = RowOf<typeof importRuns>;

const folder = new TestFolder();
let store: Store;
let made = 0;
before(() => mkdirSync(folder.path('in')));
after(async () => {
  await store.close();
  folder.close();
});

/** Takes an empty store for a test. */
async function openEmpty(): Promise<void> {
  await store?.close();
  store = await openStore(folder.storeUrl(`s${++made}`), 'write');
}

const path = folder.path('in/a.csv');
const flags = { country: 'US', symbol: 'A' };
const watched = { dataset: 'bars', path, sha256: 'v1', flags };

/** Records imports of the file, each by what is different about it: the runs 1, 2 and so on. */
async function record(...runs: readonly Partial<Run>[]): Promise<void> {
  const rows = runs.map((run, at) => ({
    run_id: at + 1,
    kind: 'import',
    dataset: 'bars',
    file: 'a.csv',
    sha256: 'v1',
    source: null,
    rows_read: 1,
    rows_written: 1,
    rows_unchanged: 0,
    rows_refused: 0,
    started_ms: at,
    finished_ms: at,
    undone_ms: null,
    path,
    archive_sha256: null,
    flags,
    data_version: null,
    ...run,
  }));
  await store.write((writer) => writer.upsert(importRuns, rows));
}

const runOf = (file: Partial<typeof watched> = {}): Promise<number | null> =>
  store.snapshot((reader) => runOfPath(reader, { ...watched, ...file }));

const older = { path: null, flags: null };
const undone = { undone_ms: 9 };

const cases: readonly [name: string, runs: readonly Partial<Run>[], run: number | null][] = [
  ['a file without a run is imported', [], null],
  ['a file whose newest run has its hash is skipped', [{ sha256: 'v0' }, {}], 2],
  ['a file is imported again after another version of it', [{}, { sha256: 'v2' }], null],
  ['an undone run does not count: the one before it decides', [{}, { sha256: 'v2', ...undone }], 1],
  ['a file whose only run was undone is imported', [undone], null],
  ['runs under other flags do not count', [{ flags: { country: 'US', symbol: 'B' } }], null],
  ['runs of another dataset do not count', [{ dataset: 'instruments' }], null],
  ['deletions do not count', [{ kind: 'delete' }], null],
  ['runs of standard input do not count', [{ path: null }], null],
  ['a file that was imported from another folder is skipped', [{ path: '/old/a.csv' }], 1],
  ['a file of another folder has its own versions', [{}, { path: '/other/a.csv', sha256: 'v2' }], 1],
  ['an undone run of the path outweighs a live one of another', [undone, { path: '/other/a.csv' }], null],
  ['a run without recorded flags counts for all flags and folders', [older], 1],
  ['of runs without recorded flags the newest decides', [older, { ...older, sha256: 'v2' }], null],
  ['a run without recorded flags that was undone does not count', [{ ...older, ...undone }], null],
  [
    'a name that begins with the file’s is another file',
    [{ file: 'a.csv.gz' }, { file: 'a.csv/a.csv' }],
    null,
  ],
];

for (const [name, runs, expected] of cases) {
  test(`${name} (contract 10)`, async () => {
    await openEmpty();
    await record(...runs);
    assert.equal(await runOf(), expected);
  });
}

test('an archive is skipped only if the newest run of each member has it, not after a kill or an undo (contract 10)', async () => {
  await openEmpty();
  const zip = folder.path('in/a.zip');
  writeFileSync(zip, zipOf(...['m.csv', 'n.csv'].map((name) => ({ name, bytes: Buffer.from(`${name}\n`) }))));
  const sha256 = await hashOfFile(zip);
  const member = (name: string): Partial<Run> => ({
    file: `a.zip/${name}`,
    sha256: name,
    path: zip,
    archive_sha256: sha256,
  });
  const file = { path: zip, sha256 };
  await record(member('m.csv'));
  assert.equal(await runOf(file), null);
  await record(member('m.csv'), member('n.csv'));
  assert.equal(await runOf(file), 2);
  await record({ ...member('m.csv'), ...undone }, member('n.csv'));
  assert.equal(await runOf(file), null);
  await record({ ...member('m.csv'), ...undone }, member('n.csv'), member('m.csv'));
  assert.equal(await runOf(file), 3);
});
