// The documentation as Markdown, page by page, and /llms.txt, which lists it for assistants (contract 9.3).
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tagOf } from '../cache/etag.ts';

const folder = new URL('../../../docs/', import.meta.url);

/** The pages, by their paths below docs/. A Bourse that was copied without them serves none. */
const names = existsSync(folder)
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .sort()
  : [];

const texts = new Map<string, Promise<string>>();

/** A link or a picture of Markdown: its words and where it leads. */
const LINK = /!?\[([^[\]]*)\]\(([^()\s]+)\)/g;

/** A page without the links to files of the project that the service does not serve: their words stay. */
function withServedLinks(text: string, name: string): string {
  const root = new URL('docs:///');
  return text.replace(LINK, (link, words: string, target: string) => {
    if (target.startsWith('#') || URL.canParse(target)) return link;
    return names.includes(new URL(target, new URL(name, root)).pathname.slice(1)) ? link : words;
  });
}

async function read(name: string): Promise<string> {
  return withServedLinks(await readFile(new URL(name, folder), 'utf8'), name);
}

/** The text of a page, which is read once, when it is first asked for. */
function textOf(name: string): Promise<string> {
  const text = texts.get(name) ?? read(name);
  texts.set(name, text);
  return text;
}

function contentOf(type: string, text: string) {
  const body = [Buffer.from(text)];
  const headers = { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'no-cache' };
  return { headers: { ...headers, ETag: tagOf(body) }, body };
}

/** The parts of the list, each with the beginning of its pages' paths. */
const parts = [
  ['Using', /^using\//],
  ['Operating', /^operating\//],
  // By the convention of llms.txt: what an assistant with little room leaves out.
  ['Optional', /^(?!using\/|operating\/)/],
] as const;

async function listOf(base: string): Promise<string> {
  const lineOf = async (name: string): Promise<string> =>
    `- [${/^# (.+)$/m.exec(await textOf(name))?.[1] ?? name}](${base}/docs/${name})`;
  const sections = parts.map(async ([title, form]) => {
    const lines = await Promise.all(names.filter((name) => form.test(name)).map(lineOf));
    return [`## ${title}`, '', ...lines, ''].join('\n');
  });
  return `# Bourse

> A read-only market data query service over its owner's own data: OHLC bars at every interval, instruments, corporate actions, news, options,
> holidays and the economic calendar, as JSON or CSV over HTTP, each also as of a moment in the past.

Every endpoint with its parameters: [openapi.json](${base}/openapi.json). Every request for data needs a key. Assistants that speak the Model Context
Protocol connect to ${base}/mcp with the key as a Bearer token.

${(await Promise.all(sections)).join('\n')}`;
}

type Page = (request: { readonly baseAddress: () => string }) => Promise<ReturnType<typeof contentOf>>;

/** The pages by their paths on the service. */
export const markdownPages: readonly (readonly [path: string, page: Page])[] = [
  ['/llms.txt', async ({ baseAddress }) => contentOf('text/plain', await listOf(baseAddress()))],
  ...names.map(
    (name) => [`/docs/${name}`, async () => contentOf('text/markdown', await textOf(name))] as const,
  ),
];
