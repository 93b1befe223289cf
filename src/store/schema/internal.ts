// The service's own records: runs, their changes and counters beside the data; keys, quota uses and secrets
// in the control file.
import { type Dataset, dataset } from './dataset.ts';

export const importRuns = dataset({
  name: 'import_runs',
  columns: {
    run_id: 'integer',
    /** `import` or `delete`. */
    kind: 'text',
    dataset: 'text',
    /** The file's name; for a deletion its request, in words. */
    file: 'text',
    /** The hash of the file; empty for a deletion. */
    sha256: 'text',
    source: 'text null',
    rows_read: 'integer',
    rows_written: 'integer',
    rows_unchanged: 'integer',
    rows_refused: 'integer',
    started_ms: 'instant',
    finished_ms: 'instant',
    /** The time of the undo. */
    undone_ms: 'instant null',
    /**
     * The full path of the imported file, or of the archive it was in. Null: standard input, a deletion, a
     * run of an older program.
     */
    path: 'text null',
    /** The hash of the archive that the file was in; null outside an archive. */
    archive_sha256: 'text null',
    /**
     * The flags that can change what an import gives, by name. Null: a deletion, a run of an older program.
     */
    flags: 'json null',
    /** The version of the store that has what the run wrote; null of a run of an older program. */
    data_version: 'integer null',
  },
  key: ['run_id'],
  indexes: [['file', 'run_id']],
  keepsFormer: { by: null },
});

/** Files of watched folders of which something could not be imported, until they can be or are gone. */
export const failedFiles = dataset({
  name: 'failed_files',
  columns: {
    dataset: 'text',
    path: 'text',
    problem: 'text',
    failed_ms: 'instant',
  },
  key: ['dataset', 'path'],
});

/**
 * A block before a run changed it (docs/decisions/0009): the former state of each changed bar. Undone runs
 * have none.
 */
export const blockChanges = dataset({
  name: 'block_changes',
  columns: {
    series_id: 'integer',
    bucket: 'integer',
    run_id: 'integer',
    /**
     * A block whose keys were absent. Null: no block was there, so that the run has brought what no later run
     * added.
     */
    added: 'bytes null',
    /** A block of the bars that the run replaced or removed; null where there are none. */
    before: 'bytes null',
  },
  key: ['series_id', 'bucket', 'run_id'],
  indexes: [['run_id', 'series_id', 'bucket']],
});

/**
 * The bars of a block that a run held as they were stored already. Undone runs have none, nor have most runs
 * of layout 12 or older.
 */
export const heldBars = dataset({
  name: 'held_bars',
  /** `keys` is a block of them without their values. */
  columns: { series_id: 'integer', bucket: 'integer', run_id: 'integer', keys: 'bytes' },
  key: ['series_id', 'bucket', 'run_id'],
  indexes: [['run_id', 'series_id', 'bucket']],
});

/** A row before a run changed it; null where there was no row. The key is the JSON of the key's values. */
export const rowChanges = dataset({
  name: 'row_changes',
  columns: { dataset: 'text', row_key: 'text', run_id: 'integer', before: 'json null' },
  key: ['dataset', 'row_key', 'run_id'],
  indexes: [['run_id', 'dataset', 'row_key']],
});

/**
 * The rows of files that a run held as they were stored already; under `DATASET replaced` the days for which
 * a run with --replace stands (`runs/held-rows.ts`). Undone runs have none, nor have runs of layout 12
 * or older.
 */
export const heldRows = dataset({
  name: 'held_rows',
  /** `hashes` are those of the rows and their values, ascending, of 64 bits each. */
  columns: { dataset: 'text', run_id: 'integer', part: 'integer', hashes: 'bytes' },
  key: ['dataset', 'run_id', 'part'],
});

/**
 * Rows of the datasets with `keepsFormer` before a write changed them, so that the store can be read as it
 * was (docs/decisions/0041). What files bring is in the journal.
 */
export const formerRows = dataset({
  name: 'former_rows',
  columns: {
    dataset: 'text',
    /** The value of the column that `keepsFormer` names; 0 where it names none. */
    part: 'integer',
    /** The version that has the change. */
    version: 'integer',
    row_key: 'text',
    /** Null where there was no row. */
    before: 'json null',
  },
  key: ['dataset', 'part', 'version', 'row_key'],
  indexes: [['dataset', 'version', 'part', 'row_key']],
});

/** The last used values: identifiers are never reused; every write of the store raises `data_version`. */
export const counters = dataset({
  name: 'counters',
  columns: { name: 'text', value: 'integer' },
  key: ['name'],
  group: ['name'],
});

/**
 * The parts that the newest writes changed, one row each (docs/decisions/0029). Versions follow each other:
 * a lost row is missed.
 */
export const changes = dataset({
  name: 'changes',
  columns: {
    version: 'integer',
    /** A `ChangedParts` (`store/changes.ts`); null: anything may have changed. */
    parts: 'json null',
  },
  key: ['version'],
  keptAsTheyCome: true,
});

/** Callers' keys: only their hashes (contract 7.3). */
export const apiKeys = dataset({
  name: 'api_keys',
  columns: {
    key_id: 'text',
    name: 'text',
    hash: 'bytes',
    created_ms: 'instant',
    expires_ms: 'instant null',
    per_minute: 'integer null',
    per_day: 'integer null',
    revoked_ms: 'instant null',
    /** The last accepted request, at most a minute behind while a service runs. Null: none yet. */
    last_used_ms: 'instant null',
    /** Its requests are answered as of this instant (contract 9.8). Null: from everything that is stored. */
    as_of_ms: 'instant null',
    /** The endpoints that it may ask (contract 7.6). Null: a key from before there were scopes, `data`. */
    scope: 'text null',
  },
  key: ['key_id'],
});

/** The use of quotas in the minute or day that begins at `from_ms`; the row of the next one replaces it. */
export const quotaUses = dataset({
  name: 'quota_uses',
  /** `span` is `minute` or `day`. */
  columns: { key_id: 'text', span: 'text', from_ms: 'instant', used: 'integer' },
  key: ['key_id', 'span'],
});

export const secrets = dataset({
  name: 'secrets',
  columns: { name: 'text', value: 'bytes' },
  key: ['name'],
});

/**
 * The newest reading of the whole store (`bourse serve`): what it found damaged, as it goes on and at its
 * end.
 */
export const scrubs = dataset({
  name: 'scrubs',
  columns: {
    /** `newest`: there is one row. */
    name: 'text',
    started_ms: 'instant',
    /** Null while it goes on, or where it was cut off. */
    finished_ms: 'instant null',
    /** A list of `Damage`. */
    damage: 'json',
  },
  key: ['name'],
});

/** The newest check of the whole store (`bourse check`): how many findings it had of each severity. */
export const checks = dataset({
  name: 'checks',
  columns: {
    /** `newest`: there is one row. */
    name: 'text',
    checked_ms: 'instant',
    /** The newest run of the store that was checked, and when it began: a store without it is another one. */
    run_id: 'integer',
    run_started_ms: 'instant',
    data_version: 'integer',
    error: 'integer',
    warning: 'integer',
    info: 'integer',
  },
  key: ['name'],
});

/** The records beside the data. */
export const dataRecords: readonly Dataset[] = [
  ...[importRuns, blockChanges, heldBars, rowChanges, heldRows],
  ...[counters, failedFiles, changes, formerRows],
];

/** The datasets of the control file beside the store. */
export const controlDatasets: readonly Dataset[] = [apiKeys, secrets, quotaUses, scrubs, checks];
