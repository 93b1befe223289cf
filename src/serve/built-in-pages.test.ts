// The built-in pages: made once, whatever address their callers use, and tagged (contract 9.3).
import assert from 'node:assert/strict';
import files from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { builtInPages, type PageRequest } from './built-in-pages.ts';
import { openApiDocument } from './openapi/document.ts';
import type { PageContent } from './response.ts';

const pagesOf = (version: string) =>
  builtInPages(
    version,
    async () => null,
    () => 0,
  );
const pages = pagesOf('1.2.3');

const sentTo = (base: string): PageRequest => ({ baseAddress: () => base, checkHost: () => undefined });

const pageAt = async (path: string, base = 'http://localhost:8080'): Promise<PageContent> =>
  pages.get(path)!(sentTo(base));

const textOf = ({ body }: PageContent): string => Buffer.concat(body).toString();

test('a page that could not be made is made when it is asked for again', async (t) => {
  const paths = [
    '/docs',
    '/docs/using/bars.html',
    '/docs/endpoints.html',
    '/docs/page.css',
    '/docs/using/bars.md',
  ];
  const reading = t.mock.method(files, 'readFile', () => Promise.reject(new Error('EMFILE')));
  syncBuiltinESMExports();
  for (const path of paths) await assert.rejects(pageAt(path), /EMFILE/, path);
  reading.mock.restore();
  syncBuiltinESMExports();
  for (const path of paths) assert.ok(textOf(await pageAt(path)).length > 0, path);
});

test('the OpenAPI document is made once: every address has its own base, and no copy of the rest (contract 9.3)', async () => {
  const bases = ['http://localhost:8080', 'http://127.0.0.1:1', 'https://data.example.com/a"b\\c/$&'];
  const given = await Promise.all(bases.map((base) => pageAt('/openapi.json', base)));
  given.forEach((page, index) => {
    assert.equal(textOf(page), JSON.stringify(openApiDocument(bases[index]!, '1.2.3')));
    assert.equal(page.body.length, 3);
    assert.equal(page.body[0], given[0]!.body[0], 'the same bytes before the base address');
    assert.equal(page.body[2], given[0]!.body[2], 'the same bytes after it');
  });
});

test('a page that no address changes is the same bytes each time', async () => {
  for (const path of ['/healthz', '/docs', '/docs/endpoints.html', '/docs/page.css', '/docs/forms.js']) {
    const [one, other] = [await pageAt(path), await pageAt(path, 'http://127.0.0.1:1')];
    assert.equal(one.body[0], other.body[0], path);
    assert.ok(textOf(one).length > 0, path);
  }
});

test('pages have a tag: the same for the same text, another for another address (RFC 9110, 8.8.3)', async () => {
  const tagOf = async (path: string, base?: string) => (await pageAt(path, base)).headers.ETag;
  for (const path of ['/openapi.json', '/docs', '/docs/endpoints.html', '/docs/page.css', '/docs/forms.js']) {
    assert.match((await tagOf(path))!, /^W\/"[\w-]+"$/, path);
    assert.equal(await tagOf(path), await tagOf(path), path);
  }
  assert.notEqual(await tagOf('/openapi.json'), await tagOf('/openapi.json', 'http://127.0.0.1:1'));
  const later = await pagesOf('1.2.4').get('/openapi.json')!(sentTo('http://localhost:8080'));
  assert.notEqual(later.headers.ETag, await tagOf('/openapi.json'));
});

test('the pages that hold the key of a demo are for its own hosts and pages; no other page holds it (contract 7.4)', async () => {
  const key = 'key-of-the-demo';
  const demo = builtInPages(
    '1.2.3',
    async () => null,
    () => 0,
    () => key,
  );
  const checkHost = (): void => assert.fail('a foreign host');
  for (const [path, page] of demo) {
    if (path === '/readyz' || path === '/llms.txt') continue;
    const content = await page(sentTo('http://localhost:8080'));
    const hasKey = path === '/' || path === '/docs/endpoints.html';
    assert.equal(textOf(content).includes(key), hasKey, path);
    assert.equal(content.isSameOrigin ?? false, hasKey, path);
    if (hasKey)
      await assert.rejects(async () => page({ baseAddress: () => '', checkHost }), /a foreign host/, path);
    if (hasKey) assert.ok(!textOf(await pageAt(path)).includes(key), path);
  }
});
