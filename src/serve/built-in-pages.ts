// The built-in pages: paths beside the endpoints, which need no key and give no data (contract 9.3).
import { SUCCESS_MESSAGE } from '../contract/envelope.ts';
import { Refusal } from '../contract/errors.ts';
import { JSON_TYPE } from '../queries/render/envelope.ts';
import { tagOf } from './cache/etag.ts';
import { docsAssets, docsPage } from './docs/docs-page.ts';
import { markdownPages } from './docs/markdown-pages.ts';
import { explorerAssets, explorerPage } from './explorer/explorer-page.ts';
import { openApiDocument } from './openapi/document.ts';

/** The content of a page. */
export type PageContent = {
  readonly headers: Readonly<Record<string, string>>;
  /** The pieces of the body, shared by all responses. */
  readonly body: readonly Uint8Array[];
  /** Web pages of other origins may not read it. */
  readonly isSameOrigin?: boolean;
  /** Its body is the same array at every request, so that it is encoded once. */
  readonly isLasting?: boolean;
};

/** Facts about a request for a page: each throws the refusal of a foreign host. */
export type PageRequest = { readonly baseAddress: () => string; readonly checkHost: () => void };

/** Gives the content for a request. */
export type BuiltInPage = (request: PageRequest) => PageContent | Promise<PageContent>;

/** Pages by path. */
export type BuiltInPages = ReadonlyMap<string, BuiltInPage>;

const jsonHeaders = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache' };

const healthyBut = (result: object): PageContent => ({
  headers: jsonHeaders,
  body: [
    Buffer.from(
      JSON.stringify({ status: 'ok', code: 200, message: SUCCESS_MESSAGE, reference: null, result }),
    ),
  ],
});

const healthy = healthyBut({});

/** An address that the document does not hold elsewhere. */
const ANY_BASE = 'http://base.invalid';

/** The OpenAPI document. It is made once; a request's base address is only put into its place. */
function openApiPage(version: string): BuiltInPage {
  const whole = JSON.stringify(openApiDocument(ANY_BASE, version));
  const [before, after] = whole.split(JSON.stringify(ANY_BASE)).map((part) => Buffer.from(part));
  const wholeTag = tagOf([Buffer.from(whole)]);
  return ({ baseAddress }) => {
    const base = Buffer.from(JSON.stringify(baseAddress()));
    const ETag = tagOf([base], wholeTag);
    return { headers: { ...jsonHeaders, ETag }, body: [before!, base, after!] };
  };
}

/** The explorer; one that holds the key of a demo is for this host's own pages alone. */
async function explorerOf(
  page: () => Promise<PageContent>,
  demoKey: () => string | null,
  checkHost: () => void,
): Promise<PageContent> {
  if (demoKey() === null) return page();
  checkHost();
  return { ...(await page()), isSameOrigin: true };
}

/**
 * The built-in pages of a service. `problem` says why it cannot answer requests for data now, null where it
 * can; `damagedParts` how many parts of the store are damaged; `demoKey` the key that the explorer of a demo
 * fills in, null of every other service.
 */
export function builtInPages(
  version: string,
  problem: () => Promise<string | null>,
  damagedParts: () => number,
  demoKey: () => string | null = () => null,
): BuiltInPages {
  const docs = docsPage(version);
  const explorer = explorerPage(demoKey);
  const readiness = async (): Promise<PageContent> => {
    const message = await problem();
    if (message !== null) throw new Refusal('unavailable', { message });
    // Only how much: these pages need no key and give no data.
    return damagedParts() === 0 ? healthy : healthyBut({ damaged: damagedParts() });
  };
  return new Map<string, BuiltInPage>([
    ['/', ({ checkHost }) => explorerOf(explorer, demoKey, checkHost)],
    ...explorerAssets,
    ['/healthz', () => healthy],
    ['/readyz', readiness],
    ['/openapi.json', openApiPage(version)],
    ['/docs', () => docs],
    ...markdownPages,
    ...docsAssets.map(({ path, content }) => [path, () => content] as const),
  ]);
}
