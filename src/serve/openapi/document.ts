// The OpenAPI 3.1 document, derived from the contract alone (contract 9.3).
import { barRecord } from '../../contract/bars.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { errorEnvelope } from '../../contract/envelope.ts';
import { allEndpoints } from '../../contract/index.ts';
import type { Parameter } from '../../contract/parameter.ts';
import { answersOf, headers, notModified, sharedAnswers } from './responses.ts';
import { type Json, partialBar, plainSchema, recordName } from './schema.ts';

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
