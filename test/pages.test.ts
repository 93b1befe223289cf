// What is answered without a key and gives no data: health, readiness, documentation (contract 9.3).
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { skipBrowser, withPage } from './browser.ts';
import { Connection, type RawAnswer } from './connection.ts';
import { linksOf } from './docs-site.ts';
import { type Server, Workshop } from './service.ts';
import { until } from './until.ts';

const root = join(import.meta.dirname, '..');
const shop = new Workshop();
let server: Server;
let key = '';
before(async () => {
  server = await shop.serve();
  key = await shop.must('keys', 'create', 'reader');
});
after(() => shop.close());

const pages = [
  ...['/', '/explorer/main.ts', '/explorer/page.css', '/explorer/lib/preact.mjs', '/client/index.ts'],
  ...['/healthz', '/readyz', '/openapi.json', '/docs', '/docs/page.css', '/docs/forms.js'],
  ...['/llms.txt', '/docs/using/bars.md', '/docs/using/bars.html', '/docs/endpoints.html'],
  ...['/docs/search-index.js', '/docs/performance/share-of-the-limit.svg'],
];

for (const path of pages) {
  test(`${path} needs no key; HEAD is GET without the body, OPTIONS names the methods, others are 405 (contract 6.6, 9.3)`, async () => {
    const headers = { 'Accept-Encoding': 'identity' };
    const [got, head] = [
      await server.get(path, { headers }),
      await server.get(path, { method: 'HEAD', headers }),
    ];
    assert.deepEqual([got.status, head.status], [200, 200]);
    const body = await got.text();
    assert.equal(head.headers.get('Content-Length'), String(Buffer.byteLength(body)));
    assert.equal(await head.text(), '');
    assert.equal(got.headers.get('X-Content-Type-Options'), 'nosniff');
    assert.equal(got.headers.get('Referrer-Policy'), 'no-referrer');
    assert.notEqual(got.headers.get('X-Request-Id'), null);
    const options = await server.get(path, { method: 'OPTIONS' });
    assert.deepEqual([options.status, options.headers.get('Allow')], [204, 'GET, HEAD, OPTIONS']);
    assert.equal((await server.get(path, { method: 'POST' })).status, 405);
  });
}

const LINK = /!?\[[^\]]*\]\(([^)\s]+)\)/g;

const withoutLinks = (text: string): string => text.replaceAll(/!?\[([^\]]*)\]\([^)\s]+\)/g, '$1');

test('/llms.txt lists every page of the documentation, each is there as Markdown with no link that leads nowhere, and of other files none is (contract 9.3)', async () => {
  const list = await (await server.get('/llms.txt')).text();
  assert.match(list, /^# Bourse\n\n> /);
  const listed = Array.from(list.matchAll(/^- \[(.+)\]\((.+)\)$/gm), ([, title, url]) => ({
    title,
    url: url!,
  }));
  const files = globSync('docs/**/*.md', { cwd: root });
  assert.deepEqual(listed.map(({ url }) => url).sort(), files.map((file) => `${server.url}/${file}`).sort());
  const linked = new Set<string>();
  for (const { title, url } of listed) {
    const got = await fetch(url);
    assert.deepEqual([got.status, got.headers.get('Content-Type')], [200, 'text/markdown; charset=utf-8']);
    const text = await got.text();
    const file = readFileSync(join(root, new URL(url).pathname), 'utf8');
    assert.equal(withoutLinks(text), withoutLinks(file));
    assert.ok(text.startsWith(`# ${title}\n`), url);
    for (const [, target] of text.matchAll(LINK))
      if (!/^(?:#|https?:)/.test(target!)) linked.add(new URL(target!, url).href.replace(/#.*/, ''));
  }
  // Those to other files of the project have left their words.
  for (const url of linked) assert.equal((await fetch(url)).status, 200, url);
  for (const path of ['/docs/../package.json', '/docs/%2e%2e/package.json', '/docs/using', '/docs/none.md'])
    assert.equal((await server.get(path)).status, 404, path);
});

test('health and readiness are said in the envelope (spec 2.1)', async () => {
  for (const path of ['/healthz', '/readyz'])
    assert.deepEqual(await (await server.get(path)).json(), {
      status: 'ok',
      code: 200,
      message: 'success',
      reference: null,
      result: {},
    });
});

test('at the address of the service is the explorer, which holds no key and refers to the documentation (contract 9.3)', async () => {
  const answer = await server.get('/');
  assert.match(answer.headers.get('Content-Type')!, /^text\/html/);
  assert.doesNotMatch(await answer.clone().text(), /bourse-demo-key/);
  assert.match(await answer.text(), /<a href="docs">documentation<\/a>/);
});

/** The statuses of the last answers of two kept connections, asked without pause while the service stops. */
async function lastStatuses(): Promise<number[]> {
  const own = await shop.serve();
  const paths = ['/healthz', '/readyz'];
  const connections = paths.map(() => new Connection(own.url));
  const ask = (at: number): Promise<RawAnswer> =>
    connections[at]!.ask(`GET ${paths[at]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`, [true])[0]!;
  const lastStatus = async (at: number): Promise<number> => {
    for (;;) {
      const { status, headers } = await ask(at);
      if (headers.get('connection') === 'close') return status;
      assert.equal(status, 200);
    }
  };
  // Who connects after the signal may find the listener closed.
  assert.deepEqual(
    (await Promise.all([ask(0), ask(1)])).map(({ status }) => status),
    [200, 200],
  );
  const statuses = Promise.all([lastStatus(0), lastStatus(1)]);
  own.signal('SIGTERM');
  return statuses;
}

test('a service that stops is alive, but not ready', async () => {
  // The last answer may be that of a request which came before the signal: then it says that the service was
  // ready.
  const statuses = await until('a request comes between the signal and the end', async () => {
    const last = await lastStatuses();
    return last[1] !== 200 && last;
  });
  assert.deepEqual(statuses, [200, 503]);
});

test('the page of the documentation loads nothing from elsewhere and lets nothing out (contract 7.4)', async () => {
  const answer = await server.get('/docs/endpoints.html');
  const policy = answer.headers.get('Content-Security-Policy')!;
  assert.match(policy, /^default-src 'none';/);
  assert.match(policy, /connect-src 'self'/);
  assert.match(policy, /form-action 'none'/);
  const page = await answer.text();
  assert.doesNotMatch(page.replaceAll(/<pre>[\s\S]*?<\/pre>/g, ''), /https?:\/\//);
});

/** Looks at a page of the documentation, and gives what it links to. */
async function linksOfPage(url: string): Promise<{ title: string; ids: Set<string>; links: URL[] }> {
  const answer = await fetch(url);
  assert.deepEqual(
    [answer.status, answer.headers.get('Content-Type')],
    [200, 'text/html; charset=utf-8'],
    url,
  );
  // No script but the service's own, and no key to anywhere else (contract 7.4).
  const policy = answer.headers.get('Content-Security-Policy')!;
  for (const rule of ["default-src 'none'", "script-src 'self'", "connect-src 'self'", "form-action 'none'"])
    assert.ok(policy.split('; ').includes(rule), `${url}: ${rule}`);
  const text = await answer.text();
  assert.doesNotMatch(text, /<script(?![^>]* src="[^"]+"[^>]*><\/script>)|<[^>]* (?:on\w+|style)=/, url);
  const held = { 'If-None-Match': answer.headers.get('ETag')! };
  assert.equal((await fetch(url, { headers: held })).status, 304, url);
  const found = linksOf(text);
  return { ...found, links: found.links.map((link) => new URL(link, url)) };
}

test('each guide is a page with title, tag and policy, and every link on it leads somewhere (contract 9.3)', async () => {
  const pages = new Map<string, Awaited<ReturnType<typeof linksOfPage>>>();
  const others = new Set<string>();
  const isPage = ({ pathname }: URL): boolean => /^\/docs(?:\/.*\.html)?$/.test(pathname);
  const visit = async (url: URL): Promise<void> => {
    const address = url.origin + url.pathname;
    if (url.origin !== server.url || pages.has(address)) return;
    if (!isPage(url)) {
      others.add(address);
      return;
    }
    const page = await linksOfPage(address);
    pages.set(address, page);
    for (const link of page.links) await visit(link);
  };
  await visit(new URL('/docs', server.url));
  for (const other of others) assert.equal((await fetch(other)).status, 200, other);
  for (const [address, { links }] of pages)
    for (const { origin, pathname, hash } of links)
      if (hash !== '' && pages.has(origin + pathname))
        assert.ok(pages.get(origin + pathname)!.ids.has(hash.slice(1)), `${address}: ${pathname}${hash}`);
  for (const file of globSync('docs/**/*.md', { cwd: root })) {
    const [title] = /(?<=^# ).+/.exec(readFileSync(join(root, file), 'utf8'))!;
    const path = file === 'docs/README.md' ? 'docs' : file.replace(/\.md$/, '.html');
    assert.equal(pages.get(`${server.url}/${path}`)?.title, `${title.replaceAll('`', '')} · Bourse`, file);
  }
});

test('a page that the documentation does not have is a 404 that says where the others are', async () => {
  for (const path of [
    '/docs/none.html',
    '/docs/using/',
    '/docs/../package.json',
    '/docs/pictures/none.png',
  ]) {
    const answer = await server.get(path);
    assert.equal(answer.status, 404, path);
    if (path.includes('..')) continue;
    const { message, detail } = (await answer.json()) as { message: string; detail: { hint: string } };
    assert.equal(message, 'The documentation has no such page.', path);
    assert.match(detail.hint, /\/docs\b/);
  }
});

test(
  'on a phone, a tablet and a desk the page is as wide as its window, and no text about a parameter stands in a narrow column',
  {
    skip: skipBrowser,
  },
  () =>
    withPage(`${server.url}/docs/endpoints.html`, async (page) => {
      for (const width of [360, 700, 801, 820, 1024, 1100, 1280, 1920]) {
        await page.setViewportSize({ width, height: 1_000 });
        const wide = 'document.documentElement.scrollWidth';
        assert.ok(((await page.evaluate(wide)) as number) <= width, `${width}`);
        const cells = 'Array.from(document.querySelectorAll(".parameters td"))';
        const shown = `${cells}.map((cell) => cell.getBoundingClientRect().width).filter((one) => one > 0)`;
        const narrowest = (await page.evaluate(`Math.min(...${shown})`)) as number;
        assert.ok(narrowest >= 120, `${narrowest} of ${width}`);
      }
    }),
);

test(
  'a form of the page asks with the key in a header alone, shows the answer to the last digit, and keeps the key for its tab',
  {
    skip: skipBrowser,
  },
  () =>
    withPage(`${server.url}/docs/endpoints.html`, async (page) => {
      await page.fill('#key', key);
      const form = `document.querySelector('#economicEventCodes')`;
      // A service that has no room at the moment says so, and a person asks again (contract 6.3).
      const answered = page.locator('#economicEventCodes .status', { hasText: /^(?:200|503) / });
      await until('the form shows an answer', async () => {
        await page.evaluate(`${form}.querySelector('button').click()`);
        return (await answered.textContent())!.startsWith('200');
      });
      const shown = String(await page.evaluate(`${form}.querySelector('.body').textContent`));
      const path = '/api/v2/economic_calendar/event_codes/US';
      const asked = await server.get(path, { headers: { Authorization: `Bearer ${key}` } });
      assert.deepEqual(JSON.parse(shown), await asked.json());
      const curl = String(await page.evaluate(`${form}.querySelector('.curl').textContent`));
      assert.equal(curl, `curl -H 'Authorization: Bearer <API_KEY>' '${server.url}${path}'`);
      const addresses = (await page.evaluate(
        `performance.getEntriesByType('resource').map(({ name }) => name).concat(location.href)`,
      )) as string[];
      assert.ok(addresses.every((address) => address.startsWith(server.url) && !address.includes(key)));
      assert.ok(addresses.includes(`${server.url}${path}`));
      assert.deepEqual(
        await page.evaluate(`[localStorage.length, Object.entries(sessionStorage), document.cookie]`),
        [0, [['bourse-key', key]], ''],
      );
      // The explorer takes it, and gives it back.
      await page.goto(server.url);
      await page.waitForSelector('text=What is stored');
      await page.click('text="Docs"');
      await page.click('text="Endpoints"');
      // Not `waitForFunction` of a text: only its first look may evaluate one, where the policy forbids that.
      await until('the form has the key', async () => (await page.inputValue('#key')) === key);
      assert.ok(!page.url().includes(key));
    }),
);
