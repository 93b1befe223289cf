// What the service keeps of itself: runs, what they changed, and counters beside the data; keys and secrets in the control file.
import { bytes, dataset, instant, integer, json, orNull, text } from './dataset.ts';

export const importRuns = dataset({
  name: 'import_runs',
  columns: {
    run_id: integer,
    /** `import` or `delete`. */
    kind: text,
    dataset: text,
    /** The file's name; of a deletion what was asked for, in words. */
    file: text,
    /** Of the file; empty for a deletion. */
    sha256: text,
    source: orNull(text),
    rows_read: integer,
    rows_written: integer,
    rows_unchanged: integer,
    rows_refused: integer,
    started_ms: instant,
    finished_ms: instant,
    /** When the run was taken back. */
    undone_ms: orNull(instant),
  },
  key: ['run_id'],
});

/**
 * What a run found in a block before it changed it (docs/decisions/0009): of each bar that it changed the state before, and
 * of no other. Runs that were taken back have none.
 */
export const blockChanges = dataset({
  name: 'block_changes',
  columns: {
    series_id: integer,
    bucket: integer,
    run_id: integer,
    /** A block whose keys were absent. Null: no block was there, so that the run has brought what no later run added. */
    added: orNull(bytes),
    /** A block of the bars that the run replaced or removed; null where there are none. */
    before: orNull(bytes),
  },
  key: ['series_id', 'bucket', 'run_id'],
  indexes: [['run_id', 'series_id', 'bucket']],
});

/** What a run found of a row before it changed it; null where there was none. The key is the JSON of the key's values. */
export const rowChanges = dataset({
  name: 'row_changes',
  columns: { dataset: text, row_key: text, run_id: integer, before: orNull(json) },
  key: ['dataset', 'row_key', 'run_id'],
  indexes: [['run_id', 'dataset', 'row_key']],
});

/** Last values given out: identifiers are never reused; `data_version` advances with every run and its undoing. */
export const counters = dataset({
  name: 'counters',
  columns: { name: text, value: integer },
  key: ['name'],
});

/** Keys of callers: hashes alone (contract 7.3). */
export const apiKeys = dataset({
  name: 'api_keys',
  columns: {
    key_id: text,
    name: text,
    hash: bytes,
    created_ms: instant,
    expires_ms: orNull(instant),
    per_minute: orNull(integer),
    per_day: orNull(integer),
    revoked_ms: orNull(instant),
  },
  key: ['key_id'],
});

/** What keys have used of their quotas: of the minute or day that begins at `from_ms`; the next one's row takes its place. */
export const quotaUses = dataset({
  name: 'quota_uses',
  columns: {
    key_id: text,
    /** `minute` or `day`. */
    span: text,
    from_ms: instant,
    used: integer,
  },
  key: ['key_id', 'span'],
});

export const secrets = dataset({
  name: 'secrets',
  columns: { name: text, value: bytes },
  key: ['name'],
});
