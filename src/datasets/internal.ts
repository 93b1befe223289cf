// What the service keeps of itself: import runs and counters beside the data; keys and secrets in the control file.
import { bytes, dataset, instant, integer, orNull, text } from './dataset.ts';

export const importRuns = dataset({
  name: 'import_runs',
  columns: {
    run_id: integer,
    dataset: text,
    file: text,
    sha256: text,
    source: orNull(text),
    rows_read: integer,
    rows_written: integer,
    rows_unchanged: integer,
    rows_refused: integer,
    started_ms: instant,
    finished_ms: instant,
  },
  key: ['run_id'],
});

/** Last values given out: identifiers are never reused; `data_version` advances once an import. */
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

export const secrets = dataset({
  name: 'secrets',
  columns: { name: text, value: bytes },
  key: ['name'],
});
