// Holds an answer to the contract: the right class, the envelope, the headers, and no key where none belongs.
import assert from 'node:assert/strict';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { contract } from '../../src/contract/index.ts';
import type { Known } from './answers.ts';
import type { Trial } from './trial.ts';

/** An answer, wherever it came from. */
export type Reply = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

/** The words and statuses of contract 6.3. */
const statuses: Readonly<Record<string, number>> = {
  ...{ bad_request: 400, invalid_parameter: 400, invalid_page_key: 400, unknown_interval: 400 },
  ...{ missing_key: 401, invalid_key: 401, unknown_instrument: 404, unknown_path: 404, no_data: 404 },
  ...{ method_not_allowed: 405, timeout: 408, uri_too_long: 414, headers_too_large: 431 },
};

type Failure = {
  readonly message: string;
  readonly detail: {
    readonly error: string;
    readonly param?: string;
    readonly got?: string;
    readonly request_id: string;
  };
};

const DETAIL_FIELDS = ['error', 'param', 'got', 'allowed', 'hint', 'request_id'];

/** A failure's class, once it is one in form (contract 6.2). */
export function judgeFailure({ status, headers, body }: Reply): string {
  const parsed = JSON.parse(body) as Failure;
  const { message, detail } = parsed;
  const { error, param } = detail;
  assert.equal(status, statuses[error], `${error} with ${status}`);
  assert.equal(
    JSON.stringify(parsed),
    JSON.stringify({ status: 'error', code: status, message, reference: null, result: null, detail }),
  );
  const fields = Object.keys(detail);
  assert.deepEqual(
    fields,
    DETAIL_FIELDS.filter((field) => fields.includes(field)),
  );
  assert.match(message, /\S[\s\S]*\.$/, 'a sentence');
  if (param !== undefined) assert.ok(message.includes(param), `the message names ${param}: ${message}`);
  assert.ok(Array.from(detail.got ?? '').length <= 80, 'what arrived is cut');
  assert.equal(headers.get('x-request-id'), detail.request_id);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'no-store');
  return param === undefined ? error : `${error} ${param}`;
}

type Page = {
  readonly next_page_key?: string | null;
  readonly next_page_url?: string | null;
  readonly count: number;
  readonly data: readonly object[] | string;
};

const PAGING = ['next_page_key', 'next_page_url'];

/** The columns that bars have (spec 2.10, contract 9.5). */
const BAR_FIELDS =
  'asset_schema,interval,country_iso_code,exchange,symbol,datetime,close_datetime,open,high,low,close,volume,vwap';
const withSessionDate = BAR_FIELDS.replace('close_datetime,', 'close_datetime,session_date,');

function judgeFields(fields: string): void {
  assert.ok(fields === BAR_FIELDS || fields === withSessionDate, `fields: ${fields}`);
}

/** Rows of CSV that hold no line break, the header not counted. */
function csvRows(text: string): number {
  assert.ok(text.endsWith('\r\n'), 'CSV ends with CRLF');
  const lines = text.slice(0, -2).split('\r\n');
  judgeFields(lines[0]!);
  return lines.length - 1;
}

function judgeNextUrl(url: string | null | undefined, key: string | null | undefined, trial: Trial): void {
  assert.equal(url === null || url === undefined, key === null || key === undefined);
  if (!url) return;
  assert.ok(url.startsWith(`http://${trial.headers.host}/api/v2/`), `base of ${url}`);
  assert.ok(url.endsWith(`&next_page_key=${key}`) && URL.canParse(url), url);
  assert.equal(url.includes('secret_key='), trial.keyInQuery, 'a key only where it came in the query');
}

function judgeJson({ body }: Reply, trial: Trial): void {
  const parsed = JSON.parse(body) as { reference: unknown; result: Page };
  const { reference, result } = parsed;
  assert.deepEqual(Object.keys(parsed), ['status', 'code', 'message', 'reference', 'result']);
  assert.ok(body.startsWith('{"status":"ok","code":200,"message":"success","reference":'), body.slice(0, 80));
  assert.ok(reference === null || reference === 'cached');
  const isPaged = (contract[trial.endpoint] as Endpoint).shape === 'paged';
  assert.deepEqual(Object.keys(result), [...(isPaged ? PAGING : []), 'count', 'data']);
  judgeNextUrl(result.next_page_url, result.next_page_key, trial);
  const { data } = result;
  assert.equal(typeof data === 'string', trial.format === 'wrapped csv');
  assert.equal(typeof data === 'string' ? csvRows(data) : data.length, result.count);
  if (typeof data !== 'string') for (const record of data) judgeFields(Object.keys(record).join(','));
  assert.ok(result.count <= trial.limit!, `${result.count} records for a limit of ${trial.limit}`);
}

function judgeCsv({ headers, body }: Reply, trial: Trial): void {
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  const count = csvRows(body);
  assert.equal(headers.get('x-count'), String(count));
  assert.ok(count <= trial.limit!);
  const link = headers.get('link');
  judgeNextUrl(link?.slice(1, -'>; rel="next"'.length), headers.get('x-next-page-key'), trial);
}

function judgeSuccess(reply: Reply, trial: Trial): string {
  if (reply.status === 204) {
    assert.equal(reply.body, '');
    assert.equal(reply.headers.get('allow'), 'GET, HEAD, OPTIONS');
    return 'no content';
  }
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'private, no-cache');
  if (!contract[trial.endpoint].path.includes('/bars/')) return 'ok';
  if (trial.format === 'csv') judgeCsv(reply, trial);
  else judgeJson(reply, trial);
  return 'ok';
}

/** Contract 7.4: a caller's own key may stand in the address of its next page, nothing else. */
function judgeSecrecy(reply: Reply, trial: Trial, known: Known): void {
  const own = trial.keyInQuery ? /"next_page_url":"[^"]*"/g : /$^/;
  const text = reply.body.replace(own, '');
  const headers = [...reply.headers].filter(([name]) => name !== 'link' || !trial.keyInQuery);
  for (const key of [known.liveKey, ...known.deadKeys])
    assert.ok(!text.includes(key) && !headers.some(([, value]) => value.includes(key)), 'a key got out');
}

const OWN_ID = /^[\w.-]{1,64}$/;

function judgeHeaders({ status, headers, body }: Reply, trial: Trial): void {
  const own = trial.headers['x-request-id'];
  const id = headers.get('x-request-id') ?? '';
  if (own !== undefined && OWN_ID.test(own)) assert.equal(id, own);
  else assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.has('allow'), status === 405 || status === 204);
  assert.equal(headers.has('retry-after'), false);
  if (status !== 204 && trial.method !== 'HEAD')
    assert.equal(headers.get('content-length'), String(Buffer.byteLength(body)));
}

/** Of an answer to HEAD a socket shows the head alone (contract 6.6): its status must be a right one's. */
function judgeBare({ status }: Reply, { right }: Trial): string {
  const isRight = right.some((outcome) => (statuses[outcome.split(' ')[0]!] ?? 200) === status);
  assert.ok(isRight, `${status} instead of ${right.join(' or ')}`);
  return `HEAD ${status}`;
}

function outcomeOf(reply: Reply, trial: Trial): string {
  if (trial.method === 'HEAD' && reply.body === '') return judgeBare(reply, trial);
  const outcome = reply.status >= 400 ? judgeFailure(reply) : judgeSuccess(reply, trial);
  assert.ok(trial.right.includes(outcome), `${outcome} instead of ${trial.right.join(' or ')}`);
  return outcome;
}

/** The class of an answer. @throws AssertionError where the answer is not one that the contract allows */
export function judge(reply: Reply, trial: Trial, known: Known): string {
  assert.ok(reply.status < 500, `${reply.status}: ${reply.body.slice(0, 300)}`);
  judgeHeaders(reply, trial);
  const outcome = outcomeOf(reply, trial);
  judgeSecrecy(reply, trial, known);
  assert.ok(!reply.body.includes('http://evil.example'), 'a foreign address');
  return outcome;
}
