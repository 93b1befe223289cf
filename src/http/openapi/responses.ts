// The responses of an operation: its success in each format, and the errors by status (contract 5, 6).
import type { Endpoint } from '../../contract/endpoint.ts';
import { errorEnvelope } from '../../contract/envelope.ts';
import { type ErrorWord, errors } from '../../contract/errors.ts';
import { csvCell } from '../../queries/render/csv-cell.ts';
import { errorBody } from '../../queries/render/envelope.ts';
import { answerOf, type Json, plainSchema, recordExample, recordName, ref } from './schema.ts';

/** Errors of any request, whatever it asks for. */
const ofEvery: readonly ErrorWord[] = [
  'missing_key',
  'invalid_key',
  'timeout',
  'uri_too_long',
  'rate_limited',
  'headers_too_large',
  'internal',
  'unavailable',
];

/** The words that an endpoint's own parameters and data may call for. */
function ownWords({ parameters, refusals = [] }: Endpoint): ErrorWord[] {
  return [
    'invalid_parameter',
    ...('interval' in parameters ? (['unknown_interval'] as const) : []),
    ...('next_page_key' in parameters ? (['invalid_page_key'] as const) : []),
    'bad_request',
    ...refusals,
  ];
}

const byStatus = (words: readonly ErrorWord[]): Map<number, ErrorWord[]> =>
  Map.groupBy(words, (word) => errors[word].status);

const EXAMPLE_REQUEST_ID = '5f0c1e9a-7c1b-4a52-9d0e-2f6f0a1b3c4d';

function errorAnswer(words: readonly ErrorWord[], headers: Json): Json {
  const examples = words.map((word) => {
    const { meaning } = errors[word];
    return [word, { summary: meaning, value: errorBody(word, { message: meaning }, EXAMPLE_REQUEST_ID) }];
  });
  return {
    description: words.map((word) => `\`${word}\`: ${errors[word].meaning}`).join('\n\n'),
    headers: { 'X-Request-Id': ref('headers', 'X-Request-Id'), ...headers },
    content: {
      'application/json': { schema: ref('schemas', 'Error'), examples: Object.fromEntries(examples) },
    },
  };
}

const statusName = (status: number): string => `Error${status}`;

const retryAfter = { 'Retry-After': ref('headers', 'Retry-After') };

/** The answers that every operation shares, by name. */
export function sharedAnswers(): Json {
  return Object.fromEntries(
    [...byStatus(ofEvery)].map(([status, words]) => [
      statusName(status),
      errorAnswer(words, status === 429 || status === 503 ? retryAfter : {}),
    ]),
  );
}

/** The headers that answers name. */
export const headers: Json = {
  'X-Request-Id': {
    description: "The request's id: the caller's own, or a new one",
    schema: { type: 'string' },
  },
  'X-Count': { description: 'Records of the answer', schema: { type: 'integer' } },
  'X-Next-Page-Key': { description: 'Key of the next page; absent on the last', schema: { type: 'string' } },
  Link: {
    description: '`<address of the next page>; rel="next"`; absent on the last',
    schema: { type: 'string' },
  },
  ETag: {
    description: 'Tag of the answer, for `If-None-Match`',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': { description: "Requests of the key's quota", schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests that are left of it', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until it begins anew', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds after which to ask again', schema: { type: 'integer' } },
};

const headerRefs = (...names: readonly string[]): Json =>
  Object.fromEntries(names.map((name) => [name, ref('headers', name)]));

/** Headers of data; those of quotas only where the key has one (contract 7.5). */
const ofSuccess = ['X-Request-Id', 'ETag', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** The answer to a caller that holds the data already (contract 9.7). */
export const notModified: Json = {
  description: 'What `If-None-Match` names is still the answer.',
  headers: headerRefs(...ofSuccess),
};

function csvExample(endpoint: Endpoint): string {
  const record = recordExample(endpoint);
  const cells = Object.values(record).map((value) =>
    value === null || typeof value === 'string' ? csvCell(value) : JSON.stringify(value),
  );
  return `${Object.keys(record).join()}\r\n${cells.join()}\r\n`;
}

function success(endpoint: Endpoint): Json {
  const name = `${recordName(endpoint)} (${endpoint.shape})`;
  const { schema, example } = answerOf(endpoint);
  const json = { 'application/json': { schema, example } };
  if (!('format' in endpoint.parameters))
    return { description: name, headers: headerRefs(...ofSuccess), content: json };
  const paged = endpoint.shape === 'paged' ? ['X-Next-Page-Key', 'Link'] : [];
  return {
    description: `${name}. With \`format=csv\` and an \`Accept\` that names JSON alone, \`result.data\` is the CSV text.`,
    headers: headerRefs(...ofSuccess, 'X-Count', ...paged),
    content: { ...json, 'text/csv': { schema: { type: 'string' }, example: csvExample(endpoint) } },
  };
}

/** The answers of one operation by status. */
export function answersOf(endpoint: Endpoint): Json {
  const own = [...byStatus(ownWords(endpoint))].map(([status, words]) => [status, errorAnswer(words, {})]);
  const shared = [...byStatus(ofEvery).keys()].map((status) => [
    status,
    ref('responses', statusName(status)),
  ]);
  return {
    200: success(endpoint),
    304: ref('responses', 'NotModified'),
    ...Object.fromEntries([...own, ...shared]),
  };
}

/** The schema of every error (contract 6.2). */
export const errorSchema = plainSchema(errorEnvelope);
