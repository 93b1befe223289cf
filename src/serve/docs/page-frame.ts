// The frame of every page of the documentation: header, search, navigation and policy. The same pages are
// served, and written as a static site.
import { readFile } from 'node:fs/promises';
import { tagOf } from '../response.ts';

/** HTML that needs no more escaping. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A text as HTML: no sign of it is markup. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => escapes[sign]!);

function embed(value: unknown): string {
  if (Array.isArray(value)) return value.map(embed).join('');
  return value instanceof Html ? value.text : escaped(String(value));
}

/** HTML with every value escaped that is not HTML itself. */
export const html = (parts: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  new Html(parts.map((part, index) => part + (index < values.length ? embed(values[index]) : '')).join(''));

export const nothing = html``;

/** The path of the first page, below the documentation. */
export const HOME = 'index.html';

/** Addresses on a page, relative to it: so they hold under any path, and of files without a server. */
export type Addresses = {
  /** The folder of the documentation: empty, or with a slash at its end. */
  readonly root: string;
  /** The first page. */
  readonly home: string;
  /** The folder of the explorer's style sheets. */
  readonly styles: string;
  /** The explorer; null on the static site. */
  readonly explorer: string | null;
};

const up = (path: string): string => '../'.repeat(path.split('/').length - 1);

/** The addresses on a page of a service: the first one is `/docs`, the others are below it. */
export function servedAddresses(path: string): Addresses {
  if (path === HOME) return { root: 'docs/', home: 'docs', styles: 'explorer/', explorer: './' };
  const root = up(path);
  return { root, home: `${root}../docs`, styles: `${root}../explorer/`, explorer: `${root}../` };
}

/** The addresses on a page of the static site. */
export function siteAddresses(path: string): Addresses {
  const root = up(path);
  return { root, home: `${root}${HOME}`, styles: `${root}explorer/`, explorer: null };
}

/** The style sheets of the explorer that the pages have too. */
export const explorerStyles = ['colours.css', 'page.css', 'header.css'] as const;

/** A link of the navigation: a page by its path, or a part of the current page. */
export type Link = { readonly label: string; readonly path: string };

/** The sections of the navigation. */
export type Navigation = readonly { readonly title: string; readonly links: readonly Link[] }[];

/** A page: what stands in its frame. */
export type FramedPage = {
  /** Its path below the documentation. */
  readonly path: string;
  readonly title: string;
  readonly content: Html;
  /** Its parts: where `path` is empty, the label is a heading. */
  readonly parts: readonly Link[];
  /** More elements of its head. */
  readonly head?: Html;
};

function navigationHtml(
  navigation: Navigation,
  { path, parts }: FramedPage,
  { root, home }: Addresses,
): Html {
  const partLink = ({ label, path: id }: Link): Html =>
    id === '' ? html`<li class="area">${label}</li>` : html`<li><a href="#${id}">${label}</a></li>`;
  const pageLink = (link: Link): Html => {
    const href = link.path === HOME ? home : `${root}${link.path}`;
    if (link.path !== path) return html`<li><a href="${href}">${link.label}</a></li>`;
    return html`<li><a href="${href}" aria-current="page">${link.label}</a>${parts.length > 0 ? html`<ul>${parts.map(partLink)}</ul>` : nothing}</li>`;
  };
  return html`${navigation.map(({ title, links }) => html`<h2>${title}</h2><ul>${links.map(pageLink)}</ul>`)}`;
}

/** A whole page. `version` is the program's. */
export function framed(
  page: FramedPage,
  navigation: Navigation,
  addresses: Addresses,
  version: string,
): string {
  const { root, home, styles, explorer } = addresses;
  const views =
    explorer === null
      ? html`<a href="${home}" aria-current="true">Docs</a>`
      : html`<a href="${explorer}">Explorer</a><a href="${home}" aria-current="true">Docs</a>`;
  return html`<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · Bourse</title>
<link rel="icon" href="${styles}icon.svg" type="image/svg+xml">
${explorerStyles.map((name) => html`<link rel="stylesheet" href="${styles}${name}">\n`)}<link rel="stylesheet" href="${root}page.css">
<script src="${root}pages.js"></script>${page.head ?? nothing}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<button type="button" class="icon" id="menu" aria-controls="pages" aria-expanded="false" aria-label="All pages">☰</button>
<a class="brand" href="${explorer ?? home}"><img src="${styles}icon.svg" alt="" width="22" height="22">Bourse</a>
<div class="search" role="search"><input id="search" type="search" placeholder="Search the documentation" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd><ul id="found" aria-label="Pages found" hidden></ul><p class="none" role="status" hidden></p></div>
<nav aria-label="Views">${views}<button type="button" class="icon" id="theme" aria-label="Light or dark" title="Light or dark">◐</button></nav>
</header>
<nav id="pages" aria-label="Pages">${navigationHtml(navigation, page, addresses)}<p class="quiet">Bourse ${version}</p></nav>
<main id="content" tabindex="-1">
${page.content}
</main>
</body>
</html>
`.text;
}

/**
 * A page loads from this service only and sends to this service only: a key that is typed there cannot leave
 * it.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** A text or a picture as the service sends it. `policy` is that of a page. */
export function contentOf(type: string, content: string | Uint8Array, policy = POLICY) {
  const body = [Buffer.from(content)];
  const headers = {
    'Cache-Control': 'no-cache',
    'Content-Type': typeof content === 'string' ? `${type}; charset=utf-8` : type,
    ...(type === 'text/html' && { 'Content-Security-Policy': policy }),
    ETag: tagOf(body),
  };
  return { headers, body };
}

/** The same for what is made once, so that it is encoded once. */
export const lastingOf = (type: string, content: string, policy = POLICY) => ({
  ...contentOf(type, content, policy),
  isLasting: true as const,
});

/** The files that the pages load, with their types. */
export const assetTypes = {
  'page.css': 'text/css',
  'pages.js': 'text/javascript',
  'forms.js': 'text/javascript',
} as const;

/** The text of a file that the pages load. */
export const assetOf = (name: keyof typeof assetTypes): Promise<string> =>
  readFile(new URL(`browser/${name}`, import.meta.url), 'utf8');
