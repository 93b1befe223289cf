// A request handler in process, over a real store with a few bars and one event: what the tests of its parts
// have in common.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Observation } from '../src/base/observe.ts';
import { type ErrorWord, errors } from '../src/contract/errors.ts';
import { contract, type EndpointName } from '../src/contract/index.ts';
import { limits } from '../src/contract/limits.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { startParquet } from '../src/queries/export/parquet-process.ts';
import { QueryRunner } from '../src/queries/index.ts';
import type { Answer } from '../src/queries/query.ts';
import type { AddressSettings } from '../src/serve/base-address.ts';
import { ResponseCache } from '../src/serve/cache/response-cache.ts';
import { RequestHandler } from '../src/serve/handler.ts';
import { issueKey, KeyRing, noTerms } from '../src/serve/keys/api-keys.ts';
import { Quotas } from '../src/serve/keys/quotas.ts';
import { UnsentBytes } from '../src/serve/outgoing/unsent-bytes.ts';
import type { HandlerParts } from '../src/serve/request-context.ts';
import { ParquetSpool } from '../src/serve/spool/parquet-spool.ts';
import { addQuotaUses, readKeys } from '../src/store/control.ts';
import { openControl, openStore } from '../src/store/engines.ts';
import { type FileRow, fillStore, importSeries, opened } from './importing.ts';
import { TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
/** The address of the store. */
export const storeUrl = temporary.storeUrl();

/** Imports rows of a dataset into the store. */
export const addRows = (dataset: string, rows: readonly FileRow[]): Promise<void> =>
  fillStore(storeUrl, folder, Date.now(), [[dataset, rows]]);

const writer = await openStore(storeUrl, 'write');

/** The opens of the bars that the store has: twelve minutes of US:AAPL. */
export const opens = Array.from({ length: 12 }, (_, index) => `2025-03-03T14:${30 + index}:00Z`);
const file = join(folder, 'aapl.csv');
writeFileSync(
  file,
  ['datetime,open,high,low,close,volume', ...opens.map((open, i) => `${open},1,3,0.5,2,${i}`), ''].join('\n'),
);
const named = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL', interval: '1M' };
await importSeries(writer, file, named);
const eventFile = join(folder, 'events.csv');
writeFileSync(
  eventFile,
  'country_iso_code,event_code,event_name,event_timestamp,impact\nUS,GDP_A,A,2025-03-03T14:30:00Z,low\n',
);
const unnamed = { flags: new Map<string, string>(), zone: null, source: null, dryRun: false };
await importFile(writer, 'economic-events', { file: await opened(eventFile), ...unnamed, nowMs: Date.now });

/** The control file of the store, open for writing. */
export const control = await openControl(storeUrl, 'write');

/** The store, open for reading. */
export const store = await openStore(storeUrl, 'read');

/** Answers queries in this thread. */
export const runner = new QueryRunner(store, new Uint8Array(32).fill(7));

/** The keys of the control file. */
export const keys = new KeyRing(() => readKeys(control));

/** A valid key. */
export const { secret: key } = await issueKey(control, 'test', noTerms, Date.now());
after(async () => {
  for (const open of [writer, control, store]) await open.close();
  temporary.close();
});

/** The clock of the handlers stands still: neither a minute nor a day ends while a test runs. */
const startedMs = Date.now();
const nowMs = (): number => startedMs;

/** All that the handlers have observed. */
export const observed: Observation[] = [];

/** How the handlers find their base address. */
export const address: AddressSettings = {
  publicUrl: null,
  allowedHosts: ['bars.example.com'],
  trustProxy: false,
  scheme: 'http',
};

/** A request handler over the store, with other parts where a test needs them. */
export function openHandler(parts: Partial<HandlerParts> = {}): RequestHandler {
  return new RequestHandler({
    pages: new Map(),
    keys,
    cache: new ResponseCache(store),
    quotas: new Quotas({
      addUses: (uses) => addQuotaUses(control, uses, nowMs),
      observe: (observation) => observed.push(observation),
      nowMs,
    }),
    unsent: new UnsentBytes(),
    admits: () => true,
    spool: new ParquetSpool(),
    startParquet,
    submit: (request) => runner.run(request),
    address,
    version: '0.0.0',
    observe: (observation) => observed.push(observation),
    nowMs,
    ...parts,
  });
}

/** The request handler of most tests. */
export const handler = openHandler();

/** What a test sends beside the target. */
export type Sent = { method?: string; headers?: Record<string, string | undefined>; at?: RequestHandler };

/** A response, its body as text. */
export type Got = { status: number; headers: Readonly<Record<string, string>>; text: string };

/** Asks a handler; its whole response as text. */
export async function ask(
  target: string,
  { method = 'GET', headers = {}, at = handler }: Sent = {},
): Promise<Got> {
  const request = { method, target, headers: { host: 'localhost:8080', ...headers }, isGone: () => false };
  const response = await at.handle(request);
  return { ...response, text: Buffer.concat(response.body).toString() };
}

/** The path of a day of bars. */
export const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

/** The path of the latest bars. */
export const LATEST = '/api/v2/stock/bars/US:AAPL/1M/latest';

/** A path with the valid key, and more of a query. */
export const withKey = (path: string, query = ''): string => `${path}?secret_key=${key}${query}`;

/** A page of bars. */
export type Page = {
  next_page_key: string | null;
  next_page_url: string | null;
  count: number;
  data: Record<string, unknown>[];
};

/** Asks for a page that must be there. */
export async function page(target: string, sent: Sent = {}): Promise<Page> {
  const { status, text } = await ask(target, sent);
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { result: Page }).result;
}
type Detail = {
  error: string;
  param?: string;
  got?: string;
  allowed?: unknown;
  hint?: string;
  request_id: string;
};

/** Holds a response to contract 6.2 and 7.4, and to one word and parameter. */
export function refused(
  got: Got,
  words: ErrorWord | readonly ErrorWord[],
  param: string | undefined,
  what: string,
): Detail {
  const body = JSON.parse(got.text) as { code: number; message: string; detail: Detail };
  const { detail } = body;
  assert.ok([words].flat().includes(detail.error as ErrorWord), `${what}: ${detail.error} ${body.message}`);
  assert.equal(detail.param, param, `${what}: ${body.message}`);
  const code = errors[detail.error as ErrorWord].status;
  assert.equal(got.status, code, what);
  const { message } = body;
  assert.deepEqual(body, { status: 'error', code, message, reference: null, result: null, detail });
  assert.deepEqual(Object.keys(body), ['status', 'code', 'message', 'reference', 'result', 'detail']);
  const order = ['error', 'param', 'got', 'allowed', 'hint', 'request_id'];
  assert.deepEqual(
    Object.keys(detail),
    order.filter((field) => Object.hasOwn(detail, field)),
    what,
  );
  assert.match(message, /^[\s\S]+\.$/, 'a sentence');
  // A symbol that is not stored is named itself.
  const named = detail.error === 'unknown_instrument' ? detail.got : param;
  if (named !== undefined) assert.ok(message.includes(named), `${what}: the message names it: ${message}`);
  assert.ok(Array.from(detail.got ?? '').length <= limits.echoCharactersMax, what);
  assert.ok((detail.got ?? '').isWellFormed(), what);
  assert.equal(got.headers['X-Request-Id'], detail.request_id);
  assert.equal(got.headers['Content-Type'], 'application/json; charset=utf-8');
  assert.equal(got.headers['Content-Length'], String(Buffer.byteLength(got.text)));
  assert.equal(got.headers['Cache-Control'], 'no-store');
  assert.equal(got.headers['Referrer-Policy'], 'no-referrer');
  assert.ok(!got.text.includes(key), `${what}: the key is in the answer`);
  return detail;
}

/** A request of an endpoint by its declaration: every required parameter has its example. */
export function targetOf(name: EndpointName, values: Readonly<Record<string, string>>, without = ''): string {
  let { path }: { path: string } = contract[name];
  const query = [`secret_key=${key}`];
  for (const [parameter, { in: place, required, example }] of Object.entries(contract[name].parameters)) {
    const value = values[parameter] ?? (required ? encodeURIComponent(example) : null);
    if (place === 'path') path = path.replace(`{${parameter}}`, () => value!);
    else if (value !== null && parameter !== without) query.push(`${parameter}=${value}`);
  }
  return `${path}?${query.join('&')}`;
}

/** An answer without a body. */
export const nothing: Answer & { kind: 'answer' } = {
  kind: 'answer',
  contentType: 'text/plain',
  headers: {},
  body: new Uint8Array(),
  next: null,
};
