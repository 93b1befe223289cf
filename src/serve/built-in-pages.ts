// The built-in pages: paths beside the endpoints, which need no key and give no data (contract 9.3).
import { Refusal, SUCCESS_MESSAGE } from '../contract/errors.ts';
import { JSON_TYPE } from '../queries/render/list.ts';
import { REFERENCE } from './docs/endpoints-page.ts';
import * as guides from './docs/guides.ts';
import { assetOf, assetTypes, contentOf, HOME, lastingOf, servedAddresses } from './docs/page-frame.ts';
import { explorerAssets, explorerPage, madeOnce, once } from './explorer/explorer-page.ts';
import { openApiDocument } from './openapi/document.ts';
import { type PageContent, tagOf } from './response.ts';

/** Facts about a request for a page: each throws the refusal of a foreign host. */
export type PageRequest = { readonly baseAddress: () => string; readonly checkHost: () => void };

/** Gives the content for a request. */
export type BuiltInPage = (request: PageRequest) => PageContent | Promise<PageContent>;

/** Pages by path. */
export type BuiltInPages = ReadonlyMap<string, BuiltInPage>;

const jsonHeaders = { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache' };

function healthyBut(result: object): PageContent {
  const envelope = { status: 'ok', code: 200, message: SUCCESS_MESSAGE, reference: null, result };
  return { headers: jsonHeaders, body: [Buffer.from(JSON.stringify(envelope))] };
}

const healthy = healthyBut({});

/** An address that the document does not hold elsewhere. */
const ANY_BASE = 'http://base.invalid';

/**
 * The OpenAPI document. It is made when it is first asked for; a request's base address is only put into its
 * place.
 */
function openApiPage(version: string): BuiltInPage {
  const made = once(async () => {
    const whole = JSON.stringify(openApiDocument(ANY_BASE, version));
    const pieces = whole.split(JSON.stringify(ANY_BASE)).map((part) => Buffer.from(part));
    return [...pieces, tagOf([Buffer.from(whole)])] as [Buffer, Buffer, string];
  });
  return async ({ baseAddress }) => {
    const [before, after, wholeTag] = await made();
    const base = Buffer.from(JSON.stringify(baseAddress()));
    const ETag = tagOf([base], wholeTag);
    return { headers: { ...jsonHeaders, ETag }, body: [before, base, after] };
  };
}

/** A page that forms send keys from; one that holds the key of a demo is for this host's own pages alone. */
const withDemoKey =
  (page: () => Promise<PageContent>, demoKey: () => string | null): BuiltInPage =>
  async ({ checkHost }) => {
    if (demoKey() === null) return page();
    checkHost();
    return { ...(await page()), isSameOrigin: true };
  };

/** The documentation: the guides, what they load, and the reference of the endpoints. */
function documentation(version: string, demoKey: () => string | null): [string, BuiltInPage][] {
  const html = (path: string, make: () => Promise<string>): [string, BuiltInPage] => [
    path === HOME ? '/docs' : `/docs/${path}`,
    once(async () => lastingOf('text/html', await make())),
  ];
  const assets = Object.keys(assetTypes) as (keyof typeof assetTypes)[];
  const reference = madeOnce(async (key: string | null) =>
    lastingOf('text/html', await guides.framedReference(servedAddresses(REFERENCE), version, true, key)),
  );
  return [
    ...Array.from(guides.guidePages, ([path, make]) =>
      html(path, () => make(servedAddresses(path), version)),
    ),
    [`/docs/${REFERENCE}`, withDemoKey(() => reference(demoKey()), demoKey)],
    ['/docs/search-index.js', once(async () => lastingOf('text/javascript', await guides.searchIndex()))],
    ...assets.map((name): [string, BuiltInPage] => [
      `/docs/${name}`,
      once(async () => lastingOf(assetTypes[name], await assetOf(name))),
    ]),
    ...Array.from(guides.pictures, ([name, type]): [string, BuiltInPage] => [
      `/docs/${name}`,
      once(async () => contentOf(type, await guides.pictureOf(name))),
    ]),
  ];
}

/**
 * The built-in pages of a service. `problem` says why it cannot answer requests for data now, null where it
 * can; `damagedParts` how many parts of the store are damaged; `demoKey` the key that the pages of a demo
 * fill in, null of every other service.
 */
export function builtInPages(
  version: string,
  problem: () => Promise<string | null>,
  damagedParts: () => number,
  demoKey: () => string | null = () => null,
): BuiltInPages {
  const readiness = async (): Promise<PageContent> => {
    const message = await problem();
    if (message !== null) throw new Refusal('unavailable', { message });
    // Only how much: these pages need no key and give no data.
    return damagedParts() === 0 ? healthy : healthyBut({ damaged: damagedParts() });
  };
  return new Map<string, BuiltInPage>([
    ['/', withDemoKey(() => explorerPage(demoKey()), demoKey)],
    ...explorerAssets,
    ['/healthz', () => healthy],
    ['/readyz', readiness],
    ['/openapi.json', openApiPage(version)],
    ...documentation(version, demoKey),
    ...guides.markdownPages,
  ]);
}
