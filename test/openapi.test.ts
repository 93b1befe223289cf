// The OpenAPI document: lint-clean, whole, and the same from the command line and the service (contract 9.3).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { fieldsOf } from '../src/contract/endpoint.ts';
import { allEndpoints, contract, type Endpoint } from '../src/contract/index.ts';
import { type Server, Workshop } from './service.ts';

type Schema = { readonly [keyword: string]: unknown; readonly properties?: Record<string, Schema> };
type Content = Record<string, { schema: Schema; example?: unknown; examples?: Record<string, unknown> }>;
type Parameter = {
  name: string;
  in: string;
  required: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
  'x-extension'?: true;
};
type Operation = {
  operationId: string;
  tags: string[];
  'x-extension'?: true;
  parameters: Parameter[];
  responses: Record<string, { $ref?: string; content?: Content; headers?: Record<string, unknown> }>;
};
type Document = {
  openapi: string;
  info: { version: string };
  servers: { url: string }[];
  tags: { name: string }[];
  paths: Record<string, { get: Operation }>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { schema: Schema }>;
    responses: Record<string, { content: Content }>;
  };
};

const shop = new Workshop();
let server: Server;
let printed = '';
let document: Document;
before(async () => {
  server = await shop.serve();
  printed = await shop.must('openapi');
  document = JSON.parse(printed) as Document;
});
after(() => shop.close());

const operations = (): Operation[] => Object.values(document.paths).map(({ get }) => get);
const endpoints: readonly [name: string, endpoint: Endpoint][] = Object.entries(allEndpoints);

test("Redocly's recommended rules find nothing in the document, examples included, without a waiver", async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: printed, config });
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`),
    [],
  );
  const broken = JSON.stringify({ ...document, paths: { '/x': { get: { operationId: 'x' } } } });
  assert.notDeepEqual(await lintFromString({ source: broken, config }), [], 'the rules do judge');
});

test('the service gives the same document, with the address that it was reached by (contract 4.3, 9.3)', async () => {
  const answer = await server.get('/openapi.json');
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('Content-Type')!, /^application\/json/);
  const served = (await answer.text()).replace(JSON.stringify(server.url), '"http://127.0.0.1:8080"');
  assert.equal(served, JSON.stringify(document));
});

test('who holds the document, or the page of it, is told that it is still so (RFC 9110, 15.4.5)', async () => {
  for (const path of ['/openapi.json', '/docs/endpoints.html']) {
    const tag = (await server.get(path)).headers.get('ETag')!;
    const again = await server.get(path, { headers: { 'If-None-Match': tag } });
    assert.deepEqual([again.status, await again.text()], [304, ''], path);
  }
});

test('the document of the command line names the public address that is configured', async () => {
  const own = JSON.parse(
    await shop.must('openapi', '--public-url', 'https://data.example.com/bourse/'),
  ) as Document;
  assert.deepEqual(own.servers, [{ url: 'https://data.example.com/bourse' }]);
});

test('every endpoint is an operation with its name, its area and its mark as an extension (contract 9)', () => {
  assert.deepEqual(
    Object.keys(document.paths),
    endpoints.map(([, { path }]) => path),
  );
  for (const [name, endpoint] of endpoints) {
    const { operationId, tags, 'x-extension': mark } = document.paths[endpoint.path]!.get;
    assert.deepEqual([operationId, tags, mark], [name, [endpoint.tag], endpoint.extension]);
  }
  const described = document.tags.map(({ name }) => name);
  assert.deepEqual(described, [...new Set(endpoints.map(([, { tag }]) => tag))]);
});

test('every parameter is there with place, need, default, bounds, words and an example (spec 4, contract 4.4)', () => {
  for (const [name, endpoint] of endpoints) {
    const { parameters } = document.paths[endpoint.path]!.get;
    assert.deepEqual(
      parameters.map((one) => one.name),
      Object.keys(endpoint.parameters),
      name,
    );
    for (const { name: parameter, ...said } of parameters) {
      const declared = endpoint.parameters[parameter]!;
      const where = `${name} ${parameter}`;
      assert.deepEqual([said.in, said.required], [declared.in, declared.required], where);
      assert.deepEqual(said.schema.default, declared.default, where);
      assert.equal(said['x-extension'], declared.extension, where);
      assert.ok(said.description.endsWith('.'), where);
      if (declared.example !== '') assert.equal(String(said.example), declared.example, where);
    }
  }
  const bars = document.paths[contract.historicalBars.path]!.get.parameters;
  const schemaOf = (name: string) => bars.find((one) => one.name === name)!.schema;
  assert.deepEqual(schemaOf('limit'), { type: 'integer', minimum: 1, maximum: 1000, default: 150 });
  assert.deepEqual(schemaOf('sort'), { enum: ['asc', 'desc'], default: 'asc' });
});

test('versions of the data have 64 bits, wherever the document names them: a moment in milliseconds is no int32 (contract 9.12)', () => {
  const version = { type: 'integer', format: 'int64', minimum: 0 };
  const parameters = endpoints.flatMap(([, { path }]) =>
    document.paths[path]!.get.parameters.filter(({ name }) => name === 'data_version'),
  );
  assert.equal(parameters.length, endpoints.length - 2, 'all but the address and the state of the service');
  for (const { schema } of parameters) assert.deepEqual(schema, version);
  const { headers, schemas } = document.components;
  assert.deepEqual(headers['X-Data-Version']!.schema, version);
  const { description: _, ...ofRun } = schemas.Run!.properties!.data_version!;
  assert.deepEqual(ofRun, { ...version, type: ['integer', 'null'] });
});

test('an endpoint with a format answers JSON and CSV, whose header is its record (contract 5.1)', () => {
  for (const [name, endpoint] of endpoints) {
    const content = document.paths[endpoint.path]!.get.responses['200']!.content!;
    const json = endpoint.isStreamed ? [] : ['application/json'];
    const types =
      'format' in endpoint.parameters ? [...json, 'text/csv', ...(endpoint.binaryTypes ?? [])] : json;
    assert.deepEqual(Object.keys(content), types, name);
    const csv = content['text/csv']?.example as string | undefined;
    if (csv === undefined) continue;
    const header = csv.split('\r\n')[0]!.split(',');
    const record = endpoint.record as Parameters<typeof fieldsOf>[0];
    const isThere = (field: string): boolean => record.required!.includes(field);
    assert.deepEqual(header, fieldsOf(record).filter(isThere), name);
  }
});

test('every operation names the errors that it may answer, each with an example in the envelope (contract 6.2, 6.3)', () => {
  for (const { operationId, responses } of operations()) {
    const words = Object.entries(responses)
      .filter(([status]) => Number(status) >= 400)
      .flatMap(([status, { $ref, content }]) => {
        const own = content ?? document.components.responses[$ref!.split('/').at(-1)!]!.content;
        const examples = Object.entries(own['application/json']!.examples!) as [
          string,
          { value: { code: number; detail: { error: string } } },
        ][];
        for (const [word, { value }] of examples)
          assert.deepEqual([value.code, value.detail.error], [Number(status), word]);
        return examples.map(([word]) => word);
      });
    for (const word of ['missing_key', 'invalid_key', 'forbidden', 'rate_limited', 'unavailable', 'internal'])
      assert.ok(words.includes(word), `${operationId} ${word}`);
    const { parameters } = allEndpoints[operationId as keyof typeof allEndpoints];
    assert.equal(words.includes('invalid_parameter'), Object.keys(parameters).length > 0, operationId);
    const hasPages = 'next_page_key' in parameters;
    assert.equal(words.includes('invalid_page_key'), hasPages, operationId);
  }
  const wordsOf = (name: keyof typeof contract) =>
    Object.keys(
      document.paths[contract[name].path]!.get.responses['404']?.content?.['application/json']?.examples ??
        {},
    );
  assert.deepEqual(wordsOf('optionSearch'), ['unknown_instrument', 'no_data']);
  assert.deepEqual(wordsOf('economicEvent'), ['no_data']);
  assert.deepEqual(wordsOf('holidayCodes'), []);
});

test('every record is described field by field', () => {
  for (const [name, { properties }] of Object.entries(document.components.schemas)) {
    if (name === 'Codes' || name === 'Error') continue;
    const bare = Object.entries(properties!).filter(([, { description }]) => description === undefined);
    assert.deepEqual(
      bare.map(([field]) => field),
      name === 'Instrument' ? ['trading_hours'] : [],
      name,
    );
  }
});
