// The OpenAPI 3.1 document, derived from the contract alone (contract 9.3), with declared schemas and the
// answers made of records (spec 2.1, 2.2), and the responses of each operation: its success in each format,
// and the errors by status (contract 5, 6).
import { barRecord, bulkTypes } from '../../contract/bars.ts';
import type { Endpoint, Parameter } from '../../contract/endpoint.ts';
import { type ErrorWord, errorEnvelope, errors } from '../../contract/errors.ts';
import { dataVersion } from '../../contract/fields.ts';
import { allEndpoints } from '../../contract/index.ts';
import { errorBody } from '../../queries/render/list.ts';
import { csvCell } from '../../queries/render/sink.ts';

/** A part of the document: JSON Schema of draft 2020-12, or an object of OpenAPI. */
type Json = Readonly<Record<string, unknown>>;

/** The parts of JSON Schema that the contract uses. */
export type PlainSchema = Json & {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly format?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly items?: PlainSchema;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
};

/** A reference to a component of the document. */
const ref = (kind: string, name: string): Json => ({ $ref: `#/components/${kind}/${name}` });

/**
 * A schema without the parts that only code needs. A value or null becomes one type: client generators handle
 * that better.
 */
export function plainSchema(schema: unknown): PlainSchema {
  return simpler(JSON.parse(JSON.stringify(schema))) as PlainSchema;
}

function simpler(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simpler);
  if (typeof node !== 'object' || node === null) return node;
  const { anyOf, ...rest } = node as { anyOf?: readonly Json[] };
  if (anyOf?.length === 2 && anyOf[1]?.type === 'null')
    return { ...orNull(simpler(anyOf[0]) as Json), ...rest };
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, key === 'examples' ? value : simpler(value)]),
  );
}

function orNull(schema: Json): Json {
  if ('enum' in schema) return { ...schema, enum: [...(schema.enum as unknown[]), null] };
  return { ...schema, type: [schema.type, 'null'] };
}

/** The name of an endpoint's record among the document's schemas. */
const recordName = ({ record }: Endpoint): string => (record as { title?: string }).title!;

/** Bars with other fields or times than the record: for `columns` and `timestamps` (contract 9.16). */
const PARTIAL_BAR = 'PartialBar';

/** The schema of such bars, by its name. */
function partialBar({ properties }: PlainSchema): Json {
  const instant = (field: PlainSchema): PlainSchema =>
    field.format === 'date-time' ? { ...field, type: ['string', 'integer'] } : field;
  const description =
    'A bar with the fields of `columns`; its instants are numbers with `timestamps` `unix` or `unix_ms`.';
  const fields = Object.entries(properties!).map(([name, field]) => [name, instant(field)]);
  return { [PARTIAL_BAR]: { type: 'object', description, properties: Object.fromEntries(fields) } };
}

/** The record's example. */
export const recordExample = ({ record }: Endpoint): Json =>
  (record as { examples?: readonly Json[] }).examples![0]!;

const count = { type: 'integer', minimum: 0, description: 'Records of this answer' };
const orNoText = (description: string): Json => ({ type: ['string', 'null'], description });
const paging = {
  next_page_key: orNoText('Key of the next page, null on the last'),
  next_page_url: orNoText('Whole address of the next page, null on the last'),
};
const examplePaging = { next_page_key: null, next_page_url: null };

const object = (properties: Json): Json => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});

type Example = { readonly schema: Json; readonly example: unknown };

/** `result` of an endpoint, and an example of it. */
function resultOf(endpoint: Endpoint): Example {
  const whole = ref('schemas', recordName(endpoint));
  const record = 'columns' in endpoint.parameters ? { anyOf: [whole, ref('schemas', PARTIAL_BAR)] } : whole;
  const one = recordExample(endpoint);
  const data = { type: 'array', items: record };
  const { beside = {} } = endpoint;
  const list = {
    count: 1,
    data: [one],
    ...Object.fromEntries(Object.keys(beside).map((name) => [name, []])),
  };
  switch (endpoint.shape) {
    case 'single':
    case 'map':
      return { schema: record, example: one };
    case 'array':
      return { schema: data, example: [one] };
    case 'list':
      return { schema: object({ count, data, ...plainSchema(beside) }), example: list };
    case 'paged':
      return { schema: object({ ...paging, count, data }), example: { ...examplePaging, ...list } };
    case 'grouped': {
      const expires = String(one.expiration_datetime).replace('+00:00', 'Z');
      const expirations = { type: 'array', items: { type: 'string', format: 'date-time' } };
      const description = 'Expiration to contracts';
      const groups = { type: 'object', additionalProperties: data, description };
      return {
        schema: object({ count, ...paging, expiration_datetimes: expirations, data: groups }),
        example: { count: 1, ...examplePaging, expiration_datetimes: [expires], data: { [expires]: [one] } },
      };
    }
  }
}

/** The envelope of an endpoint's answers (spec 2.1), and an example of it. */
export function answerOf(endpoint: Endpoint): Example {
  const { schema: result, example } = resultOf(endpoint);
  const description = '`cached` if the record came from the cache of the server';
  return {
    schema: object({
      status: { const: 'ok' },
      code: { const: 200 },
      message: { type: 'string' },
      reference: { enum: ['cached', null], description },
      result,
    }),
    example: { status: 'ok', code: 200, message: 'success', reference: null, result: example },
  };
}

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
function sharedAnswers(): Json {
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
    'Actions that adjust the bars by less than they should, each with the reason: `dividend 2025-03-06 (no close before it)`; absent if there are none. In bulk, CSV and Arrow name the symbol after which the list ends',
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
const notModified: Json = {
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
function answersOf(endpoint: Endpoint): Json {
  const own = byStatus(ownWords(endpoint)).map(([status, words]) => [status, errorAnswer(words, {})]);
  const shared = byStatus(ofEvery).map(([status]) => [status, ref('responses', `Error${status}`)]);
  const failures = Object.fromEntries([...own, ...shared]);
  const part = endpoint.isStreamed ? { 206: partAnswer } : {};
  return { 200: success(endpoint), ...part, 304: ref('responses', 'NotModified'), ...failures };
}

/** What the areas are about, by the tags of their endpoints. */
const areas: Readonly<Record<string, string>> = {
  reference: 'Instruments: names, hours, terms.',
  'corporate actions': 'Dividends and splits of stocks.',
  news: 'News by time and by instrument.',
  options: 'Option contracts and expirations of an underlying.',
  holidays: 'Closed and shortened days of markets.',
  bars: 'OHLC bars at every interval.',
  'economic calendar': 'Scheduled and published economic events.',
  server: 'The service itself, and the origin of its data.',
  coverage: 'The stored series and sessions.',
  findings: 'What may be wrong with stored data.',
  operate: 'The state of the service, for its operator.',
};

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

/** An example, declared as text, as a value of its schema. */
function exampleOf({ type }: Json, text: string): unknown {
  if (type === 'boolean') return text === 'true';
  return type === 'integer' || type === 'number' ? Number(text) : text;
}

function parameterOf([name, parameter]: [string, Parameter]): Json {
  const { in: place, required, description, example, default: value, emptyAllowed, extension } = parameter;
  const slashes = parameter.slashesAllowed ? ' Slashes of the symbol need no encoding.' : '';
  const schema = plainSchema(parameter.schema);
  return {
    name,
    in: place,
    required,
    description: sentence(description) + slashes,
    schema: { ...schema, default: value },
    example: example === '' ? undefined : exampleOf(schema, example),
    allowEmptyValue: emptyAllowed,
    'x-extension': extension,
  };
}

function operationOf([name, endpoint]: [string, Endpoint]): Json {
  const { tag, summary, extension, keyCharactersMin: least, scope, parameters } = endpoint;
  const description = [
    extension ? 'Beyond the specification.' : '',
    parameters.format?.default === 'csv' ? 'Answers CSV unless the request has `format=json`.' : '',
    least === undefined ? '' : `The key has at least ${least} characters.`,
    scope === undefined ? '' : `The key has the scope \`${scope}\`; every other endpoint refuses it.`,
  ];
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: description.filter((part) => part !== '').join(' ') || undefined,
    'x-extension': extension,
    parameters: Object.entries(parameters).map(parameterOf),
    responses: answersOf(endpoint),
  };
}

const introduction = `Market data over HTTP GET, as JSON or CSV.

Every request carries a key: \`secret_key=<API_KEY>\` in the query, or the header \`Authorization: Bearer <API_KEY>\`.
Every path answers HEAD as GET without the body, and OPTIONS without a key. Unknown query parameters are ignored, and
\`X-Ignored-Parameters\` names them.`;

/** The schema of every error (contract 6.2). */
const errorSchema = plainSchema(errorEnvelope);

/**
 * The document of a service with a base address, to be written as JSON, which leaves undefined values out.
 */
export function openApiDocument(baseUrl: string, version: string): Json {
  const endpoints: readonly [string, Endpoint][] = Object.entries(allEndpoints);
  const tags = [...new Set(endpoints.map(([, { tag }]) => tag))];
  return {
    openapi: '3.1.1',
    info: {
      title: 'Bourse',
      version,
      summary: 'Market data query service',
      description: introduction,
      license: { name: 'Apache 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ secretKey: [] }, { bearer: [] }],
    tags: tags.map((name) => ({ name, description: areas[name] })),
    paths: Object.fromEntries(endpoints.map((entry) => [entry[1].path, { get: operationOf(entry) }])),
    components: {
      securitySchemes: {
        secretKey: { type: 'apiKey', in: 'query', name: 'secret_key', description: 'The key in the query.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The key in the Authorization header.' },
      },
      headers,
      responses: { NotModified: notModified, ...sharedAnswers() },
      schemas: {
        ...Object.fromEntries(endpoints.map(([, one]) => [recordName(one), plainSchema(one.record)])),
        ...partialBar(plainSchema(barRecord)),
        Error: errorSchema,
      },
    },
  };
}
