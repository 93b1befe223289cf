// The documentation as a static site (`npm run site`): whole, and held together by relative links.
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { after, before, test } from 'node:test';
import { linksOf, writeSite } from './docs-site.ts';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'bourse-site-'));
before(() => writeSite(folder));
after(() => rmSync(folder, { recursive: true, force: true }));

const pages = (): [path: string, text: string][] =>
  globSync('**/*.html', { cwd: folder }).map((path) => [path, readFileSync(join(folder, path), 'utf8')]);

test('the site has a page for each guide, and the endpoints without their form', () => {
  const guides = globSync('docs/**/*.md', { cwd: root }).map((file) =>
    file === 'docs/README.md' ? 'index.html' : file.slice('docs/'.length).replace(/\.md$/, '.html'),
  );
  const own = ['decisions/index.html', 'endpoints.html'];
  assert.deepEqual(
    pages()
      .map(([path]) => path)
      .sort(),
    [...guides, ...own].sort(),
  );
  const reference = readFileSync(join(folder, 'endpoints.html'), 'utf8');
  assert.match(reference, /\/api\/v2\/\{schema_asset\}\/bars\//);
  assert.doesNotMatch(reference, /<form|<input id="key"|forms\.js/);
});

test('every link of the site is relative, to a file of it, and to a part that is there: so it works without a server and under any path', () => {
  const all = new Map(pages().map(([path, text]) => [path, linksOf(text)]));
  for (const [path, { links }] of all)
    for (const link of links.filter((one) => !/^(?:https?|mailto):/.test(one))) {
      const [target = '', part] = link.split('#');
      const file = target === '' ? path : posix.join(posix.dirname(path), target);
      assert.ok(!target.startsWith('/') && !file.startsWith('..'), `${path}: ${link}`);
      assert.ok(existsSync(join(folder, file)), `${path}: ${link}`);
      if (part !== undefined) assert.ok(all.get(file)!.ids.has(part), `${path}: ${link}`);
    }
});

test('the search of the site has the words of every page, with the places where they stand', () => {
  const script = readFileSync(join(folder, 'search-index.js'), 'utf8');
  const [, json] = /^globalThis\.searchIndex = (.*);\n$/.exec(script)!;
  const index = JSON.parse(json!) as [title: string, path: string, parts: [string, string, string][]][];
  const all = new Map(pages().map(([path, text]) => [path, linksOf(text)]));
  assert.deepEqual(index.map(([, path]) => path).sort(), [...all.keys()].sort());
  for (const [title, path, parts] of index) {
    assert.equal(all.get(path)!.title, `${title} · Bourse`);
    for (const [heading, id] of parts)
      if (id !== '') assert.ok(all.get(path)!.ids.has(id), `${path}: ${heading}`);
  }
  const found = index.flatMap(([, path, parts]) =>
    parts.filter(([, , text]) => text.includes('columns=datetime,close')).map(([, id]) => `${path}#${id}`),
  );
  assert.ok(found.includes('using/bars.html#columns-and-times'), found.join());
});
