// `npm run site`: writes the documentation as a static site into site/. Its files can be opened without a
// server, and served by any under any path.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { REFERENCE } from '../src/serve/docs/endpoints-page.ts';
import * as guides from '../src/serve/docs/guides.ts';
import { assetOf, explorerStyles, siteAddresses } from '../src/serve/docs/page-frame.ts';
import { explorerAssets } from '../src/serve/explorer/explorer-page.ts';

const root = join(import.meta.dirname, '..');

/** Writes the site into a folder, which is made anew. */
export async function writeSite(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  for (const [path, page] of guides.guidePages) write(path, await page(siteAddresses(path), version));
  write(REFERENCE, await guides.framedReference(siteAddresses(REFERENCE), version, false));
  write('search-index.js', await guides.searchIndex());
  for (const name of ['page.css', 'pages.js'] as const) write(name, await assetOf(name));
  for (const name of guides.pictures.keys()) write(name, await guides.pictureOf(name));
  for (const name of [...explorerStyles, 'icon.svg'])
    write(`explorer/${name}`, Buffer.concat((await explorerAssets.get(`/explorer/${name}`)!()).body));
}

const unescaped = (text: string): string =>
  text.replace(
    /&(?:amp|lt|gt|quot|#39);/g,
    (sign) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' })[sign] ?? "'",
  );

/** The title of a page, the ids of its parts, and the addresses that it links to or loads. */
export function linksOf(page: string): { title: string; ids: Set<string>; links: string[] } {
  const values = (form: RegExp): string[] =>
    Array.from(page.matchAll(form), ([, value]) => unescaped(value!));
  return {
    title: values(/<title>([^<]*)/g).join(),
    ids: new Set(values(/<[^>]* id="([^"]*)"/g)),
    links: values(/<[^>]* (?:href|src)="([^"]*)"/g),
  };
}

if (import.meta.main) {
  await writeSite(join(root, 'site'));
  console.log('The site is in site/: open site/index.html, or serve the folder.');
}
