// The stages of a request: what it names, who asks, whether it is right (contract 6.4), and its answer, from
// the response cache, from a query thread, in steps or from a file, in the form that its caller takes.
import { randomUUID } from 'node:crypto';
import { causeOf } from '../base/observe.ts';
import { errors, Refusal } from '../contract/errors.ts';
import { pageAddress } from '../queries/pages/page-walk.ts';
import type { Answer, QueryRequest } from '../queries/query.ts';
import { stateWithoutStore } from '../queries/service-state.ts';
import type { ApiKey } from '../store/control.ts';
import { answerMessage, MCP_PATH, MESSAGE_METHODS } from './assistants.ts';
import { baseAddress, checkHost, pageRequestOf } from './base-address.ts';
import { codingFor, encodedBody, withEncodedBody } from './encoding.ts';
import { scopeOf } from './keys/api-keys.ts';
import { overQuota, uncounted } from './keys/quotas.ts';
import { httpLimits } from './limits.ts';
import type { HttpRequest, HttpResponse } from './message.ts';
import * as requests from './request.ts';
import type { ParsedRequest, RequestContext, Service } from './request-context.ts';
import * as responses from './response.ts';
import { type Match, matchRoute, parseRequest, type RawQuery, readQuery, unknownPath } from './route.ts';
import { fileResponse } from './spool/file-response.ts';
import { type Begin, makingOf } from './spool/making.ts';
import { full } from './threads/query-queue.ts';

/** The instant that a key is pinned to, where it is. */
const pinnedBy = ({ as_of_ms }: ApiKey): { readonly pinnedMs?: number } =>
  as_of_ms === null ? {} : { pinnedMs: as_of_ms };

/** True if a request asks for a part of an answer. */
const isRange = (request: HttpRequest): boolean =>
  request.method === 'GET' && requests.headerOf(request, 'range') !== undefined;

/** Everything that an answer depends on. */
function cacheNameOf(
  { name }: ParsedRequest,
  { wrapCsv, pinnedMs }: Pick<QueryRequest, 'wrapCsv' | 'pinnedMs'>,
): string {
  const form = wrapCsv ? `${name} wrapped` : name;
  return pinnedMs === undefined ? form : `${form} pinned to ${pinnedMs}`;
}

/** The name of a request's Parquet file: what its rows depend on, and the version of the stored data. */
async function fileNameOf(
  { cache }: Pick<Service, 'cache'>,
  { batch }: HttpRequest,
  parsed: ParsedRequest,
  asked: Pick<QueryRequest, 'wrapCsv' | 'pinnedMs'>,
): Promise<string> {
  const version = await cache.version(batch);
  // No two requests share a file while the version is not known.
  return `${version === null ? randomUUID() : `${cache.id} ${version}`} ${cacheNameOf(parsed, asked)}`;
}

/** The parameters, and the name that they have. @throws Refusal that names the first invalid one */
function parsedOf(match: Match, query: RawQuery): ParsedRequest {
  const parameters = parseRequest(match, query);
  const name = JSON.stringify([pageAddress(match.route.endpoint, parameters), parameters.next_page_key]);
  return { parameters, name };
}

/** One step of handling a request. What it returns, or throws, is the response; most return nothing. */
type Stage = (
  context: RequestContext,
  service: Service,
) => HttpResponse | undefined | Promise<HttpResponse | undefined>;

/** Path and method. */
const route: Stage = (context, { pages, assistants }) => {
  const { requestId, request } = context;
  const { method } = request;
  requests.checkHead(request);
  const { path, query, headers } = requests.readTarget(request);
  if (path === requests.WHOLE_SERVICE && method === 'OPTIONS') return responses.preflightResponse(requestId);
  context.request = { ...request, headers };
  let methods: readonly string[] | undefined;
  let known = ['secret_key'] as readonly string[];
  if (path === MCP_PATH && assistants !== undefined) {
    context.route = MCP_PATH;
    context.subject = { kind: 'message', assistants };
    methods = MESSAGE_METHODS;
  } else {
    const page = pages.get(path);
    const match = page === undefined ? matchRoute(path) : null;
    if (page !== undefined) context.subject = { kind: 'page', page };
    else if (match !== null) context.subject = { kind: 'data', match };
    else throw unknownPath(path);
    context.route = match?.route.endpoint.path ?? path;
    known = match?.route.known ?? known;
  }
  if (method === 'OPTIONS') return responses.preflightResponse(requestId, methods?.join(', '));
  const isAllowed = methods?.includes(method) ?? (method === 'GET' || method === 'HEAD');
  if (!isAllowed) throw responses.methodNotAllowed(method, methods);
  const read = readQuery(query, (name) => known.includes(name));
  context.query = read.query;
  if (context.subject.kind === 'data') context.ignored = responses.ignoredHeader(read.ignored, known);
  return undefined;
};

/** Built-in pages, which need no key. */
const page: Stage = async (context, { address, unsent, encodedPages }) => {
  const { subject, request, requestId, expected } = context;
  if (subject.kind !== 'page') return undefined;
  const content = await subject.page(pageRequestOf(address, request.headers));
  const bytes = responses.bodyBytes(content);
  // Health and metrics are answered at any load.
  if (bytes > httpLimits.smallPageBytes) expected.defer(await unsent.admit(null, bytes));
  const ifNoneMatch = requests.headerOf(request, 'if-none-match');
  const response = responses.notModifiedIfHeld(responses.pageResponse(content, requestId), ifNoneMatch);
  return content.isLasting === true ? encodedPages.inForm(response, request) : response;
};

/** The caller, with a valid key. @throws Refusal (contract 6.3, 7.2) */
const identify: Stage = async (context, { keys, address, nowMs }) => {
  const { subject, request, query } = context;
  const param = 'secret_key';
  if (subject.kind === 'message') checkHost(address, request.headers);
  const caller = requests.callerOf(request, query);
  if (caller === null) {
    const who = subject.kind === 'message' ? 'assistants need' : 'every endpoint needs';
    throw new Refusal('missing_key', { message: `secret_key is missing: ${who} a key.`, param });
  }
  const least = (subject.kind === 'data' && subject.match.route.endpoint.keyCharactersMin) || 0;
  if (caller.secret.length < least) {
    const message = `secret_key is too short: on this endpoint a key has at least ${least} characters.`;
    throw new Refusal('invalid_parameter', { message, param, allowed: `minimum length ${least}` });
  }
  const key = await keys.verify(caller.secret, nowMs());
  if (key === null)
    throw new Refusal('invalid_key', { message: 'secret_key is not a valid key of this service.', param });
  context.caller = caller;
  context.key = key;
  context.keyId = key.key_id;
  return undefined;
};

/** The key has the scope of what it asks. @throws Refusal `forbidden` (contract 7.6) */
const permit: Stage = ({ subject, key }) => {
  const needed = (subject.kind === 'data' && subject.match.route.endpoint.scope) || 'data';
  const scope = scopeOf(key);
  if (scope === needed) return undefined;
  const what = needed === 'data' ? 'requests for data need' : 'the state of the service needs';
  throw new Refusal('forbidden', {
    message: `secret_key has the scope ${scope}: ${what} a key of the scope ${needed}.`,
    param: 'secret_key',
    allowed: `scope ${needed}`,
    hint: `Ask whoever runs this service for such a key (bourse keys create NAME --scope ${needed}).`,
  });
};

/** The key has a request left. @throws Refusal `rate_limited` */
const quota: Stage = async (context, service) => {
  const counting = service.quotas.count(context.key);
  if (counting === null) return undefined;
  context.counted = await counting;
  if (await isPaid(context, service)) context.counted = uncounted(context.counted);
  if (!context.counted.isAdmitted) throw overQuota(context.counted.quota);
  return undefined;
};

/** True for a range of a file that the key's quota has counted: each counts once (contract 9.11). */
async function isPaid({ subject, request, query, key }: RequestContext, service: Service): Promise<boolean> {
  if (subject.kind !== 'data' || !subject.match.route.endpoint.isStreamed || !isRange(request)) return false;
  const parsed = parsedOf(subject.match, query);
  const name = await fileNameOf(service, request, parsed, { wrapCsv: false, ...pinnedBy(key) });
  return service.spool.isPaid(name, key.key_id);
}

/** The parameters, each with its value or its default. @throws Refusal that names the first invalid one */
const parameters: Stage = (context, service) => {
  const { subject, request, query, key } = context;
  if (subject.kind === 'message') {
    if (requests.headerOf(request, 'content-type') === undefined || request.body === undefined)
      throw new Refusal('bad_request', { message: 'A message has a body of the type application/json.' });
  } else if (subject.kind === 'data') {
    const { name: endpoint } = subject.match.route;
    context.base = baseAddress(service.address, request.headers);
    context.parsed = parsedOf(subject.match, query);
    const { parameters: values } = context.parsed;
    const about = { baseAddress: context.base, version: service.version };
    context.asked = {
      endpoint,
      parameters: values,
      wrapCsv: values.format === 'csv' && requests.wantsWrappedCsv(request),
      nowMs: service.nowMs(),
      ...pinnedBy(key),
      ...((endpoint === 'addressInfo' || endpoint === 'operateStatus') && { service: about }),
    };
  }
  return undefined;
};

/** True for data that is sent as it is read. */
const isStreamed = ({ subject }: RequestContext): boolean =>
  subject.kind === 'data' && subject.match.route.endpoint.isStreamed === true;

/** An answer that is kept, and right at the version of the store that the batch of the request met. */
const cached: Stage = async (context, { cache }) => {
  if (context.subject.kind !== 'data' || isStreamed(context)) return undefined;
  const { asked, request } = context;
  const name = cacheNameOf(context.parsed, asked);
  const version = cache.has(name) ? await cache.version(request.batch) : null;
  const kept = version === null ? undefined : cache.find(name, version, asked.nowMs);
  if (kept === undefined) return undefined;
  context.found = {
    name,
    cached: kept,
    isHit: true,
    dataVersion: Math.max(kept.answer.dataVersion!, version!),
  };
  return undefined;
};

/** The bytes that an answer takes until it is sent, as far as that is known before. */
function expectedBytes(context: RequestContext, { sizes }: Service): number {
  const { subject, found, asked } = context;
  if (subject.kind === 'message') return httpLimits.messageBytes;
  if (found !== null) return found.cached.answer.body.length;
  if (!isStreamed(context)) return sizes.expected(asked);
  return asked.parameters.format === 'parquet' ? httpLimits.spoolPieceBytes : httpLimits.streamedStepBytes;
}

/**
 * Refuses a request for whose answer the service has no time, or no memory.
 * @throws QueueError, Refusal `unavailable`
 */
const admit: Stage = async (context, service) => {
  const { request, keyId, expected } = context;
  if (!service.admits(keyId, request.waitedMs ?? 0)) throw full;
  context.expectedBytes = expectedBytes(context, service);
  expected.defer(await service.unsent.admit(keyId, context.expectedBytes));
  return undefined;
};

/** The answer of a query thread, unless there is one. */
const answer: Stage = async (context, service) => {
  const { subject, asked, request, keyId, found, expected, held } = context;
  if (subject.kind === 'message') return answerMessage(subject.assistants, context, service.handle);
  if (isStreamed(context))
    return asked.parameters.format === 'parquet' ? fileOf(context, service) : streamOf(context, service);
  if (found !== null) return undefined;
  const { cache, submit, unsent, sizes } = service;
  const ask = (one: QueryRequest) => submit(one, request.isGone, keyId, request.waitedMs);
  const given = await (asked.endpoint === 'operateStatus' ? askState(asked, ask, service) : ask(asked));
  if (given.kind === 'refusal') throw new Refusal(given.word, given.facts);
  const { goodUntilMs, source, dataVersion } = given;
  const name = cacheNameOf(context.parsed, asked);
  const isKept = goodUntilMs !== undefined && source !== undefined && cache.takes(name, given.body.length);
  const own = isKept ? responses.ownAnswer(given) : given;
  if (!isKept) held.defer(() => responses.freeBody(given));
  sizes.add(asked, own.body.length);
  // Many may have been admitted at once. It waits for one look at the kernel's queues at most, and not for
  // room.
  const more = own.body.length - context.expectedBytes;
  if (more > 0) expected.defer(await unsent.admit(keyId, more, 0));
  const cached = { answer: own, etag: responses.etagOf(own), goodUntilMs: isKept ? goodUntilMs : 0 };
  if (isKept) cache.add(name, cached, source);
  context.found = { name: isKept ? name : null, cached, isHit: false, dataVersion };
  return undefined;
};

/** The state of the service; while it is not ready, the part that is known without its store. */
async function askState(
  asked: QueryRequest,
  ask: (request: QueryRequest) => Promise<Answer>,
  { state }: Service,
): Promise<Answer> {
  const about = { ...asked.service!, state: await state!() };
  return about.state.health.ready ? ask({ ...asked, service: about }) : stateWithoutStore(about);
}

/** A streamed answer: its first step decides between a response and a refusal. */
async function streamOf(context: RequestContext, service: Service): Promise<HttpResponse> {
  const { asked, request, requestId, keyId, held } = context;
  const read = (step: QueryRequest): Promise<Answer> => service.submit(step, request.isGone, keyId);
  const { first, rest } = await service.streamed.begin(keyId, asked, read, held);
  const observedRest = (): Promise<Uint8Array | null> =>
    rest().catch((error: unknown) => {
      service.reportProblem(error, requestId);
      throw error;
    });
  return { ...responses.streamedResponse(first, requestId), rest: observedRest };
}

/** Parquet: a file that is made before its first byte, or was made for an earlier request. */
async function fileOf(context: RequestContext, service: Service): Promise<HttpResponse> {
  const { asked, request, requestId, held } = context;
  const { submit, spool, startParquet, observe } = service;
  const keyId = context.keyId!;
  const name = await fileNameOf(service, request, context.parsed, asked);
  // A range goes on with the file of the ranges before it.
  if (!isRange(request)) spool.forgetOld(name, asked.nowMs);
  const steps: Begin = (csv, isGone, stepsHeld) =>
    service.streamed.begin(keyId, csv, (step) => submit(step, isGone, keyId), stepsHeld);
  const file = await spool
    .get(name, keyId, request.isGone, makingOf(steps, asked, startParquet))
    .catch((error: unknown) => {
      if (error instanceof Refusal && error.cause !== undefined)
        observe({ kind: 'fault', requestId, where: 'request', cause: causeOf(error.cause) });
      throw error;
    });
  held.defer(file.release);
  const response = fileResponse(file, request, requestId);
  if (response.status === errors.range_not_satisfiable.status) context.word = 'range_not_satisfiable';
  return response;
}

/** The response, in the coding that its caller takes. The encoded body of a cached answer is kept. */
const encode: Stage = async (context, { cache }) => {
  const { base, caller, request, requestId } = context;
  const { name, cached, isHit, dataVersion } = context.found!;
  const url = responses.nextPageUrl(cached.answer, base, caller);
  const response = responses.answerResponse(cached.answer, cached.etag, { url, dataVersion, requestId });
  const whole = responses.notModifiedIfHeld(response, requests.headerOf(request, 'if-none-match'));
  const form = { coding: codingFor(whole, request), url };
  if (isHit) context.form = form;
  if (form.coding === null) return whole;
  const kept = name === null ? undefined : cache.encoding(name, cached, form);
  const made = kept ?? (await encodedBody(whole, form.coding));
  const body = kept ?? (name === null ? made : cache.addEncoding(name, cached, form, made));
  return withEncodedBody(whole, form.coding, body);
};

/** The stages of every request, in their order, until one has its response. */
export const stages: readonly Stage[] = [
  ...[route, page, identify, quota, permit, parameters],
  ...[cached, admit, answer, encode],
];
