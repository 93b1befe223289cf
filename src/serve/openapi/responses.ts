// The responses of an operation: its success in each format, and the errors by status (contract 5, 6).
import { bulkTypes } from '../../contract/bars.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { type ErrorWord, errors } from '../../contract/errors.ts';
import { dataVersion } from '../../contract/fields.ts';
import { errorBody } from '../../queries/render/envelope.ts';
import { csvCell } from '../../queries/render/sink.ts';
import { answerOf, type Json, recordExample, recordName, ref } from './schema.ts';

/** The errors that every request can get. */
const ofEvery: readonly ErrorWord[] = [
  ...(['missing_key', 'invalid_key', 'forbidden', 'timeout', 'uri_too_long', 'rate_limited'] as const),
  ...(['headers_too_large', 'internal', 'unavailable'] as const),
];

/** The errors that an endpoint's own parameters and data can cause. */
function ownWords({ parameters, refusals = [] }: Endpoint): ErrorWord[] {
  return [
    ...(Object.keys(parameters).length > 0 ? (['invalid_parameter'] as const) : []),
    ...('interval' in parameters ? (['unknown_interval'] as const) : []),
    ...('next_page_key' in parameters ? (['invalid_page_key'] as const) : []),
    'bad_request',
    ...refusals,
  ];
}

const byStatus = (words: readonly ErrorWord[]): [status: number, words: ErrorWord[]][] => [
  ...Map.groupBy(words, (word) => errors[word].status),
];

/** Headers of every answer of an endpoint. */
const ofEveryAnswer = ['X-Request-Id', 'X-Ignored-Parameters'];

const headerRefs = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, ref('headers', name)]));

const EXAMPLE_REQUEST_ID = '5f0c1e9a-7c1b-4a52-9d0e-2f6f0a1b3c4d';

function errorAnswer(words: readonly ErrorWord[], headers: Json): Json {
  const examples = words.map((word) => {
    const message = errors[word].meaning;
    return [word, { summary: message, value: errorBody(word, { message }, EXAMPLE_REQUEST_ID) }];
  });
  return {
    description: words.map((word) => `\`${word}\`: ${errors[word].meaning}`).join('\n\n'),
    headers: { ...headerRefs(...ofEveryAnswer), ...headers },
    content: {
      'application/json': { schema: ref('schemas', 'Error'), examples: Object.fromEntries(examples) },
    },
  };
}

const retryAfter = { 'Retry-After': ref('headers', 'Retry-After') };

/** The answers that every operation shares, by name. */
export function sharedAnswers(): Json {
  const answers = byStatus(ofEvery).map(([status, words]) => [
    `Error${status}`,
    errorAnswer(words, status === 429 || status === 503 ? retryAfter : {}),
  ]);
  return Object.fromEntries(answers);
}

const text = (description: string): Json => ({ description, schema: { type: 'string' } });
const integer = (description: string): Json => ({ description, schema: { type: 'integer' } });

/** The headers that answers name. */
export const headers: Json = {
  'X-Request-Id': text("The request's id: the caller's own, or a new one"),
  'X-Count': integer('Records of the answer'),
  'X-Data-Version': {
    description:
      'The version of the stored data: every import, deletion and undo raises it; after a restore or a copy it continues with the Unix milliseconds of that moment',
    schema: dataVersion(),
  },
  'X-As-Of': text(
    'The moment of the answer: `as_of` of the request, or that of a pinned key; absent without one',
  ),
  'X-As-Of-Limits': text(
    'Fields without a history: they have their current values, such as `forecasts`; absent if there are none',
  ),
  'X-Ignored-Parameters': text(
    'Query parameters that the endpoint does not know, each with the one that is likely meant: `adjst (adjust?)`; absent if all are known',
  ),
  'X-Symbol-History': text(
    'Other instruments that had the symbol within the range: `FB was META from 2012-05-18 to 2022-06-08; this answer has FB`; absent if there are none',
  ),
  'X-Adjust-Incomplete': text(
    'Actions that adjust the bars by less than they should, each with the reason: `dividend 2025-03-06 (no close before it)`; absent if there are none. in bulk, CSV and Arrow name the symbol after which the list ends',
  ),
  'X-Adjusted-By': text(
    'Actions that adjust the bars and are listed only with `extended=true`: `spinoff 2025-03-04`; absent if there are none',
  ),
  'X-No-Data': text(
    'Why a list of bars is empty: `finest stored interval is DAY`; for many instruments, why those in `missing` have none; absent if there are bars',
  ),
  'X-Missing-Symbols': text(
    '`missing`, separated by commas, up to 2,000 characters: `US:A,US:B`; absent if it is empty',
  ),
  'X-Adjusted-Contracts': integer(
    'Contracts of the whole search that a corporate action adjusted and that are left out without `adjusted=true`; absent if there are none',
  ),
  'X-Next-Page-Key': text('Key of the next page; absent on the last'),
  Link: text('`<address of the next page>; rel="next"`; absent on the last'),
  'Content-Range': text('The returned bytes and the size: `bytes 0-99/1234`'),
  ETag: text('Tag of the answer, for `If-None-Match`'),
  'RateLimit-Limit': integer("Requests of the key's quota"),
  'RateLimit-Remaining': integer('Requests that are left of the quota'),
  'RateLimit-Reset': integer('Seconds until the quota begins again'),
  'Retry-After': integer('Seconds to wait before the next request'),
};

/** Headers of data; those of quotas only where the key has one (contract 7.5). */
const ofSuccess = [
  ...[
    ...ofEveryAnswer,
    'ETag',
    'X-Data-Version',
    'X-As-Of',
    'X-As-Of-Limits',
    'RateLimit-Limit',
    'RateLimit-Remaining',
    'RateLimit-Reset',
  ],
];

/** The answer to a caller that holds the data already (contract 9.7). */
export const notModified: Json = {
  description: 'The answer still has the tag of `If-None-Match`.',
  headers: headerRefs(...ofSuccess, 'X-Next-Page-Key'),
};

/** A record as CSV, with its header. */
export function csvExample(record: Json): string {
  const cells = Object.values(record).map((value) =>
    value === null || typeof value === 'string' ? csvCell(value) : JSON.stringify(value),
  );
  return `${Object.keys(record).join()}\r\n${cells.join()}\r\n`;
}

/** Lists that find an instrument by the symbol that it had within their range (contract 9.6). */
const isByFormerSymbol = ({ tag, parameters, refusals = [] }: Endpoint): boolean =>
  'from_date' in parameters && refusals.includes('unknown_instrument') && tag !== 'holidays';

function success(endpoint: Endpoint): Json {
  const adjusted = 'adjust' in endpoint.parameters ? ['X-Adjust-Incomplete', 'X-Adjusted-By'] : [];
  const ofData = [
    ...ofSuccess,
    ...(recordName(endpoint) === 'Bar' ? ['X-No-Data'] : []),
    ...(endpoint.beside?.missing ? ['X-Missing-Symbols'] : []),
    ...adjusted,
    ...(isByFormerSymbol(endpoint) ? ['X-Symbol-History'] : []),
    ...(endpoint.shape === 'grouped' ? ['X-Adjusted-Contracts'] : []),
  ];
  const name = `${recordName(endpoint)} (${endpoint.shape})`;
  const json = { 'application/json': answerOf(endpoint) };
  if (!('format' in endpoint.parameters))
    return { description: name, headers: headerRefs(...ofData), content: json };
  const paged = 'next_page_key' in endpoint.parameters ? ['X-Next-Page-Key', 'Link'] : [];
  const csv = { schema: { type: 'string' }, example: csvExample(recordExample(endpoint)) };
  if (endpoint.isStreamed) {
    const headers = headerRefs(...ofSuccess, 'X-No-Data', ...adjusted);
    const binary = (endpoint.binaryTypes ?? []).map((type) => [type, {}]);
    const content = { 'text/csv': csv, ...Object.fromEntries(binary) };
    return { description: `${recordName(endpoint)} (streamed)`, headers, content };
  }
  return {
    description: `${name}. With \`format=csv\` and an \`Accept\` that names JSON alone, \`result.data\` is the CSV text.`,
    headers: headerRefs(...ofData, 'X-Count', ...paged),
    content: { ...json, 'text/csv': csv },
  };
}

/** The answer to `Range` (contract 9.11). */
const partAnswer: Json = {
  description: 'A part of a file, for `Range`; only with `format=parquet`.',
  headers: headerRefs(...ofSuccess, 'Content-Range'),
  content: { [bulkTypes.parquet]: {} },
};

/** The answers of one operation by status. */
export function answersOf(endpoint: Endpoint): Json {
  const own = byStatus(ownWords(endpoint)).map(([status, words]) => [status, errorAnswer(words, {})]);
  const shared = byStatus(ofEvery).map(([status]) => [status, ref('responses', `Error${status}`)]);
  const failures = Object.fromEntries([...own, ...shared]);
  const part = endpoint.isStreamed ? { 206: partAnswer } : {};
  return { 200: success(endpoint), ...part, 304: ref('responses', 'NotModified'), ...failures };
}
