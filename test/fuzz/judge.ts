// Holds an answer to the contract: the right class, the envelope, the headers, and no key where none belongs.
import assert from 'node:assert/strict';
import { tableFromIPC } from 'apache-arrow';
import { Compile } from 'typebox/schema';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { dataEndpoints } from '../../src/contract/index.ts';
import { type Cell, parseCsv } from '../csv.ts';
import type { AnyName, Known } from './answers.ts';
import type { Came, Good } from './expect.ts';
import { columnsIn } from './grammar.ts';
import type { Trial } from './trial.ts';

/** An answer, wherever it came from; the bytes of one that is no text are the characters of its body. */
export type Reply = {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

/** The words and statuses of contract 6.3. */
const statuses: Readonly<Record<string, number>> = {
  ...{ bad_request: 400, invalid_parameter: 400, invalid_page_key: 400, unknown_interval: 400 },
  ...{ missing_key: 401, invalid_key: 401, unknown_instrument: 404, unknown_path: 404, no_data: 404 },
  ...{
    method_not_allowed: 405,
    timeout: 408,
    uri_too_long: 414,
    range_not_satisfiable: 416,
    headers_too_large: 431,
  },
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
  // A symbol that is not stored is named itself.
  const named = error === 'unknown_instrument' ? detail.got : param;
  if (named !== undefined) assert.ok(message.includes(named), `the message names ${named}: ${message}`);
  assert.ok(Array.from(detail.got ?? '').length <= 80, 'what arrived is cut');
  assert.equal(headers.get('x-request-id'), detail.request_id);
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(headers.get('cache-control'), 'no-store');
  return param === undefined ? error : `${error} ${param}`;
}

type Body = {
  readonly reference: unknown;
  readonly result: Came & {
    readonly next_page_key?: string | null;
    readonly next_page_url?: string | null;
    readonly count?: number;
    readonly data?: unknown;
  };
};

/** The fields of `result`, where it is no record and no map (spec 2.2, 2.6). */
const resultFields: Partial<Record<Endpoint['shape'], readonly string[]>> = {
  list: ['count', 'data'],
  paged: ['next_page_key', 'next_page_url', 'count', 'data'],
  grouped: ['count', 'next_page_key', 'next_page_url', 'expiration_datetimes', 'data'],
};

const isPaged = ({ endpoint }: Trial): boolean => 'next_page_key' in dataEndpoints[endpoint].parameters;

/** The fields of a list's `result`; a CSV in it has no groups and is no array (contract 4.7, 5.3). */
const fieldsOfResult = (trial: Trial): readonly string[] | undefined => {
  const { shape, beside = {} } = dataEndpoints[trial.endpoint] as Endpoint;
  const fields = resultFields[trial.format !== 'wrapped csv' ? shape : isPaged(trial) ? 'paged' : 'list'];
  return fields && [...fields, ...Object.keys(beside)];
};

/** Endpoints whose answers may say that they come from a cache (spec 2.1). */
const cached: readonly AnyName[] = ['instrumentReference', 'optionExpirations'];

const endpoints = Object.entries(dataEndpoints) as [AnyName, Endpoint][];
const schemas = new Map(endpoints.map(([name, { record }]) => [name, Compile(record)]));

/** What a record's schema says of its fields. */
type Fields = { readonly properties: object; readonly required?: readonly string[] };

/** Fields in the order of the declaration; only those that it calls optional may be missing. */
function judgeFields(fields: readonly string[], { endpoint, texts }: Trial): void {
  if (texts.columns !== undefined) {
    assert.deepEqual(fields, columnsIn(texts.columns), 'the columns that were asked for');
    return;
  }
  const { properties, required: must = [] } = dataEndpoints[endpoint].record as Fields;
  const wanted = Object.keys(properties).filter((name) => fields.includes(name) || must.includes(name));
  assert.equal(fields.join(), wanted.join(), 'the fields that are declared, in their order');
}

/** Records of JSON as they are declared. */
function judgeRecords(records: readonly Came[], trial: Trial): void {
  const schema = schemas.get(trial.endpoint)!;
  for (const fields of new Set(records.map((record) => Object.keys(record).join())))
    judgeFields(fields.split(','), trial);
  // Fewer fields, and instants that are numbers (contract 9.16).
  if (trial.texts.columns !== undefined || trial.texts.timestamps !== undefined) return;
  for (const record of records) if (!schema.Check(record)) assert.fail(JSON.stringify(schema.Errors(record)));
}

/** Records of CSV. */
function csvRecords(text: string, trial: Trial): Came[] {
  const [header, ...rows] = parseCsv(text);
  const fields = header!.map(String);
  const isGuarded = ['true', '1', 'yes'].includes((trial.texts.csv_safe ?? 'false').toLowerCase());
  const bare = (cell: Cell): Cell =>
    isGuarded && cell !== null ? cell.replace(/^'(?=[=+\-@\t\r\n])/, '') : cell;
  judgeFields(fields, trial);
  return rows.map((row) => {
    assert.equal(row.length, fields.length, 'a cell for each field');
    return Object.fromEntries(fields.map((field, index) => [field, bare(row[index]!)]));
  });
}

function judgeNextUrl(url: string | null | undefined, key: string | null | undefined, trial: Trial): void {
  assert.equal(url === null || url === undefined, key === null || key === undefined);
  if (!url) return;
  assert.ok(url.startsWith(`http://${trial.headers.host}/api/v2/`), `base of ${url}`);
  assert.ok(url.endsWith(`&next_page_key=${key}`) && URL.canParse(url), url);
  assert.equal(url.includes('secret_key='), trial.keyInQuery, 'a key only where it came in the query');
}

/** The records of `data`, by the shape of the endpoint. */
function groupsOf(result: Body['result'], trial: Trial): readonly (readonly Came[])[] {
  const { data } = result;
  assert.equal(typeof data === 'string', trial.format === 'wrapped csv');
  if (typeof data === 'string') return [csvRecords(data, trial)];
  const isGrouped = (dataEndpoints[trial.endpoint] as Endpoint).shape === 'grouped';
  const groups = isGrouped ? Object.entries(data as Readonly<Record<string, Came[]>>) : [];
  assert.deepEqual(
    result.expiration_datetimes ?? [],
    groups.map(([expiration]) => expiration),
  );
  for (const [expiration, records] of groups)
    for (const record of records)
      assert.equal(record.expiration_datetime, expiration.replace(/Z$/, '+00:00'), 'in its own group');
  const lists = isGrouped ? groups.map(([, records]) => records) : [data as Came[]];
  for (const records of lists) judgeRecords(records, trial);
  return lists;
}

function judgeJson({ body }: Reply, trial: Trial): Good {
  const parsed = JSON.parse(body) as Body;
  const { reference, result } = parsed;
  const { shape } = dataEndpoints[trial.endpoint] as Endpoint;
  assert.deepEqual(Object.keys(parsed), ['status', 'code', 'message', 'reference', 'result']);
  assert.ok(body.startsWith('{"status":"ok","code":200,"message":"success","reference":'), body.slice(0, 80));
  assert.ok(reference === null || (reference === 'cached' && cached.includes(trial.endpoint)));
  const alone = { hasNext: null, entries: {} };
  if (shape === 'map') {
    assert.ok(schemas.get(trial.endpoint)!.Check(result), 'texts by code');
    return { ...alone, groups: [], entries: result };
  }
  if (shape === 'single' || (shape === 'array' && trial.format === 'json')) {
    const records = (shape === 'single' ? [result] : result) as readonly Came[];
    judgeRecords(records, trial);
    return { ...alone, groups: [records] };
  }
  assert.deepEqual(Object.keys(result), fieldsOfResult(trial));
  judgeNextUrl(result.next_page_url, result.next_page_key, trial);
  const groups = groupsOf(result, trial);
  assert.equal(groups.flat().length, result.count);
  const hasNext = isPaged(trial) ? result.next_page_key !== null : null;
  return { groups, hasNext, entries: {} };
}

/** A value of Arrow as JSON has it (contract 9.11). */
function asJson(value: unknown, type: string): unknown {
  if (value === null) return null;
  if (type.startsWith('Timestamp')) return `${new Date(Number(value)).toISOString().slice(0, 19)}+00:00`;
  return type.startsWith('Date') ? new Date(Number(value)).toISOString().slice(0, 10) : value;
}

function arrowRecords({ body }: Reply, trial: Trial): Came[] {
  const table = tableFromIPC(Buffer.from(body, 'latin1'));
  const { fields } = table.schema;
  judgeFields(
    fields.map(({ name }) => name),
    trial,
  );
  const columns = fields.map(({ name, type }) => [name, String(type), table.getChild(name)!] as const);
  const records = Array.from({ length: table.numRows }, (_, row) =>
    Object.fromEntries(columns.map(([name, type, column]) => [name, asJson(column.get(row), type)])),
  );
  judgeRecords(records, trial);
  return records;
}

/** Bars in bulk: how many there are shows at their end. */
function judgeStreamed(reply: Reply, trial: Trial): Good {
  const isArrow = trial.format === 'arrow';
  assert.equal(
    reply.headers.get('content-type'),
    isArrow ? 'application/vnd.apache.arrow.stream' : 'text/csv; charset=utf-8; header=present',
  );
  const records = isArrow ? arrowRecords(reply, trial) : csvRecords(reply.body, trial);
  return { groups: [records], hasNext: null, entries: {} };
}

function judgeCsv({ headers, body }: Reply, trial: Trial): Good {
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  const records = csvRecords(body, trial);
  assert.equal(headers.get('x-count'), String(records.length));
  const link = headers.get('link');
  judgeNextUrl(link?.slice(1, -'>; rel="next"'.length), headers.get('x-next-page-key'), trial);
  return { groups: [records], hasNext: isPaged(trial) ? headers.has('x-next-page-key') : null, entries: {} };
}

const isStreamed = ({ endpoint }: Trial): boolean =>
  (dataEndpoints[endpoint] as Endpoint).isStreamed === true;

function judgeGood(reply: Reply, trial: Trial): Good {
  if (isStreamed(trial)) return judgeStreamed(reply, trial);
  return trial.format === 'csv' ? judgeCsv(reply, trial) : judgeJson(reply, trial);
}

function judgeSuccess(reply: Reply, trial: Trial): string {
  if (reply.status === 204) {
    assert.equal(reply.body, '');
    assert.equal(reply.headers.get('allow'), 'GET, HEAD, OPTIONS');
    return 'no content';
  }
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('cache-control'), 'private, no-cache');
  const good = judgeGood(reply, trial);
  const count = good.groups.flat().length;
  assert.ok(!(count > trial.limit!), `${count} records for a limit of ${trial.limit}`);
  if (good.hasNext === true) assert.ok(count > 0, 'no empty page before the last one');
  trial.check(good);
  const isEmpty = count === 0 && Object.keys(good.entries).length === 0;
  return isEmpty ? 'ok, empty' : 'ok';
}

/** Contract 7.4: a caller's own key may stand in the address of its next page, nothing else. */
function judgeSecrecy(reply: Reply, trial: Trial, known: Known): void {
  const own = trial.keyInQuery ? /"next_page_url":"[^"]*"/g : /$^/;
  const text = reply.body.replace(own, '');
  const headers = [...reply.headers].filter(([name]) => name !== 'link' || !trial.keyInQuery);
  for (const key of [known.liveKey, ...known.deadKeys])
    assert.ok(!text.includes(key) && !headers.some(([, value]) => value.includes(key)), 'a key got out');
}

/** A longer run may be a key (contract 6.5). */
const OWN_ID = /^(?!.*[\w-]{43})[\w.-]{1,64}$/;

function judgeHeaders({ status, headers, body }: Reply, trial: Trial): void {
  const own = trial.headers['x-request-id'];
  const id = headers.get('x-request-id') ?? '';
  if (own !== undefined && OWN_ID.test(own)) assert.equal(id, own);
  else assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.equal(headers.has('allow'), status === 405 || status === 204);
  assert.equal(headers.has('retry-after'), false);
  assert.match(headers.get('x-ignored-parameters') ?? '', /^[\w.[\](), ?-]{0,800}$/);
  if (status !== 204 && trial.method !== 'HEAD' && !(status === 200 && isStreamed(trial)))
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
  assert.ok(
    trial.right.includes(outcome.split(',')[0]!),
    `${outcome} instead of ${trial.right.join(' or ')}`,
  );
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
