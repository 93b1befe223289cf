// The import law: which module may import which, and what only one file may touch.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');

const everyBelow = (module: string): string[] => order.slice(0, order.indexOf(module));

/** The packages and the rooms, bottom-up; a room whose parts have own edges is listed by its parts. */
const order = [
  ...['client', 'explorer', 'base', 'contract', 'market/calendar', 'market/bars'],
  ...['store/schema', 'store', 'series', 'runs', 'imports/read', 'imports/map', 'imports/load'],
  ...['queries/findings', 'queries/export', 'queries', 'serve/keys', 'serve', 'serve/mcp', 'cli'],
];

const stored = ['base', 'contract', 'store/schema', 'market/calendar', 'market/bars', 'store', 'series'];

/** Every package, and every room or part of one: those below it that it may import. */
const modules: Readonly<Record<string, readonly string[]>> = {
  // Published by itself.
  client: [],
  // What browsers load; the request handler serves its files.
  explorer: ['client'],
  base: [],
  contract: ['base'],
  'market/calendar': ['base', 'contract'],
  'market/bars': ['base', 'contract', 'market/calendar'],
  'store/schema': ['base', 'contract'],
  store: ['base', 'store/schema', 'market/bars'],
  series: stored.filter((module) => module !== 'series'),
  runs: stored,
  'imports/read': ['base', 'contract'],
  'imports/map': ['base', 'contract', 'store/schema', 'market/calendar', 'imports/read'],
  'imports/load': [...stored, 'runs', 'imports/read', 'imports/map'],
  'queries/findings': stored,
  'queries/export': [...stored.filter((module) => module !== 'market/calendar'), 'runs', 'imports/read'],
  queries: [...stored, 'queries/findings'],
  'serve/keys': ['base', 'contract', 'store'],
  serve: ['base', 'contract', 'store/schema', 'store', 'queries', 'serve/keys'],
  'serve/mcp': ['base', 'contract', 'serve'],
  cli: everyBelow('cli').filter((module) => module !== 'client' && module !== 'explorer'),
};

const forbiddenNames = ['utils', 'common', 'types', 'helpers'];

type Entry = { readonly path: string; readonly isFolder: boolean };

/** Everything below a folder of the repository, as paths with slashes from its root. */
function entriesIn(folder: string): Entry[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name)
      .slice(root.length + 1)
      .replaceAll(sep, '/'),
    isFolder: entry.isDirectory(),
  }));
}

/** The package or the room of a path, or the part of it that has edges of its own. */
function moduleOf(path: string): string {
  const [, room = '', part = ''] = path.split('/');
  return Object.hasOwn(modules, `${room}/${part}`) ? `${room}/${part}` : room;
}

// A specifier stands after `from`, after a bare `import`, in a call that loads a file, or in the address of a
// source.
const specifiers = [
  /^\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]/gm,
  /^\s*import\s*['"]([^'"]+)['"]/gm,
  /\b(?:import|require|import\.meta\.resolve|moduleBeside)\s*\(\s*['"`]([^'"`$]+)['"`]/g,
  /\bnew URL\(\s*['"`](\.[^'"`$]+\.ts)['"`]\s*,\s*import\.meta\.url/g,
];
// `import(${…})` is the text of a program for a child process; the addresses in it are seen above.
const computed = /\b(?:import|import\.meta\.resolve|moduleBeside)\s*\(\s*(?!\$\{)[^'"`\s)]/;

const withoutComments = (text: string): string =>
  text.replace(/^\s*\/\*[\s\S]*?\*\//gm, '').replace(/^\s*\/\/.*$/gm, '');

const specifiersOf = (text: string): string[] =>
  specifiers.flatMap((form) => Array.from(withoutComments(text).matchAll(form), (found) => found[1]!));

const entries = [...entriesIn('src'), ...entriesIn('packages')].filter(
  ({ path }) => !/\/dist(?:\/|$)/.test(path),
);
const texts = new Map(
  entries
    .filter(({ path, isFolder }) => !isFolder && path.endsWith('.ts'))
    .map(({ path }) => [path, readFileSync(join(root, path), 'utf8')]),
);
const isTest = (path: string): boolean => path.endsWith('.test.ts');
const sources = [...texts.keys()].filter((path) => !isTest(path)).sort();

const isOurs = (target: string): boolean => /^(?:src|packages)\//.test(target);

/** The files of the repository that a file imports. */
function targetsOf(path: string): string[] {
  return specifiersOf(texts.get(path) ?? '')
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => posix.join(posix.dirname(path), specifier));
}

test('the forms of an import are all seen', () => {
  const text = `
    import { a } from './a.ts';
    import {
      type B,
      b,
    } from "./b.ts";
    import './c.ts';
    export * from './d.ts';
    export type { E } from './e.ts';
    const f = await import('./f.ts');
    const g = import.meta.resolve('./g.ts');
    const h = new URL('./h.ts', import.meta.url);
    const data = new URL('../package.json', import.meta.url);
    // import { no } from './comment.ts';
    /** import { no } from './docstring.ts'; */
    const text = "from './string.ts'";
    import type I, { type J } from './i.ts';
    const j = moduleBeside('./j.ts', import.meta.url);`;
  assert.deepEqual(
    specifiersOf(text).sort(),
    Array.from('abcdefghij', (letter) => `./${letter}.ts`),
  );
});

test('the table itself keeps the order: a module imports only modules below it (house, Import law)', () => {
  for (const [module, imports] of Object.entries(modules))
    for (const below of imports) assert.ok(everyBelow(module).includes(below), `${module} -> ${below}`);
});

test('every folder in src and packages is a module of the table, and no file is beside them (house, Import law)', () => {
  const direct = entries.filter(({ path }) => path.split('/').length === 2);
  for (const { path, isFolder } of direct.filter(({ path }) => path !== 'packages/tsconfig.json')) {
    assert.ok(isFolder, `${path} is in no module`);
    const rooms = Object.keys(modules).map((module) => module.split('/')[0]);
    assert.ok(rooms.includes(moduleOf(path)), `${path} is in no module of the table`);
  }
});

test('no folder is called utils, common, types or helpers (house, Import law)', () => {
  const folders = [...entries, ...entriesIn('test')].filter(({ isFolder }) => isFolder);
  for (const { path } of folders) assert.ok(!forbiddenNames.includes(posix.basename(path)), path);
});

for (const [module, allowed] of Object.entries(modules)) {
  const files = sources.filter((path) => moduleOf(path) === module);

  test(`${module} imports only ${allowed.join(', ') || 'nothing'} beside itself (house, Import law)`, () => {
    const violations = files.flatMap((path) =>
      targetsOf(path)
        .filter(isOurs)
        .filter((target) => ![module, ...allowed].includes(moduleOf(target)))
        .map((target) => `${path} -> ${target}`),
    );
    assert.deepEqual(violations, []);
  });
}

/** Folders inside the rooms. */
const folders = [
  ...['cli/commands', 'cli/import', 'cli/serve', 'cli/shared'],
  ...['imports/load', 'imports/map', 'imports/map/presets', 'imports/read'],
  ...['market/bars', 'market/calendar', 'market/calendar/markets'],
  ...['queries/export', 'queries/findings', 'queries/pages', 'queries/render'],
  ...['series/adjust'],
  ...['serve/cache', 'serve/docs', 'serve/docs/browser', 'serve/explorer', 'serve/keys', 'serve/mcp'],
  ...['serve/openapi', 'serve/outgoing', 'serve/spool', 'serve/threads'],
  ...['store/migrations', 'store/past', 'store/postgres', 'store/schema', 'store/sqlite'],
];

test('every folder inside a module is one of the list (house, Import law)', () => {
  const found = entries.filter(({ path, isFolder }) => isFolder && path.split('/').length > 2);
  assert.deepEqual(found.map(({ path }) => path.slice('src/'.length)).sort(), folders.toSorted());
});

/** Folders that know nothing of the rest of their module, or only what is named. */
const apart: Readonly<Record<string, readonly string[]>> = {
  'serve/threads': ['serve/threads'],
  'serve/openapi': ['serve/openapi'],
  'store/migrations': ['store/migrations', 'store/schema'],
};
for (const [folder, allowed] of Object.entries(apart)) {
  test(`${folder} imports nothing else of its module (house, Import law)`, () => {
    const [module] = folder.split('/');
    const found = sources
      .filter((path) => path.startsWith(`src/${folder}/`))
      .flatMap((path) => targetsOf(path))
      .filter((target) => target.startsWith(`src/${module}/`))
      .filter((target) => !allowed.some((name) => target.startsWith(`src/${name}/`)));
    assert.deepEqual(found, []);
  });
}

test('every edge of the table is one that a source has', () => {
  const unused = Object.entries(modules).flatMap(([module, allowed]) => {
    if (module === 'cli') return [];
    const targets = sources.filter((path) => moduleOf(path) === module).flatMap((path) => targetsOf(path));
    return allowed
      .filter((below) => !targets.some((target) => isOurs(target) && moduleOf(target) === below))
      .map((below) => `${module} -> ${below}`);
  });
  assert.deepEqual(unused, []);
});

test('every import of a file names a file that is there, by its full name', () => {
  const missing = [...texts.keys()].flatMap((path) =>
    targetsOf(path)
      .filter((target) => isOurs(target) && target.endsWith('.ts') && !texts.has(target))
      .map((target) => `${path} -> ${target}`),
  );
  assert.deepEqual(missing, []);
});

test('no import is computed, so that none escapes this table', () => {
  assert.deepEqual(
    sources.filter((path) => computed.test(withoutComments(texts.get(path)!))),
    [],
  );
});

test('a source is addressed by moduleBeside alone, which finds it when it is built too', () => {
  const address = /\bimport\.meta\.resolve\(|\bnew URL\(\s*['"`](?:\.[^'"`]*)\.ts['"`]/;
  const found = sources.filter((path) => address.test(withoutComments(texts.get(path)!)));
  assert.deepEqual(found, []);
});

test('no file imports itself through others (house, Import law)', () => {
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) circles.push([...trail.slice(start), path].join(' -> '));
    if (start >= 0 || done.has(path)) return;
    for (const target of targetsOf(path)) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of sources) visit(path, []);
  assert.deepEqual(circles, []);
});

/**
 * Every module that one loads when it starts: what is imported as a type alone, or later, is none of them.
 */
function loadedBy(start: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = withoutComments(texts.get(path) ?? '');
    for (const [, specifier] of text.matchAll(
      /^\s*(?:import|export)\b(?!\s+type\b)(?:[^;'"]*?\bfrom)?\s*['"]([^'"]+)['"]/gm,
    ))
      visit(
        specifier!.startsWith('.') ? posix.join(posix.dirname(path), specifier!) : specifier!.split('/')[0]!,
      );
  };
  visit(start);
  return loaded;
}

/** The libraries that a file loads when it starts. */
const librariesOf = (start: string): string[] =>
  [...loadedBy(start)].filter((name) => !/^(?:src\/|node:)/.test(name)).sort();

const libraries: readonly [start: string, names: readonly string[]][] = [
  ['src/serve/threads/query-thread.ts', ['fastest-levenshtein']],
  ['src/serve/keys/control-thread.ts', []],
  ['src/cli/serve/serving.ts', ['fastest-levenshtein', 'pino']],
  ['src/cli/commands/keys.ts', ['commander', 'fastest-levenshtein']],
  ['src/cli/commands/status.ts', ['commander', 'fastest-levenshtein']],
];
for (const [start, names] of libraries) {
  // Each process and thread pays for its own: 0.4 ms of processor time a file, and some libraries are
  // hundreds of files.
  test(`${start} starts with no library but ${names.join(', ') || 'none'}`, () => {
    assert.deepEqual(librariesOf(start), names);
  });
}

test('the TypeScript client loads nothing but its own files, so that it is small and runs in browsers', () => {
  const loaded = [...loadedBy('packages/client/index.ts')];
  assert.deepEqual(
    loaded.filter((path) => !path.startsWith('packages/client/')),
    [],
  );
});

test('a server starts without the HTTP client of Node.js, which any import statement of node:http loads', () => {
  assert.ok(!loadedBy('src/cli/serve/serving.ts').has('node:http'));
});

test('help is printed without the modules of any command', () => {
  const loaded = loadedBy('src/cli/main.ts');
  for (const heavy of ['@duckdb', 'pino', 'yauzl']) assert.ok(!loaded.has(heavy), heavy);
});

test('no source imports a test', () => {
  const found = sources.flatMap((path) =>
    targetsOf(path)
      .filter(isTest)
      .map((target) => `${path} -> ${target}`),
  );
  assert.deepEqual(found, []);
});

test('no source is a test or a suite of tests, which would be in the package', () => {
  const found = sources.filter((path) => /['"]node:test['"]/.test(texts.get(path)!));
  assert.deepEqual(found, []);
});

/** What only one file may have, tests aside. */
const alone: readonly [name: string, file: string, form: RegExp][] = [
  ['imports node:sqlite', 'src/store/sqlite/connection.ts', /['"]node:sqlite['"]/],
  [
    'reads the environment',
    'src/cli/config.ts',
    /\bprocess\s*\.\s*env\b|\bprocess\s*\[\s*['"]env|\{[^}]*\benv\b[^}]*\}\s*(?:=\s*process\b|from\s*['"]node:process)/,
  ],
];
for (const [name, file, form] of alone) {
  test(`only ${file} ${name} (house, The tree)`, () => {
    const found = sources.filter((path) => form.test(withoutComments(texts.get(path)!)));
    assert.deepEqual(
      found.filter((path) => path !== file),
      [],
    );
  });
}
