// The guides in docs/: as pages of HTML with an index for searching them, and as Markdown with /llms.txt,
// which lists it for assistants. Each is made when it is first asked for (contract 9.3).
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { Token, Tokens } from 'marked';
import { madeOnce } from '../explorer/explorer-page.ts';
import { REFERENCE, referencePage, referenceTexts } from './endpoints-page.ts';
import {
  type Addresses,
  contentOf,
  escaped,
  type FramedPage,
  framed,
  HOME,
  Html,
  type Navigation,
} from './page-frame.ts';

const folder = new URL('../../../docs/', import.meta.url);

// A Bourse that was copied without them serves none.
const files = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => name.replaceAll('\\', '/'))
      .sort()
  : [];

/** The guides, by their paths below docs/. */
const guideNames = files.filter((name) => name.endsWith('.md'));

const pictureTypes: Readonly<Record<string, string>> = { svg: 'image/svg+xml', png: 'image/png' };

/** The pictures of the guides with their types, by their paths below docs/. */
export const pictures: ReadonlyMap<string, string> = new Map(
  files.flatMap((name) => {
    const type = pictureTypes[name.slice(name.lastIndexOf('.') + 1)];
    return type === undefined ? [] : [[name, type] as const];
  }),
);

/** The bytes of a picture. */
export const pictureOf = (name: string): Promise<Uint8Array> => readFile(new URL(name, folder));

/** The Markdown of a guide. */
const markdownOf = (name: string): Promise<string> => readFile(new URL(name, folder), 'utf8');

/** The file below docs/ that a link of a guide leads to, and its fragment; null for files elsewhere. */
function linkedFile(target: string, guide: string): { name: string; fragment: string } | null {
  const url = new URL(target, new URL(guide, 'docs:///docs/'));
  const [, name] = /^\/docs\/(.*)$/.exec(url.pathname) ?? [];
  return name === undefined ? null : { name, fragment: url.hash };
}

/** A link or a picture of Markdown: its words and where it leads. */
const LINK = /!?\[([^[\]]*)\]\(([^()\s]+)\)/g;

const START = 'README.md';

/** The decisions, of which a page of its own has the list. */
const DECISIONS = 'decisions/';
const DECISION_LIST = 'decisions/index.md';

/** The path of a guide's page below the documentation. */
const pathOf = (name: string): string => (name === START ? HOME : name.replace(/\.md$/, '.html'));

/** The address of a link of a guide; null where it leads to nothing that is here. */
function addressOf(target: string, guide: string, { root, home }: Addresses): string | null {
  if (/^(?:#|https?:|mailto:)/.test(target)) return target;
  const linked = URL.canParse(target) ? null : linkedFile(target, guide);
  if (linked === null) return null;
  const { name, fragment } = linked;
  if (name === START) return `${home}${fragment}`;
  if (pictures.has(name)) return `${root}${name}`;
  const page = `${name}/` === DECISIONS ? DECISION_LIST : name;
  return sources.has(page) ? `${root}${pathOf(page)}${fragment}` : null;
}

const titleIn = (markdown: string): string => /^# (.+)$/m.exec(markdown)?.[1] ?? '';

async function decisionList(): Promise<string> {
  const names = guideNames.filter((name) => name.startsWith(DECISIONS));
  const links = names.map(
    async (name) => `- [${titleIn(await markdownOf(name))}](${name.slice(DECISIONS.length)})`,
  );
  const about = 'Decisions that a newcomer would question, each with its context, its reasons and its cost.';
  return ['# Decisions', '', about, '', ...(await Promise.all(links)), ''].join('\n');
}

/** The Markdown of each page. */
const sources = new Map<string, () => Promise<string>>([
  [START, async () => '# Documentation\n\nThis installation has no guides.\n'],
  ...guideNames.map((name) => [name, () => markdownOf(name)] as const),
  [DECISION_LIST, decisionList],
]);

/** The text of Markdown without its signs. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((token): string => {
      if (token.type === 'table') {
        const { header, rows } = token as Tokens.Table;
        return [header, ...rows].flatMap((row) => row.map((cell) => `${plain(cell.tokens)} `)).join('');
      }
      if (token.type === 'list') return plain((token as Tokens.List).items);
      const inner = (token as Tokens.Generic).tokens;
      const text = inner === undefined ? String((token as Tokens.Generic).text ?? ' ') : plain(inner);
      return /^(?:paragraph|heading|code|list_item|blockquote)$/.test(token.type) ? `${text} ` : text;
    })
    .join('');
}

/** Gives each heading of a page an id, by the rules of GitHub. */
function headingIds(): (heading: Tokens.Heading) => string {
  const counts = new Map<string, number>();
  return ({ tokens }) => {
    const words = plain(tokens).toLowerCase();
    const id = words.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-');
    const count = counts.get(id) ?? 0;
    counts.set(id, count + 1);
    return count === 0 ? id : `${id}-${count}`;
  };
}

/** A heading of a page, and the text below it. */
type Part = { readonly heading: string; readonly depth: number; readonly id: string; readonly text: string };

function partsOf(tokens: readonly Token[]): Part[] {
  const idOf = headingIds();
  const parts: { head: Tokens.Heading; id: string; below: Token[] }[] = [];
  for (const token of tokens) {
    if (token.type !== 'heading') parts.at(-1)?.below.push(token);
    else parts.push({ head: token as Tokens.Heading, id: idOf(token as Tokens.Heading), below: [] });
  }
  return parts.map(({ head: { tokens: words, depth }, id, below }) => ({
    ...{ heading: plain(words), depth, id },
    text: plain(below).replaceAll(/\s+/g, ' ').trim(),
  }));
}

async function tokensOf(markdown: string): Promise<Token[]> {
  const { lexer } = await import('marked');
  return lexer(markdown);
}

/** The HTML of a guide. Markup in its text is shown, not obeyed. */
async function htmlOf(tokens: Token[], guide: string, addresses: Addresses): Promise<Html> {
  const { Marked } = await import('marked');
  const idOf = headingIds();
  const renderer = new Marked({
    renderer: {
      html: ({ text }) => escaped(text),
      text(token) {
        // The library leaves text as it is behind a tag such as <script>, which here is text itself.
        const inner = 'tokens' in token ? token.tokens : undefined;
        return inner === undefined ? escaped(token.text) : this.parser.parseInline(inner);
      },
      heading(heading) {
        const { depth, tokens: words } = heading;
        const id = escaped(idOf(heading));
        const link = ` <a class="anchor" href="#${id}" aria-label="Link to this part">#</a>`;
        const inside = `${this.parser.parseInline(words)}${depth === 1 ? '' : link}`;
        return `<h${depth} id="${id}">${inside}</h${depth}>\n`;
      },
      code({ text, lang = '' }) {
        const [language = '', ...file] = lang.split(' ');
        const name = file.length === 0 ? '' : `<p class="file">${escaped(file.join(' '))}</p>`;
        const lines = `<pre data-language="${escaped(language)}"><code>${escaped(text)}\n</code></pre>`;
        return `${name}<div class="code">${lines}</div>\n`;
      },
      link({ href, tokens: words }) {
        const [address, inside] = [addressOf(href, guide, addresses), this.parser.parseInline(words)];
        return address === null ? inside : `<a href="${escaped(address)}">${inside}</a>`;
      },
      image({ href, text }) {
        const address = addressOf(href, guide, addresses);
        return address === null ? escaped(text) : `<img src="${escaped(address)}" alt="${escaped(text)}">`;
      },
    },
  });
  const given = renderer.parser(tokens);
  return new Html(
    given
      .replaceAll('<table>', '<div class="wide"><table>')
      .replaceAll('</table>', '</table></div>')
      // A heading without words is none.
      .replaceAll(/<th(?: align="\w+")?><\/th>/g, '<td></td>')
      .replaceAll(/<thead>\n<tr>\n(?:<td><\/td>\n)+<\/tr>\n<\/thead>\n/g, ''),
  );
}

/** Addresses that are paths below the documentation. */
const inRoot: Addresses = { root: '', home: HOME, styles: '', explorer: null };

/** The navigation: the reference, and the sections of the first guide with their links. */
async function navigation(): Promise<Navigation> {
  const [, ...sections] = (await sources.get(START)!()).split(/^## /m);
  const guides = sections.map((section) => ({
    title: section.slice(0, section.indexOf('\n')),
    links: Array.from(section.matchAll(LINK), ([, words, target]) => ({
      label: words!.charAt(0).toUpperCase() + words!.slice(1),
      path: addressOf(target!, START, inRoot) ?? '',
    })).filter(({ path }) => path.endsWith('.html')),
  }));
  const reference = { title: 'Reference', links: [{ label: 'Endpoints', path: REFERENCE }] };
  return [reference, ...guides.filter(({ links }) => links.length > 0)];
}

/** A guide of some Markdown as a page. `name` is its path below docs/, from which its links lead. */
export async function guidePage(markdown: string, name: string, addresses: Addresses): Promise<FramedPage> {
  const tokens = await tokensOf(markdown);
  const parts = partsOf(tokens);
  return {
    path: pathOf(name),
    title: parts[0]?.heading ?? name,
    content: await htmlOf(tokens, name, addresses),
    parts: parts.filter(({ depth }) => depth === 2).map(({ heading, id }) => ({ label: heading, path: id })),
  };
}

/** The guides' pages by their paths below the documentation: each is made with the addresses of its place. */
export const guidePages: ReadonlyMap<string, (addresses: Addresses, version: string) => Promise<string>> =
  new Map(
    Array.from(sources, ([name, markdown]) => [
      pathOf(name),
      async (addresses, version) =>
        framed(await guidePage(await markdown(), name, addresses), await navigation(), addresses, version),
    ]),
  );

/** The page of the reference, as `referencePage` has it. */
export async function framedReference(
  addresses: Addresses,
  version: string,
  ...about: Parameters<typeof referencePage>
): Promise<string> {
  return framed(referencePage(...about), await navigation(), addresses, version);
}

/** A script with what the search looks through: of each page the title, the path and its parts. */
export async function searchIndex(): Promise<string> {
  const pages: unknown[] = [['Endpoints', REFERENCE, referenceTexts]];
  for (const [name, markdown] of sources) {
    const parts = partsOf(await tokensOf(await markdown()));
    const texts = parts.map(({ heading, depth, id, text }) => [heading, depth === 1 ? '' : id, text]);
    pages.push([parts[0]?.heading ?? name, pathOf(name), texts]);
    // All of them at once would keep requests waiting.
    await setImmediate();
  }
  return `globalThis.searchIndex = ${JSON.stringify(pages)};\n`;
}

/**
 * The Markdown of a guide as it is served, which is read when it is first asked for: without the links to
 * files of the project that the service does not serve; their words stay.
 */
const servedTextOf = madeOnce(async (name: string) =>
  (await markdownOf(name)).replace(LINK, (link, words: string, target: string) => {
    if (target.startsWith('#') || URL.canParse(target)) return link;
    return guideNames.includes(linkedFile(target, name)?.name ?? '') ? link : words;
  }),
);

/** The parts of /llms.txt, each with the beginning of its pages' paths. */
const parts = [
  ['Using', /^using\//],
  ['Operating', /^operating\//],
  // By the convention of llms.txt: what an assistant with little room leaves out.
  ['Optional', /^(?!using\/|operating\/)/],
] as const;

async function listOf(base: string): Promise<string> {
  const lineOf = async (name: string): Promise<string> =>
    `- [${/^# (.+)$/m.exec(await servedTextOf(name))?.[1] ?? name}](${base}/docs/${name})`;
  const sections = parts.map(async ([title, form]) => {
    const lines = await Promise.all(guideNames.filter((name) => form.test(name)).map(lineOf));
    return [`## ${title}`, '', ...lines, ''].join('\n');
  });
  return `# Bourse

> A read-only market data query service over its owner's own data: OHLC bars at every interval, instruments, corporate actions, news, options,
> holidays and the economic calendar, as JSON or CSV over HTTP, each also as of a moment in the past.

Every endpoint with its parameters: [openapi.json](${base}/openapi.json). Every request for data needs a key. Assistants that speak the Model Context
Protocol connect to ${base}/mcp with the key as a Bearer token.

${(await Promise.all(sections)).join('\n')}`;
}

type MarkdownPage = (request: {
  readonly baseAddress: () => string;
}) => Promise<ReturnType<typeof contentOf>>;

/** The Markdown of the guides, and their list, by their paths on the service. */
export const markdownPages: readonly (readonly [path: string, page: MarkdownPage])[] = [
  ['/llms.txt', async ({ baseAddress }) => contentOf('text/plain', await listOf(baseAddress()))],
  ...guideNames.map(
    (name) => [`/docs/${name}`, async () => contentOf('text/markdown', await servedTextOf(name))] as const,
  ),
];
