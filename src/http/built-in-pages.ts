// The built-in pages: paths beside the endpoints, which need no key and give no data (contract 9.3).
import { SUCCESS_MESSAGE } from '../contract/envelope.ts';
import { errors, Refusal } from '../contract/errors.ts';
import { JSON_TYPE } from '../queries/render/envelope.ts';
import { docsAssets, docsPage } from './docs/docs-page.ts';
import { openApiDocument } from './openapi/document.ts';

/** The content of a page. */
export type PageContent = {
  readonly status?: 200 | 302;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Web pages of other origins may not read it. */
  readonly isSameOrigin?: boolean;
};

/** Gives the content for a request. `baseAddress` gives the request's base address; for a foreign host it throws the refusal. */
export type BuiltInPage = (baseAddress: () => string) => PageContent | Promise<PageContent>;

/** Pages by path. */
export type BuiltInPages = ReadonlyMap<string, BuiltInPage>;

const json = (body: unknown): PageContent => ({
  headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache' },
  body: JSON.stringify(body),
});

const healthyBut = (result: object): PageContent =>
  json({ status: 'ok', code: 200, message: SUCCESS_MESSAGE, reference: null, result });

const healthy = healthyBut({});

/** The OpenAPI document. It is made again only for another base address. */
function openApiPage(version: string): BuiltInPage {
  let [base, content] = ['', json({})];
  return (baseAddress) => {
    const asked = baseAddress();
    if (asked !== base) [base, content] = [asked, json(openApiDocument(asked, version))];
    return content;
  };
}

/** The built-in pages of a service. `isReady` says whether it can answer requests for data now, `damaged` what of the store is damaged. */
export function builtInPages(
  version: string,
  isReady: () => Promise<boolean>,
  damaged: () => readonly string[],
): BuiltInPages {
  const docs = docsPage(version);
  const readiness = async (): Promise<PageContent> => {
    if (await isReady()) return damaged().length === 0 ? healthy : healthyBut({ damaged: damaged() });
    throw new Refusal('unavailable', { message: errors.unavailable.meaning });
  };
  return new Map<string, BuiltInPage>([
    ['/', () => ({ status: 302, headers: { Location: 'docs', 'Cache-Control': 'no-cache' }, body: '' })],
    ['/healthz', () => healthy],
    ['/readyz', readiness],
    ['/openapi.json', openApiPage(version)],
    ['/docs', () => docs],
    ...docsAssets.map(({ path, content }) => [path, () => content] as const),
  ]);
}
