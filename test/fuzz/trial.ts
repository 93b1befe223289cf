// Makes one request by a declaration of the contract: good, or with something wrong in it.
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { contract, dataEndpoints } from '../../src/contract/index.ts';
import {
  type AnyName,
  type Draft,
  type GivenPageKey,
  type GoodCheck,
  judgeDraft,
  type Known,
  type Texts,
} from './answers.ts';
import { underlyingNames } from './data.ts';
import { grammarOf, lowerAscii, storedName } from './grammar.ts';
import { brokenPiece, hostileText, lostPath, stranger, withSlashes, writeText } from './hostile.ts';
import type { Random } from './random.ts';

/**
 * A request with its right answers: `ok`, `no content`, or a word of contract 6.3 and the parameter that it
 * names.
 */
export type Trial = {
  readonly endpoint: AnyName;
  /** The parameters as they are to be understood. */
  readonly texts: Texts;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly right: readonly string[];
  /** Holds a good answer to the data. */
  readonly check: GoodCheck;
  /** What the body of a good answer is (contract 5). */
  readonly format: 'json' | 'csv' | 'wrapped csv' | 'arrow';
  readonly limit: number | null;
  readonly keyInQuery: boolean;
};

/** Shortest key of the economic endpoints (contract 7.2). */
const ECONOMIC_KEY_CHARACTERS_MIN = 20;

const HOSTS = ['localhost', 'LocalHost:8080', '127.0.0.1', '[::1]:8080', '203.0.113.7:65535'];
const FOREIGN_HOSTS = [
  'evil.example',
  'localhost.evil.example',
  'localhost:99999',
  '127.1',
  '[::1',
  'a b',
  '',
];
const METHODS = ['OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY'];
const ACCEPTS = ['*/*', 'text/csv', 'application/json', 'text/html;q=0.9', 'application/json, */*', ',;,'];
const REQUEST_IDS = [
  ...['mine', 'a.b_c-D', `${'x'.repeat(42)}.${'y'.repeat(21)}`, 'x'.repeat(43), 'x'.repeat(65)],
  ...['no/slash', '<script>', 'é', ''],
];

type Piece = { readonly written: string; readonly text: string | null };

function goodPiece(random: Random, good: string, place: 'path' | 'query'): Piece {
  return { written: writeText(random, good, place), text: good };
}

/** A bad text; now and then the caller's key, as after a mistyped `&`. */
function badPiece(random: Random, good: string, place: 'path' | 'query', { secret }: Draft): Piece {
  if (random.chance(0.15)) return { written: brokenPiece(random, good, place), text: null };
  if (random.chance(0.05)) return goodPiece(random, `${good}?secret_key=${secret}`, place);
  const text = random.chance(0.15) ? '' : hostileText(random, good);
  return goodPiece(random, text, place);
}

/** Notes what a parameter's text calls for. */
function note(draft: Draft, name: string, text: string | null, place: 'path' | 'query'): void {
  const grammar = grammarOf(dataEndpoints[draft.name], name);
  const faults = [...(grammar.words ?? []), 'invalid_parameter'].map((word) => `${word} ${name}`);
  const judged = text === null || text === '' ? 'wrong' : grammar.judge(text.toWellFormed(), place);
  const [first, ...more] = faults as [string, ...string[]];
  if (judged === 'open') draft.open.add(first);
  if (judged === 'wrong') for (const answer of [first, ...more]) draft.faults.add(answer);
  if (text !== null) draft.texts[name] = text;
}

/** One parameter: good, bad, left out, or given several times, of which the last counts (contract 4.4). */
function addParameter(
  random: Random,
  draft: Draft,
  name: string,
  wish: string | undefined,
  badness: number,
): void {
  const { in: place, required } = (dataEndpoints[draft.name] as Endpoint).parameters[name]!;
  const grammar = grammarOf(dataEndpoints[draft.name], name);
  const good = wish ?? grammar.make(random);
  const isBad = random.chance(badness);
  if (place === 'query' && wish === undefined && random.chance(required ? badness / 4 : isBad ? 0.1 : 0.6)) {
    if (required) draft.faults.add(`invalid_parameter ${name}`);
    return;
  }
  const piece = isBad ? badPiece(random, good, place, draft) : goodPiece(random, good, place);
  note(draft, name, piece.text, place);
  if (place === 'path') {
    const isSlashed = name === 'country_symbol' && !isBad && random.chance(0.5);
    draft.path = draft.path.replace(`{${name}}`, () =>
      isSlashed ? withSlashes(piece.written) : piece.written,
    );
    return;
  }
  const earlier = random.chance(0.05) ? [`${name}=${badPiece(random, good, place, draft).written}`] : [];
  const isBare = piece.written === '' && random.chance(0.5);
  draft.pairs.push([...earlier, isBare ? name : `${name}=${piece.written}`].join('&'));
}

/** A page key: as given, changed, cut, of another query, empty, twice (contract 4.1, 4.4). */
function addPageKey(random: Random, draft: Draft, known: Known, wish: GivenPageKey | null): void {
  if (wish === null && random.chance(0.9)) return;
  const { key } = wish ?? random.pick(known.pageKeys);
  const at = random.chance(0.2) ? key.length - 1 : random.below(key.length);
  const changed =
    key.slice(0, at) +
    random.pick(Array.from('ABCDQRSTgw09-_').filter((c) => c !== key[at])) +
    key.slice(at + 1);
  const [text, ...others] = random.pick<readonly string[]>([
    ...Array.from({ length: 6 }, () => [key]),
    ...[[changed], [key.slice(0, at)], [key.slice(at + 1)], [`${key}A`], [`${key}=`], ['']],
    ...[[random.pick(known.pageKeys).key], [hostileText(random, key)], [key, key], [key, changed]],
  ]);
  const written = [text!, ...others].map((one) => `next_page_key=${writeText(random, one, 'query')}`);
  draft.pairs.push(written.join('&'));
  draft.texts.next_page_key = text!;
  if (others.some((other) => other !== text)) draft.faults.add('invalid_parameter next_page_key');
  else if (!/^[\w-]*$/.test(text!)) draft.faults.add('invalid_page_key next_page_key');
}

type KeyChoice = { readonly bearer: string | null; readonly right: string | null; readonly inQuery: boolean };

/** The caller's key, which is looked at before any parameter (contract 6.4, 7). */
function addKey(random: Random, draft: Draft, known: Known): KeyChoice {
  const { liveKey } = known;
  const write = (...texts: readonly string[]): void => {
    draft.pairs.push(texts.map((text) => `secret_key=${text}`).join('&'));
  };
  const live = { bearer: null, right: null, inQuery: true };
  if (random.chance(0.65)) {
    write(random.chance(0.1) ? writeText(random, liveKey, 'query') : liveKey);
    return live;
  }
  if (random.chance(0.6)) return { bearer: liveKey, right: null, inQuery: false };
  const dead = random.chance(0.5) ? random.pick(known.deadKeys) : hostileText(random, liveKey) || 'x';
  const isShort = draft.path.includes('/economic_calendar/') && dead.length < ECONOMIC_KEY_CHARACTERS_MIN;
  const refused = isShort ? 'invalid_parameter secret_key' : 'invalid_key secret_key';
  const isLive = dead === liveKey;
  const choices: readonly (() => KeyChoice)[] = [
    () => ({ ...live, right: 'missing_key secret_key' }),
    () => {
      write('');
      return { ...live, right: 'missing_key secret_key' };
    },
    () => {
      write(liveKey, liveKey);
      return { ...live, bearer: 'x' };
    },
    () => {
      write(liveKey, `${liveKey}x`);
      return { ...live, right: 'invalid_parameter secret_key' };
    },
    () => {
      write(brokenPiece(random, liveKey, 'query'));
      return { ...live, right: 'invalid_parameter secret_key' };
    },
    () => {
      write(writeText(random, dead, 'query'));
      return { ...live, right: isLive ? null : refused };
    },
  ];
  return random.pick(choices)();
}

const ranges: readonly Texts[] = [
  { from_date: '1900-01-01', to_date: '2200-12-31' },
  { from_date: '2000-02-29', to_date: '2025-03-05T12:30:00Z' },
  { from_date: '2025-03-03 00:00:00', to_date: '2025-03-06' },
  { from_date: '2025-03-04T12:30:00+00:00', to_date: '2025-03-04T14:30:01' },
];

/** The market of a stored name, and now and then its symbol. */
function marketTexts(random: Random, countrySymbol: string): Texts {
  const [country, ...symbol] = countrySymbol.split(':') as [string, ...string[]];
  const symbols = random.anyCase(symbol.join(':'));
  return { country_iso_code: random.anyCase(country), ...(random.chance(0.4) ? { symbols } : {}) };
}

/** An asset type and a symbol that belong together, now and then with a range in which there is something. */
function storedTexts(random: Random, name: AnyName): Texts {
  const isOfOptions = dataEndpoints[name].path.includes('/option/') && random.chance(0.6);
  const stored = isOfOptions ? random.pick(underlyingNames) : storedName(random);
  const [schema_asset, ...symbol] = stored.split(':') as [string, ...string[]];
  const { from_date } = (dataEndpoints[name] as Endpoint).parameters;
  return {
    ...{ schema_asset: random.anyCase(schema_asset), country_symbol: random.anyCase(symbol.join(':')) },
    ...(name === 'latestOfMany' ? { symbols: random.anyCase(symbol.join(':')) } : {}),
    ...(name === 'bulkBars' ? marketTexts(random, symbol.join(':')) : {}),
    ...(from_date === undefined || random.chance(0.5) ? {} : random.pick(ranges)),
  };
}

function formatOf(draft: Draft, accept: string | undefined): Trial['format'] {
  const { format } = (dataEndpoints[draft.name] as Endpoint).parameters;
  const asked = String(draft.texts.format ?? format?.default).toLowerCase();
  if ((dataEndpoints[draft.name] as Endpoint).isStreamed) return asked === 'arrow' ? 'arrow' : 'csv';
  if (asked !== 'csv') return 'json';
  return accept === 'application/json' ? 'wrapped csv' : 'csv';
}

/** The endpoints that answer in one piece. */
export const wholeEndpoints = Object.keys(contract) as readonly AnyName[];
const everyEndpoint = Object.keys(dataEndpoints) as readonly AnyName[];

/**
 * Page keys are made below. A moment and a version change what is known: `test/as-of` and
 * `test/ci/past-versions.test.ts` are about them.
 */
const untried = ['next_page_key', 'as_of', 'data_version'];

/** What chooses no records: given or not where a page key is asked for with its own query. */
const free = ['limit', 'format', 'session_date', 'columns', 'timestamps', 'tz'];

/** Another name of a parameter says the same as that one, or contradicts it (contract 9.13). */
function mergeAdjustment({ texts, faults }: Draft): void {
  const { adjust, adjustment } = texts;
  if (adjustment === undefined) return;
  delete texts.adjustment;
  if (['adjust', 'adjustment'].some((name) => faults.has(`invalid_parameter ${name}`))) return;
  const meant = adjustment.toLowerCase().replace('raw', 'none');
  if (adjust !== undefined && adjust.toLowerCase() !== meant) faults.add('invalid_parameter adjustment');
  texts.adjust = meant;
}

/** A zone goes with instants as text, and of bars in bulk the form of rows with CSV (contract 9.16). */
function noteForms({ name, texts, faults }: Draft): void {
  const { timestamps = 'iso', format } = texts;
  if (texts.tz !== undefined && lowerAscii(timestamps) !== 'iso') faults.add('invalid_parameter tz');
  if (name !== 'bulkBars' || (format !== undefined && lowerAscii(format) === 'csv')) return;
  for (const one of ['columns', 'timestamps', 'tz'])
    if (texts[one] !== undefined) faults.add(`invalid_parameter ${one}`);
}

/** A draft with its parameters, some of them bad. */
function draftRequest(random: Random, known: Known, endpoints: readonly AnyName[]): Draft {
  const name = random.pick(endpoints);
  const { path } = dataEndpoints[name];
  const faults = new Set<string>();
  const draft: Draft = { name, secret: known.liveKey, path, pairs: [], texts: {}, faults, open: new Set() };
  const { parameters } = dataEndpoints[name] as Endpoint;
  const given = known.pageKeys.filter(({ endpoint }) => endpoint === name);
  const wish = given.length > 0 && random.chance(0.15) ? random.pick(given) : null;
  const texts = wish?.texts ?? (random.chance(0.8) ? storedTexts(random, name) : {});
  const badness = random.chance(0.6) ? 0 : random.pick([0.12, 0.12, 0.12, 0.5]);
  for (const parameter of Object.keys(parameters)) {
    const isOther = wish !== null && !(parameter in wish.texts) && !free.includes(parameter);
    // Seldom, because two of them may contradict each other.
    const isOfForm = ['columns', 'timestamps', 'tz'].includes(parameter) && random.chance(0.8);
    if (untried.includes(parameter) || isOfForm || (isOther && random.chance(0.9))) continue;
    addParameter(random, draft, parameter, texts[parameter], badness);
  }
  mergeAdjustment(draft);
  noteForms(draft);
  if ('next_page_key' in parameters) addPageKey(random, draft, known, wish);
  return draft;
}

/** The target of a draft, and whether no endpoint has its path. */
function targetOf(random: Random, draft: Draft): { target: string; isLost: boolean } {
  while (random.chance(0.1)) draft.pairs.push(stranger(random));
  if (random.chance(0.004)) draft.pairs.push(`pad=${'y'.repeat(random.between(23_000, 30_000))}`);
  const isLost = random.chance(0.04);
  const path = isLost ? lostPath(random, draft.path) : draft.path;
  return { target: `${path}?${random.shuffle(draft.pairs).join('&')}`, isLost };
}

/** One request and its right answers; the same for the same chance and knowledge. */
export function makeTrial(random: Random, known: Known, endpoints = everyEndpoint): Trial {
  const draft = draftRequest(random, known, endpoints);
  const key = addKey(random, draft, known);
  const isForeign = random.chance(0.03);
  if (isForeign) draft.faults.add('bad_request Host');
  const accept = random.chance(0.5) ? undefined : random.pick(ACCEPTS);
  const { target, isLost } = targetOf(random, draft);
  const method = random.chance(0.9) ? 'GET' : random.chance(0.5) ? 'HEAD' : random.pick(METHODS);
  const { limit } = (dataEndpoints[draft.name] as Endpoint).parameters;
  return {
    endpoint: draft.name,
    texts: draft.texts,
    method,
    target,
    headers: {
      host: random.pick(isForeign ? FOREIGN_HOSTS : HOSTS),
      ...(key.bearer === null ? {} : { authorization: `Bearer ${key.bearer}` }),
      ...(accept === undefined ? {} : { accept }),
      ...(random.chance(0.1) ? { 'x-request-id': random.pick(REQUEST_IDS) } : {}),
    },
    ...judgeDraft(draft, known, { target, method, isLost, key: key.right }),
    format: formatOf(draft, accept),
    limit:
      Number(draft.texts.limit ?? limit?.default ?? Number.NaN) *
      (draft.name === 'latestOfMany' ? (draft.texts.symbols ?? '').split(',').length : 1),
    keyInQuery: key.inQuery,
  };
}
