// Page keys that older versions signed still open their pages (contract 4.1). The keys in
// fixtures/page-keys.json were signed before fingerprints were derived from the contract: never sign them
// again.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseParameters } from '../src/contract/endpoint.ts';
import { contract, type Endpoint, type EndpointName } from '../src/contract/index.ts';
import { QueryRunner } from '../src/queries/index.ts';
import { openStore } from '../src/store/engines.ts';
import type { Row } from './fuzz/data.ts';
import { fillings } from './fuzz/store.ts';
import { fillStore } from './importing.ts';
import { TestFolder } from './stores.ts';

type Texts = Readonly<Record<string, string>>;
/** A query, and the keys of its first pages of one record each. */
type Walk = { readonly endpoint: EndpointName; readonly query: Texts; readonly keys: readonly string[] };

const walks = JSON.parse(
  readFileSync(join(import.meta.dirname, 'fixtures/page-keys.json'), 'utf8'),
) as readonly Walk[];

const NOW_MS = Date.parse('2025-06-01T00:00:00Z');
const temporary = new TestFolder();
const url = temporary.storeUrl();
const renamed = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL' };
await fillStore(url, temporary.folder, NOW_MS, [
  ...fillings,
  ['instruments', [{ ...renamed, former_symbols: 'APPL:1900-01-01..2025-03-03' }]],
]);
const store = await openStore(url, 'read');
const runner = new QueryRunner(store, new Uint8Array(32).fill(7));
after(async () => {
  await store.close();
  temporary.close();
});

async function answerOf(endpoint: EndpointName, texts: Texts) {
  const declared: Endpoint = contract[endpoint];
  const format = 'format' in declared.parameters ? { format: 'json' } : {};
  const parameters = parseParameters(declared, new Map(Object.entries({ ...texts, ...format })));
  return runner.run({ endpoint, parameters, nowMs: NOW_MS, wrapCsv: false });
}

async function recordsOf(endpoint: EndpointName, texts: Texts): Promise<Row[]> {
  const answer = await answerOf(endpoint, { ...texts, limit: '1000' });
  if (answer.kind === 'refusal') assert.fail(answer.facts.message);
  const { data } = (
    JSON.parse(Buffer.from(answer.body).toString()) as { result: { data: Row[] | Record<string, Row[]> } }
  ).result;
  return Object.values(data).flat();
}

for (const { endpoint, query, keys } of walks) {
  const shown = new URLSearchParams(query).toString();
  test(`keys signed by an older version open their pages of ${endpoint}?${shown} (contract 4.1)`, async () => {
    const whole = await recordsOf(endpoint, query);
    assert.ok(keys.length > 0 && whole.length > keys.length);
    for (const [index, next_page_key] of keys.entries())
      assert.deepEqual(await recordsOf(endpoint, { ...query, next_page_key }), whole.slice(index + 1));
  });
}

test('there are keys of every paged endpoint, in both orders where it sorted when they were signed', () => {
  const sortsOf = (name: string) =>
    new Set(
      walks.filter((walk) => walk.endpoint === name).map(({ query }) => (query.sort ?? 'asc').toLowerCase()),
    );
  // Orders and endpoints beyond the specification came after the keys.
  for (const [name, { parameters, extension }] of Object.entries<Endpoint>(contract))
    if ('next_page_key' in parameters && extension === undefined)
      assert.deepEqual(
        [...sortsOf(name)].sort(),
        parameters.sort?.extension === undefined ? ['asc', 'desc'] : ['asc'],
        name,
      );
});

/** What a caller can write where a key has the moment of its walk: no instant, or one of another age. */
const forgedMoments = [
  '1e300',
  '-1e300',
  '8.64e15',
  '-8.64e15',
  '8640000000000001',
  '4e14',
  '-4e14',
  '"now"',
  'null',
];

test('a key that names an impossible moment is refused like any other that was changed (contract 4.1)', async () => {
  for (const { endpoint, query } of walks)
    for (const moment of forgedMoments) {
      const forged = Buffer.concat([Buffer.alloc(16), Buffer.from(`[[],[],${moment}]`)]);
      const answer = await answerOf(endpoint, { ...query, next_page_key: forged.toString('base64url') });
      assert.equal(answer.kind === 'refusal' && answer.word, 'invalid_page_key', `${endpoint} ${moment}`);
    }
});
