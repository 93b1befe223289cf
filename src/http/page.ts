// Pages: what the door answers beside the endpoints, without a key and without data (contract 9.3).

import { SUCCESS_MESSAGE } from '../contract/envelope.ts';
import { errors, Refusal } from '../contract/errors.ts';
import { JSON_TYPE } from '../queries/render/envelope.ts';
import { docsAssets, docsPage } from './docs/page.ts';
import { openApiDocument } from './openapi/document.ts';

/** What a page answers. */
export type PageAnswer = {
  readonly status?: 200 | 302;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Web pages of others get no leave to read it. */
  readonly isOurs?: boolean;
};

/** A page: its answer to a request that reached the service by a base address; throws the refusal of a foreign one. */
export type Page = (baseAddress: () => string) => PageAnswer | Promise<PageAnswer>;

/** Pages by path. */
export type Pages = ReadonlyMap<string, Page>;

const json = (body: unknown): PageAnswer => ({
  headers: { 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-cache' },
  body: JSON.stringify(body),
});

const well = json({ status: 'ok', code: 200, message: SUCCESS_MESSAGE, reference: null, result: {} });

const still =
  (headers: Readonly<Record<string, string>>, body: string): Page =>
  () => ({
    headers: { 'Cache-Control': 'no-cache', ...headers },
    body,
  });

async function readiness(isReady: () => Promise<boolean>): Promise<PageAnswer> {
  if (await isReady()) return well;
  throw new Refusal('unavailable', { message: errors.unavailable.meaning });
}

/** The document, made anew only for another base address. */
function openApiPage(version: string): Page {
  let [base, answer] = ['', json({})];
  return (baseAddress) => {
    const asked = baseAddress();
    if (asked !== base) [base, answer] = [asked, json(openApiDocument(asked, version))];
    return answer;
  };
}

/** The pages of a service of some version; `isReady` says whether it can answer requests for data now. */
export function servicePages(version: string, isReady: () => Promise<boolean>): Pages {
  return new Map<string, Page>([
    ['/', () => ({ status: 302, headers: { Location: 'docs', 'Cache-Control': 'no-cache' }, body: '' })],
    ['/healthz', () => well],
    ['/readyz', () => readiness(isReady)],
    ['/openapi.json', openApiPage(version)],
    ['/docs', still(docsPage.headers, docsPage.html(version))],
    ...docsAssets.map(({ path, headers, body }): [string, Page] => [path, still(headers, body)]),
  ]);
}
