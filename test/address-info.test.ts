// The base address and the version of a service (contract 9.14).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Workshop } from './service.ts';

const shop = new Workshop();
after(() => shop.close());

const PATH = '/api/v2/server/address_info';
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};

type Info = { readonly result: { readonly base_address: string; readonly version: string } };

test('address_info tells the address that the request was sent to, and the version (contract 9.14, 4.3)', async () => {
  const server = await shop.serve();
  const key = await shop.must('keys', 'create', 'reader');
  const response = await server.get(`${PATH}?secret_key=${key}`);
  const { result } = (await response.json()) as Info;
  assert.deepEqual(result, { base_address: server.url, version });
  assert.match(response.headers.get('x-data-version')!, /^\d+$/);
  assert.equal((await server.get(PATH)).status, 401, 'it needs a key as every endpoint does');
  await server.stop();
});

test('where a public address is configured, address_info tells that; its tag changes with it (contract 9.14, 9.7)', async () => {
  const key = await shop.must('keys', 'create', 'public');
  const asked: [string, string][] = [];
  for (const publicUrl of ['https://data.example.com/bourse', 'https://data.example.org']) {
    const server = await shop.serve('--public-url', publicUrl);
    const response = await server.get(`${PATH}?secret_key=${key}`);
    asked.push([((await response.json()) as Info).result.base_address, response.headers.get('etag')!]);
    await server.stop();
  }
  const [[first, oneTag], [second, otherTag]] = asked as [[string, string], [string, string]];
  assert.deepEqual([first, second], ['https://data.example.com/bourse', 'https://data.example.org']);
  assert.notEqual(oneTag, otherTag);
});

test('without a service, address_info tells where it would be (contract 9.14)', async () => {
  const told = await shop.must('query', PATH, '--store', shop.storeUrl());
  assert.deepEqual((JSON.parse(told) as Info).result, { base_address: 'http://127.0.0.1:8080', version });
});
