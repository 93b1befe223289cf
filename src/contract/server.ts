// The service about itself: the runs that its data come from (contract 9.12), its address and version
// (contract 9.14), and its state for whoever operates it (contract 7.6).
import { anotherTime, endpoint, formats, limit, nextPageKey, pastMoment, scopes, sort } from './endpoint.ts';
import {
  boolean,
  dataVersion,
  dateTime,
  integer,
  list,
  nullable,
  object,
  oneOf,
  record,
  text,
} from './fields.ts';
import { listLimits } from './limits.ts';

/** One import or deletion on the wire. */
const runRecord = record('Run', {
  run: [integer('Number of the run'), 12],
  kind: [oneOf(['import', 'delete'], 'What the run did'), 'import'],
  dataset: [text('What it imported or deleted'), 'bars'],
  file: [text('Name of the file; for a deletion its request in words'), 'aapl-2025-03.csv'],
  rows: [integer('Rows that it wrote or removed'), 390],
  finished_at: [dateTime('When it ended, UTC'), '2025-03-03T21:30:00+00:00'],
  undone: [boolean('Whether it was undone since'), false],
  data_version: [nullable(dataVersion('Version of the store after it; null if not recorded')), 40],
});

export const runs = endpoint({
  path: '/api/v2/server/runs',
  tag: 'server',
  summary: 'The imports and deletions that the data come from',
  parameters: {
    sort: sort('asc', 'the order of the runs by their number'),
    limit: limit(listLimits.runs, 'runs'),
    ...formats('json'),
    next_page_key: nextPageKey,
    ...anotherTime,
  },
  record: runRecord,
  shape: 'paged',
  extension: true,
});

/** A service on the wire. */
const addressRecord = record('AddressInfo', {
  base_address: [text('The address that every path is appended to'), 'https://data.example.com/bourse'],
  version: [text('The version of the program'), '1.0.0'],
});

export const addressInfo = endpoint({
  path: '/api/v2/server/address_info',
  tag: 'server',
  summary: 'The base address and the version of the service',
  parameters: pastMoment,
  record: addressRecord,
  shape: 'single',
  extension: true,
});

/** A number of bytes: a disk has more than 32 bits of them. */
const byteCount = (description: string) => integer(description, { format: 'int64', minimum: 0 });

/** An import or deletion, with the rows of a file that it did not write. */
const stateOfRun = object({
  run: integer('Number of the run'),
  kind: oneOf(['import', 'delete'], 'What the run did'),
  dataset: text('What it imported or deleted'),
  file: text('Name of the file; for a deletion its request in words'),
  rows_read: integer('Rows that it read'),
  rows_written: integer('Rows that it wrote or removed'),
  rows_unchanged: integer('Rows that were stored already'),
  rows_refused: integer('Rows that it refused'),
  started_at: dateTime('When it began, UTC'),
  finished_at: dateTime('When it ended, UTC'),
  undone: boolean('Whether it was undone since'),
});

/** A file of a watched folder: it stays listed until it is imported, or gone. */
const failedFile = object({
  dataset: text('What was to be imported'),
  path: text('The file'),
  problem: text('Why it was not imported completely'),
  failed_at: dateTime('When, UTC'),
});

/** A key as `bourse keys list --json` prints it, and what counts for its quotas. */
const stateOfKey = object({
  id: text('The id that `bourse keys` takes'),
  name: text('Who uses the key'),
  scope: oneOf(scopes, 'The endpoints that it may use'),
  state: oneOf(['live', 'expired', 'revoked'], 'Whether it is valid'),
  created: dateTime('When it was created, UTC'),
  last_used: nullable(dateTime('Time of its last request, UTC, at most a minute late; null if none')),
  expires: nullable(dateTime('When it expires, UTC; null if it does not')),
  per_minute: nullable(integer('Requests that it may make in a minute; null without a quota')),
  per_day: nullable(integer('Requests that it may make in a day (UTC); null without a quota')),
  as_of: nullable(dateTime('The instant that it is pinned to; null if it is not')),
  revoked: nullable(dateTime('When it was revoked, UTC; null if it was not')),
  used_this_minute: nullable(integer('Requests of this minute, up to a second late; null without quota')),
  used_today: nullable(integer('Requests of today (UTC), up to a second late; null without quota')),
});

/** Of a part that the service cannot read now there is null. */
const stateRecord = record('ServiceState', {
  health: [
    object(
      {
        ready: boolean('Whether it answers requests for data'),
        problem: nullable(text('Why it does not')),
        damaged: list(text(), 'Damaged parts of the store'),
      },
      { description: 'Whether the service can answer' },
    ),
    { ready: true, problem: null, damaged: [] },
  ],
  versions: [
    object(
      {
        program: text('Version of the program'),
        layout: integer('Layout of the store'),
        data_version: nullable(dataVersion('Version of the stored data')),
      },
      { description: 'What it is, and which data it has' },
    ),
    { program: '1.0.0', layout: 16, data_version: 40 },
  ],
  disk: [
    object(
      {
        store_bytes: nullable(byteCount('Bytes of the store')),
        free_bytes: nullable(byteCount('Free bytes on the disk of the store; null if on another machine')),
      },
      { description: 'Size of the store, and free disk space' },
    ),
    { store_bytes: 5_242_880, free_bytes: 107_374_182_400 },
  ],
  findings: [
    nullable(
      object(
        {
          checked_at: dateTime('When `bourse check` read the whole store, UTC'),
          data_version: dataVersion('Version of the data that it read'),
          info: integer('Findings of the severity `info`'),
          warning: integer('Findings of the severity `warning`'),
          error: integer('Findings of the severity `error`'),
        },
        { description: 'Number of findings in the newest check of the whole store; null before the first' },
      ),
    ),
    { checked_at: '2025-03-04T02:00:00+00:00', data_version: 40, info: 3, warning: 1, error: 0 },
  ],
  runs: [nullable(list(stateOfRun, 'The newest imports and deletions, newest first')), []],
  failed_files: [
    nullable(list(failedFile, 'Files of watched folders that were not imported completely')),
    [],
  ],
  failed_count: [nullable(integer('How many such files there are')), 0],
  keys: [nullable(list(stateOfKey, 'The keys, newest first, without their secrets')), []],
});

export const operateStatus = endpoint({
  path: '/api/v2/operate/status',
  tag: 'operate',
  summary: 'The state of the service: imports, findings, keys, disk, versions, health',
  parameters: {},
  record: stateRecord,
  shape: 'single',
  scope: 'operate',
  extension: true,
});
