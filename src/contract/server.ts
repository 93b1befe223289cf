// The service about itself: the runs that its data come from (contract 9.12), its address and version
// (contract 9.14).
import { endpoint } from './endpoint.ts';
import { boolean, dataVersion, dateTime, integer, nullable, oneOf, record, text } from './fields.ts';
import { listLimits } from './limits.ts';
import { anotherTime, formats, limit, nextPageKey, pastMoment, sort } from './parameter.ts';

/** One import or deletion on the wire. */
const runRecord = record('Run', {
  run: [integer('Number of the run'), 12],
  kind: [oneOf(['import', 'delete'], 'What the run did'), 'import'],
  dataset: [text('What it imported or deleted'), 'bars'],
  file: [text('Name of the file; of a deletion its request, in words'), 'aapl-2025-03.csv'],
  rows: [integer('Rows that it wrote or removed'), 390],
  finished_at: [dateTime('When it ended, UTC'), '2025-03-03T21:30:00+00:00'],
  undone: [boolean('Whether it was undone since'), false],
  data_version: [
    nullable(dataVersion('Version of the store with what it wrote; null where it was not recorded yet')),
    40,
  ],
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
