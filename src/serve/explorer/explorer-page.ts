// The explorer: the page at `/`, its modules, and the libraries that they load (contract 9.3).
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findPackageJSON, stripTypeScriptTypes } from 'node:module';
import { lastingOf } from '../docs/page-frame.ts';

/** `.ts` in a checkout, `.js` in the built package. */
const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'));

/** The module that writes requests in every language, which the reference of the endpoints loads too. */
export const requestTextPath = `explorer/request-text${extension}`;

/** The folder that has the packages whose modules browsers load. */
const packages = new URL(extension === '.ts' ? '../../../packages/' : '../../', import.meta.url);

/** The libraries: what modules call them, and where their package has them. */
const libraries = [
  ['preact', 'dist/preact.mjs'],
  ['preact/hooks', 'hooks/dist/hooks.mjs'],
  ['lightweight-charts', 'dist/lightweight-charts.standalone.production.mjs'],
] as const;

/** The style sheets, in the order in which they hold. */
const styles = ['colours.css', 'page.css', 'header.css', 'views.css', 'chart.css'] as const;

const libraryPath = (file: string): string => `explorer/lib/${file.slice(file.lastIndexOf('/') + 1)}`;

/** Modules are the files that are neither tests nor, in the package, types. */
const isModule = (name: string): boolean => name.endsWith(extension) && !/\.(?:test|d)\.ts$/.test(name);

/** Their paths. Relative imports hold, because each is served under its name. */
const modules = ['explorer', 'client'].flatMap((folder) =>
  readdirSync(new URL(`${folder}/`, packages))
    .filter(isModule)
    .map((name) => `${folder}/${name}`),
);

/** A module as a browser runs it: types become spaces, so that its lines and columns stay. */
function moduleText(text: string): string {
  return extension === '.ts' ? stripTypeScriptTypes(text) : text;
}

const importMap = JSON.stringify({
  imports: Object.fromEntries(libraries.map(([name, file]) => [name, `./${libraryPath(file)}`])),
});

/**
 * The page runs the scripts of this service alone and asks this service alone: a key that is typed there
 * cannot leave it. No text of an answer can become a script or HTML.
 */
const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
  "style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'",
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
].join('; ');

/**
 * The markets with their zones, such as `stock:US=America/New_York`, and the hours of the evening before that
 * their sessions have, `forex:GLOBAL=America/New_York,7`. Calendars are loaded once somebody looks at the
 * explorer.
 */
async function marketsText(): Promise<string> {
  const { marketZones } = await import('../../queries/market-zones.ts');
  return marketZones
    .map(({ market, zone, eveningHours }) => `${market}=${zone}${eveningHours > 0 ? `,${eveningHours}` : ''}`)
    .join(' ');
}

/**
 * `key` fills in the key of a demo; null for every other service. Keys have no character that HTML would need
 * escaped.
 */
async function pageOf(key: string | null) {
  const preloads = [...libraries.map(([, file]) => libraryPath(file)), ...modules];
  return lastingOf(
    'text/html',
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="bourse-markets" content="${await marketsText()}">
<title>Bourse</title>${key === null ? '' : `\n<meta name="bourse-demo-key" content="${key}">`}
<link rel="icon" href="explorer/icon.svg" type="image/svg+xml">
${styles.map((name) => `<link rel="stylesheet" href="explorer/${name}">`).join('\n')}
<script type="importmap">${importMap}</script>
${preloads.map((path) => `<link rel="modulepreload" href="${path}">`).join('\n')}
<script type="module" src="explorer/main${extension}"></script>
</head>
<body>
<div id="explorer"><noscript>The explorer needs JavaScript. The <a href="docs">documentation</a> and the service do not.</noscript></div>
</body>
</html>
`,
    POLICY,
  );
}

function libraryUrl(name: string, file: string): URL {
  const found = findPackageJSON(name.split('/')[0]!, import.meta.url);
  return new URL(file, `file://${found}`);
}

/** Gives what `make` makes of a name, which is made once: again only where that failed. */
export function madeOnce<K, V>(make: (name: K) => Promise<V>): (name: K) => Promise<V> {
  const made = new Map<K, Promise<V>>();
  return (name) => {
    const one = made.get(name) ?? make(name);
    made.set(name, one);
    one.catch(() => made.delete(name));
    return one;
  };
}

/** Gives what `make` makes, which is made once: again only where that failed. */
export function once<V>(make: () => Promise<V>): () => Promise<V> {
  const made = madeOnce(make);
  return () => made(undefined);
}

const asset = (path: string, type: string, url: () => URL, textOf = (text: string) => text) =>
  [`/${path}`, once(async () => lastingOf(type, textOf(await readFile(url(), 'utf8'))))] as const;

/**
 * The files that the page loads, by path. Each is read when it is first asked for, so that a start does not
 * wait for it.
 */
export const explorerAssets = new Map([
  ...styles.map((name) => asset(`explorer/${name}`, 'text/css', () => new URL(`explorer/${name}`, packages))),
  asset('explorer/icon.svg', 'image/svg+xml', () => new URL('explorer/icon.svg', packages)),
  ...modules.map((path) => asset(path, 'text/javascript', () => new URL(path, packages), moduleText)),
  ...libraries.map(([name, file]) =>
    asset(libraryPath(file), 'text/javascript', () => libraryUrl(name, file)),
  ),
]);

/** The page itself, with the key of a demo filled in. */
export const explorerPage = madeOnce(pageOf);
