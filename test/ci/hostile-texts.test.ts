// No text that a caller sends holds the process: every header that the service reads and every parameter of
// every endpoint gets long texts of the kinds that slow parsers down. Handling takes little processor time,
// and no such text is a fault (contract 4.4, 6.4).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Parameter } from '../../src/contract/endpoint.ts';
import { contract, type Endpoint } from '../../src/contract/index.ts';
import { limits } from '../../src/contract/limits.ts';
import type { HttpRequest } from '../../src/serve/message.ts';
import { type Bench, openBench } from '../fuzz/in-process.ts';

const CHARACTERS = 16_384;
/**
 * A request above a tenth of the bound is measured again, since other work may have interrupted it; the
 * shortest time counts.
 */
const NOTICED_SHARE = 0.1;
const TRIES = 3;

/** The processor time of this thread since, in milliseconds. */
function usedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

/** Time of a quadratic parser for so many characters on this machine, measured on a quarter of them. */
function quadraticMs(): number {
  const text = 'a'.repeat(CHARACTERS / 4);
  const times = Array.from({ length: 5 }, () => {
    const before = process.threadCpuUsage();
    assert.doesNotMatch(text, /a*b/);
    return usedMs(before);
  });
  return 4 ** 2 * Math.min(...times);
}

/** A sixth of that, which is ten times what the slowest text takes. */
const HANDLING_MS_MAX = quadraticMs() / 6;

let bench: Bench;
before(async () => {
  bench = await openBench({ publicUrl: null, allowedHosts: [], trustProxy: true, scheme: 'http' });
});
after(() => bench.close());

/**
 * Texts that repeat: each is the start of some grammar, a separator, an escape or a letter that changes its
 * length.
 */
const repeated: readonly string[] = [
  ...[
    ' ',
    '\t',
    ',',
    ';',
    ':',
    '.',
    '/',
    '=',
    '-',
    '+',
    '*',
    '%',
    '"',
    '\\',
    "'",
    '[',
    '(',
    '{',
    '<',
    '&',
    '#',
  ],
  ...['0', '9', 'A', 'a', '_', '~', '|', '@', '$', 'é', 'ß', 'ı', '😀', '\u0301', '\u202e', '\ud800', '\0'],
  ...[', ', ' ,', ';;', 'a=b;', 'a=b ;', 'a="b";', 'a="\\"";', 'a= ', '\\"', '""', '"a",', 'W/"', 'W/"a",'],
  ...[
    '%20',
    '%25',
    '%2',
    '%FF',
    '%C3%A9',
    '+ ',
    '/a',
    '/.',
    '/..',
    '//',
    'a.',
    '1.',
    '[::',
    '1:',
    ':1',
    '::',
  ],
  ...[
    'gzip;q=0',
    'gzip ; q',
    'a;',
    '*/*,',
    'application/json,',
    'Bearer ',
    'US:',
    'stock:',
    'HOLIDAY_',
    '1M',
  ],
  ...[
    'strike_price ',
    'strike_price asc,',
    ' asc',
    '2025-',
    'T00:',
    '00:',
    '0.',
    '.0',
    'e1',
    '[[]]',
    '{}',
    '()',
  ],
];

/**
 * The texts for a place where a good text is `good`: runs alone, before it, after it, and ended by what fits
 * nowhere.
 */
const hostileTexts = (good: string, length = CHARACTERS): string[] =>
  repeated.flatMap((piece) => {
    const run = piece.repeat((length - good.length) / piece.length);
    return [run, `${run}${good}`, `${good}${run}@`, `"${run}`, `a=b;${run}@`];
  });

type Sent = Pick<HttpRequest, 'target' | 'headers'>;
type Worst = { ms: number; what: string };

/** A request in a message. */
const shown = (sent: Sent): string => JSON.stringify(sent).slice(0, 300);

/** The processor time that a request takes, its query in this thread too. */
async function handlingMs(sent: Sent): Promise<number> {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0 && leastMs > HANDLING_MS_MAX * NOTICED_SHARE; left--) {
    const usedBefore = process.threadCpuUsage();
    const response = await bench.handler.handle({ method: 'GET', ...sent, isGone: () => false });
    leastMs = Math.min(leastMs, usedMs(usedBefore));
    response.release?.();
    if (response.status >= 500) assert.fail(`${response.status} for ${shown(sent)}`);
  }
  return leastMs;
}

/** Handles requests one after the other; the slowest. */
async function slowestOf(all: Iterable<readonly [what: string, sent: Sent]>): Promise<Worst> {
  const worst: Worst = { ms: 0, what: 'none' };
  for (const [what, sent] of all) {
    const ms = await handlingMs(sent);
    if (ms > worst.ms) Object.assign(worst, { ms, what });
    if (ms > HANDLING_MS_MAX) assert.fail(`${what} took ${ms} ms: ${shown(sent)}`);
  }
  return worst;
}

const told = ({ ms, what }: Worst): string => `slowest: ${ms.toFixed(2)} ms, ${what}`;

const query = (): string => `secret_key=${bench.known.liveKey}`;
const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

/** An id is compared with all that may be a key. */
const common = { host: 'localhost', 'x-request-id': 'a.'.repeat(32) };

/** The names of the headers that the service reads, and a good text of each. */
const goodHeaders: Readonly<Record<string, string>> = {
  host: 'localhost:8080',
  forwarded: 'for=192.0.2.60;proto=https;host=localhost',
  'x-forwarded-for': '192.0.2.60',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'localhost',
  'x-forwarded-port': '443',
  'x-forwarded-prefix': '/bourse',
  'x-request-id': 'a-1',
  authorization: 'Bearer 0123456789',
  accept: 'application/json',
  'accept-encoding': 'gzip;q=0.5',
  'if-none-match': 'W/"a-1"',
};

test('the headers below are all that the service reads', async () => {
  const read = new Set<string>();
  const headers = new Proxy<Record<string, string>>(
    { host: 'localhost', authorization: `Bearer ${bench.known.liveKey}` },
    {
      get: (all, name: string) => {
        read.add(name);
        return all[name];
      },
    },
  );
  for (const sent of [query(), `${query()}&format=csv`, ''])
    await bench.handler.handle({ method: 'GET', target: `${DAY}?${sent}`, headers, isGone: () => false });
  assert.deepEqual([...read].sort(), Object.keys(goodHeaders).sort());
});

for (const [name, good] of Object.entries(goodHeaders))
  test(`no text in ${name} holds the process (contract 4.3, 6.4)`, async (t) => {
    const isKey = name === 'authorization';
    function* all(): Generator<readonly [string, Sent]> {
      for (const text of hostileTexts(good))
        for (const target of [`${DAY}?${query()}&format=csv`, ...(isKey ? [DAY] : [])])
          yield [name, { target, headers: { ...common, [name]: text } }];
    }
    t.diagnostic(told(await slowestOf(all())));
  });

/** The path of an endpoint with the examples of its parameters, another text in place of one of them. */
const pathOf = ({ path, parameters }: Endpoint, name: string, written: string): string =>
  Object.entries(parameters).reduce((whole, [each, { example }]) => {
    const text = each === name ? written : encodeURIComponent(example);
    return whole.replace(`{${each}}`, () => text);
  }, path);

/** The query of an endpoint with the parameters that it needs, another text in place of one. */
const queryOf = ({ parameters }: Endpoint, name: string, written: string): string =>
  Object.entries(parameters)
    .filter(([each, parameter]) => parameter.in === 'query' && (parameter.required || each === name))
    .map(([each, { example }]) => `${each}=${each === name ? written : encodeURIComponent(example)}`)
    .join('&');

/** A parameter gets one in so many of the texts, at the endpoint that first has it and at others. */
const [FIRST_STEP, STEP] = [4, 24];
const tried = new Set<string>();

/**
 * Addresses with a part of the hostile texts in one parameter: by turns encoded as a client does it, and as
 * they are.
 */
function* addressesOf(
  endpoint: Endpoint,
  part: number,
  name: string,
  { example }: Parameter,
): Generator<string> {
  const step = tried.has(name) ? STEP : FIRST_STEP;
  tried.add(name);
  const texts = hostileTexts(example, limits.uriBytesMax).filter((_, index) => (index + part) % step === 0);
  for (const [index, text] of texts.entries()) {
    const written =
      index % 2 === 0 ? encodeURIComponent(text.toWellFormed()) : text.replaceAll(/[&#?]/g, '.');
    const cut = written.slice(-(limits.uriBytesMax - 300));
    yield `${pathOf(endpoint, name, cut)}?${queryOf(endpoint, name, cut)}&${query()}`;
  }
}

for (const [part, [endpointName, endpoint]] of Object.entries<Endpoint>(contract).entries())
  test(`no text in a parameter of ${endpointName} holds the process (contract 4.4, 6.4)`, async (t) => {
    function* all(): Generator<readonly [string, Sent]> {
      for (const [name, parameter] of Object.entries(endpoint.parameters))
        for (const target of addressesOf(endpoint, part, name, parameter))
          yield [name, { target, headers: common }];
    }
    t.diagnostic(told(await slowestOf(all())));
  });

test('no address holds the process: paths and queries of every kind, also too long ones (contract 4.4, 6.3)', async (t) => {
  function* all(): Generator<readonly [string, Sent]> {
    for (const [index, text] of hostileTexts('a=b').entries())
      for (const length of [index % 2 === 0 ? limits.uriBytesMax - 300 : CHARACTERS])
        for (const before of [
          '',
          '/',
          `${DAY}?${query()}&`,
          `${DAY}?${query()}#`,
          'http://',
          '/api/v2/',
          '?',
        ])
          yield [`after ${before.slice(0, 20)}`, { target: before + text.slice(-length), headers: common }];
  }
  t.diagnostic(told(await slowestOf(all())));
});
