// One walk over the whole contract, driven by its declarations: every endpoint over the demo's rows, its
// successes in each format, its pages, its methods, its keys and every error that it declares (spec 4,
// contract 4 to 6).
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { Check, Errors } from 'typebox/schema';
import { fieldsOf } from '../src/contract/endpoint.ts';
import type { ObjectSchema } from '../src/contract/fields.ts';
import { allEndpoints, type Endpoint } from '../src/contract/index.ts';
import { Connection } from './connection.ts';
import { cellsOf, parseCsv } from './csv.ts';
import { demoKey, startDemo } from './demo-store.ts';
import { type EndpointName, endpoints, type Texts } from './endpoints.ts';
import { Server, Workshop } from './service.ts';
import { fileStore } from './sqlite/files.ts';
import { until } from './until.ts';

type Got = Record<string, unknown>;
type Result = {
  readonly count: number;
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly data: Got[] | Record<string, Got[]> | string;
};
/** A result as it was before records were taken from it: of expirations the list alone. */
const listOf = (result: Result | Got[]): Result | Pick<Result, 'count' | 'data'> =>
  Array.isArray(result) ? { count: result.length, data: result } : result;
type Refused = {
  readonly code: number;
  readonly message: string;
  readonly detail: { readonly error: string; readonly param?: string };
};
type Answers = Record<string, { content?: Record<string, { schema: Got; examples?: Got }> }>;

/**
 * What only the data refuse, by word: texts that call for it, and the parameters of which one is named then.
 */
const refusedByData: Readonly<Record<string, { readonly texts: Texts; readonly named: readonly string[] }>> =
  {
    unknown_instrument: {
      texts: { country_symbol: 'US:NOSUCH', full_symbol: 'stock:US:NOSUCH', symbols: 'NOSUCH' },
      named: ['country_symbol', 'full_symbol', 'symbols'],
    },
    no_data: { texts: { country_symbol: 'US:BARELESS', country_iso_code: 'ZZ' }, named: ['ref_asset_price'] },
  };

const shop = new Workshop();
let server: Server;
let key = '';
/** A key of the scope `operate`. */
let operateKey = '';
/** When the demo was started, and what its store held then. */
let startedMs = 0;
let made: {
  readonly runs: readonly Record<string, unknown>[];
  readonly markets: readonly { readonly intervals: { interval: string; last: string }[] }[];
};
let documented: Record<string, { get: { responses: Answers } }> = {};

before(async () => {
  startedMs = Date.now();
  server = new Server(shop.start(['demo', '--port', '0', '--examples'], { BOURSE_LOG_LEVEL: 'info' }));
  await server.listening;
  await until('the demo is made', () => server.printed.includes('Ctrl-C'));
  key = /Your key is (\S+)/.exec(server.printed)![1]!;
  made = JSON.parse(await shop.must('status', '--json', '--store', fileStore('data/demo.db'))) as typeof made;
  // Of an underlying that has no bars: there is no price to compare strikes with.
  writeFileSync(
    shop.path('contracts.csv'),
    'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type\n' +
      'BARELESS300621C00010000,US,stock,BARELESS,10,2030-06-21,call\n',
  );
  await shop.must(
    'import',
    'option-contracts',
    shop.path('contracts.csv'),
    '--store',
    fileStore('data/demo.db'),
  );
  // With something to find.
  writeFileSync(
    shop.path('flawed.csv'),
    `datetime,open,high,low,close,vwap\n${[3, 4, 5, 6, 7].map((day) => `2025-03-0${day},10,11,9,10,12.5`).join('\n')}\n`,
  );
  await shop.must(
    ...['import', 'bars', shop.path('flawed.csv'), '--store', fileStore('data/demo.db')],
    ...['--schema', 'stock', '--country', 'US', '--symbol', 'FLAWED', '--interval', 'DAY'],
  );
  operateKey = await shop.must(
    ...['keys', 'create', 'operator', '--scope', 'operate'],
    ...['--store', fileStore('data/demo.db')],
  );
  const document = (await (await server.get('/openapi.json')).json()) as {
    paths: typeof documented;
    components: Got;
  };
  documented = inlined(document.paths, document) as typeof documented;
});
after(async () => {
  assert.equal(await server.stop(), 0);
  for (const secret of [key, operateKey])
    assert.ok(!server.log.join('\n').includes(secret), 'the log has no key');
  shop.close();
});

test('bourse demo makes its store and prints URLs that all answer 200 (contract 10)', async () => {
  assert.ok(existsSync(shop.path('data/demo.db')));
  assert.match(server.printed, /synthetic/i);
  const { runs, markets } = made;
  assert.deepEqual(
    runs.map((one) => [one.rows_written, one.rows_refused, one.source]),
    runs.map((one) => [one.rows_read, 0, 'Synthetic: made by bourse demo']),
  );
  const yesterday = new Date(startedMs - 86_400_000).toISOString().slice(0, 10);
  const minutes = markets.flatMap((market) => market.intervals).filter(({ interval }) => interval === '1M');
  const last = minutes
    .map((minute) => minute.last)
    .sort()
    .at(-1)!;
  // Post-market of yesterday in New York ends today in UTC.
  assert.ok(last.slice(0, 10) >= yesterday && Date.parse(last) <= Date.now(), `prices end ${last}`);
  const urls = server.printed.match(/http:\S+\?\S+/g) ?? [];
  assert.ok(urls.length >= 20, server.printed);
  for (const url of urls) {
    const response = await fetch(url);
    const text = await response.text();
    assert.equal(response.status, 200, `${url}: ${text}`);
    assert.match(
      text,
      /US|GLOBAL|HOLIDAY_|expiration_date"|data_version"|session_date"|"severity":"/,
      `${url} has data`,
    );
  }
});

/** A part of the document with what its references name in their places. */
function inlined(node: unknown, document: object): unknown {
  if (Array.isArray(node)) return node.map((one) => inlined(one, document));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref } = node as { $ref?: string };
  if ($ref === undefined)
    return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, inlined(value, document)]));
  const named = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((found, part) => (found as Got)[part], document);
  return inlined(named, document);
}

/** The keys that an endpoint answers, and that it refuses. */
function keysOf(name: EndpointName): { readonly own: string; readonly other: string } {
  const isOperate = (allEndpoints[name] as Endpoint).scope === 'operate';
  return isOperate ? { own: operateKey, other: key } : { own: key, other: operateKey };
}

/** The address of a request, by the declaration alone. */
function addressOf(name: EndpointName, texts: Texts, secret: string | null = keysOf(name).own): string {
  const { path, parameters }: Endpoint = allEndpoints[name];
  const filled = path.replace(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeURIComponent(texts[parameter] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [parameter, text] of Object.entries(texts))
    if (parameters[parameter]?.in === 'query') query.set(parameter, text);
  if (secret !== null) query.set('secret_key', secret);
  return `${filled}?${query.toString()}`;
}

const ask = (name: EndpointName, texts: Texts = {}, init: RequestInit = {}): Promise<Response> =>
  server.get(addressOf(name, { ...endpoints[name].texts, ...texts }), init);

async function resultOf(name: EndpointName, texts: Texts = {}): Promise<Result> {
  const asked = 'format' in allEndpoints[name].parameters ? { format: 'json', ...texts } : texts;
  const answer = await ask(name, asked);
  const body = (await answer.json()) as { result: Result | Got[] };
  assert.equal(answer.status, 200, JSON.stringify(body).slice(0, 500));
  return listOf(body.result) as Result;
}

const recordsOf = ({ data }: Result): Got[] =>
  Array.isArray(data) ? data : Object.values(data as Record<string, Got[]>).flat();

async function refusedWith(answer: Response): Promise<Refused> {
  const body = (await answer.json()) as Refused;
  assert.equal(answer.status, body.code);
  assert.equal(answer.headers.get('Cache-Control'), 'no-store');
  return body;
}

for (const [name, endpoint] of Object.entries(allEndpoints) as [EndpointName, Endpoint][]) {
  const { parameters, shape, isStreamed = false } = endpoint;
  const hasFormat = 'format' in parameters && !isStreamed;
  const isPaged = 'next_page_key' in parameters;
  const json: Texts = hasFormat ? { format: 'json' } : {};

  if (!isStreamed) {
    test(`${name} answers what its declaration says, fields in their order (${endpoints[name].rule}, contract 6.1)`, async () => {
      const answer = await ask(name, json);
      const body = (await answer.json()) as Got;
      assert.equal(answer.status, 200, JSON.stringify(body));
      const { schema } = documented[endpoint.path]!.get.responses['200']!.content!['application/json']!;
      assert.ok(Check(schema, body), JSON.stringify(Errors(schema, body)).slice(0, 2_000));
      assert.deepEqual(Object.keys(body), ['status', 'code', 'message', 'reference', 'result']);
      if (shape === 'map') return;
      const records =
        shape === 'single'
          ? [body.result as Got]
          : shape === 'array'
            ? (body.result as Got[])
            : recordsOf(body.result as Result);
      assert.ok(records.length > 0, 'the demo holds some');
      const declared = fieldsOf(endpoint.record as ObjectSchema);
      for (const record of records)
        assert.deepEqual(
          Object.keys(record),
          declared.filter((field) => field in record),
        );
      if (shape !== 'single' && shape !== 'array')
        assert.equal((body.result as Result).count, records.length);
    });
  }

  if ('columns' in parameters && !isStreamed)
    test(`${name} with columns and other times is what the document says of such bars (contract 9.16)`, async () => {
      const { schema } = documented[endpoint.path]!.get.responses['200']!.content!['application/json']!;
      for (const texts of [{ columns: 'close,datetime' }, { timestamps: 'unix' }, { tz: 'Asia/Tokyo' }]) {
        const body = (await (await ask(name, texts)).json()) as { result: Result };
        assert.ok(recordsOf(body.result).length > 0);
        assert.ok(Check(schema, body), JSON.stringify(Errors(schema, body)).slice(0, 2_000));
        for (const wrong of [{ datetime: true }, { close: '1' }, { datetime: 1.5 }]) {
          const result = { ...body.result, data: [wrong] };
          assert.ok(!Check(schema, { ...body, result }), JSON.stringify(wrong));
        }
      }
    });

  if (isStreamed) {
    test(`${name} answers in each format that it declares, as the document says (${endpoints[name].rule}, contract 9.3)`, async () => {
      const { content } = documented[endpoint.path]!.get.responses['200']!;
      const { schema } = parameters.format!;
      const types: string[] = [];
      for (const format of schema.enum as readonly string[]) {
        const answer = await ask(name, { format }, { headers: { Accept: 'application/json' } });
        assert.equal(answer.status, 200);
        types.push(answer.headers.get('Content-Type')!.split(';')[0]!);
        assert.ok((await answer.arrayBuffer()).byteLength > 0);
      }
      assert.deepEqual(types, Object.keys(content!));
      const [header, ...rows] = parseCsv(await (await ask(name)).text());
      const declared = fieldsOf(endpoint.record as ObjectSchema);
      assert.deepEqual(
        header,
        declared.filter((field) => header!.includes(field)),
      );
      assert.ok(rows.length > 0, 'the demo holds some');
    });
  }

  if (hasFormat) {
    test(`${name} gives the same records as CSV, by itself and in the envelope (contract 5.1, 5.2, 5.3)`, async () => {
      const result = await resultOf(name);
      const answer = await ask(name, { format: 'csv' });
      assert.equal(answer.headers.get('Content-Type'), 'text/csv; charset=utf-8; header=present');
      const text = await answer.text();
      const [header, ...rows] = parseCsv(text);
      const records = recordsOf(result);
      assert.deepEqual(header, Object.keys(records[0]!));
      assert.deepEqual(rows, records.map(cellsOf));
      assert.equal(answer.headers.get('X-Count'), String(records.length));
      const wrapped = await ask(name, { format: 'csv' }, { headers: { Accept: 'application/json' } });
      const url = result.next_page_url?.replace(/(?<=[?&])format=json/, 'format=csv');
      // The CSV has no groups, so that nothing names their expirations (contract 4.7).
      const { expiration_datetimes: _, ...told } = result as Result & { expiration_datetimes?: unknown };
      const expected = { ...told, ...(url === undefined ? {} : { next_page_url: url }), data: text };
      assert.deepEqual(((await wrapped.json()) as { result: Got }).result, expected);
      const usual = parameters.format!.default === 'csv' ? 'text/csv' : 'application/json';
      assert.ok((await ask(name)).headers.get('Content-Type')!.startsWith(usual), 'the declared default');
    });
  }

  if (isPaged) {
    test(`${name} is walked by address and key, in each format, to its end (spec 2.2, 4.1, contract 4.1, 4.2, 4.3, 5.2)`, async () => {
      const whole = recordsOf(await resultOf(name, { limit: '1000' }));
      assert.ok(whole.length > 3, `${whole.length}`);
      const limit = String(Math.ceil(whole.length / 4));
      const byAddress: Got[] = [];
      const byKey: Got[] = [];
      for (let page = await resultOf(name, { limit }); ; ) {
        assert.ok(page.count > 0, 'no page is empty');
        byAddress.push(...recordsOf(page));
        if (page.next_page_url === null) break;
        page = ((await (await fetch(page.next_page_url)).json()) as { result: Result }).result;
      }
      for (let page = await resultOf(name, { limit }); ; ) {
        byKey.push(...recordsOf(page));
        assert.equal(page.next_page_key === null, page.next_page_url === null);
        if (page.next_page_key === null) break;
        page = await resultOf(name, { limit, next_page_key: page.next_page_key });
      }
      assert.deepEqual(byAddress, whole);
      assert.deepEqual(byKey, whole);
      if (!hasFormat) return;
      const rows: unknown[] = [];
      for (let answer = await ask(name, { limit, format: 'csv' }); ; ) {
        rows.push(...parseCsv(await answer.text()).slice(1));
        const link = /^<(.+)>; rel="next"$/.exec(answer.headers.get('Link') ?? '');
        assert.equal(link === null, answer.headers.get('X-Next-Page-Key') === null);
        if (link === null) break;
        answer = await fetch(link[1]!);
      }
      assert.deepEqual(rows, whole.map(cellsOf));
    });
  }

  if ('sort' in parameters && (isPaged || shape === 'array')) {
    test(`${name} descending is exactly its ascending reversed (contract 4.5, 4.7)`, async () => {
      const [asc, desc] = await Promise.all(
        ['asc', 'DESC'].map((sort) => resultOf(name, { sort, limit: '1000' })),
      );
      assert.deepEqual(recordsOf(desc!), recordsOf(asc!).reverse());
    });
  }

  test(`${name} answers HEAD as GET, OPTIONS without a key, and no other method (contract 6.5, 6.6)`, async () => {
    // A page key holds the moment, which packs to more or fewer bytes.
    const named = { 'X-Request-Id': 'a-request.of_mine', 'Accept-Encoding': 'identity' };
    const [got, head] = [
      await ask(name, json, { headers: named }),
      await ask(name, json, { method: 'HEAD', headers: named }),
    ];
    const ofMoment = ['date', 'connection', 'keep-alive', 'transfer-encoding'];
    // The free room of a disk is another one at each request.
    if (name === 'operateStatus') ofMoment.push('content-length', 'etag');
    const shown = ({ headers }: Response) => [...headers].filter(([header]) => !ofMoment.includes(header));
    assert.deepEqual(shown(head), shown(got));
    assert.equal(got.headers.get('X-Request-Id'), 'a-request.of_mine');
    assert.deepEqual([head.status, await head.text()], [200, '']);
    const options = await server.get(addressOf(name, endpoints[name].texts, null), { method: 'OPTIONS' });
    assert.deepEqual([options.status, options.headers.get('Allow')], [204, 'GET, HEAD, OPTIONS']);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const refused = await server.get(addressOf(name, endpoints[name].texts), { method });
      assert.deepEqual([refused.status, refused.headers.get('Allow')], [405, 'GET, HEAD, OPTIONS']);
      assert.equal((await refusedWith(refused)).detail.error, 'method_not_allowed');
    }
  });

  test(`${name} refuses a request without a key, with a short one, a wrong one and one of another scope (spec 5, contract 6.3, 7.1, 7.2, 7.6)`, async () => {
    const refusal = async (secret: string | null, init: RequestInit = {}) => {
      const { code, detail } = await refusedWith(
        await server.get(addressOf(name, endpoints[name].texts, secret), init),
      );
      return [code, detail.error, detail.param];
    };
    const isEconomic = endpoint.path.includes('/economic_calendar/');
    const short = isEconomic ? [400, 'invalid_parameter', 'secret_key'] : [401, 'invalid_key', 'secret_key'];
    assert.deepEqual(await refusal(null), [401, 'missing_key', 'secret_key']);
    assert.deepEqual(await refusal(''), [401, 'missing_key', 'secret_key']);
    assert.deepEqual(await refusal('x'.repeat(19)), short);
    assert.deepEqual(await refusal('x'.repeat(43)), [401, 'invalid_key', 'secret_key']);
    assert.deepEqual(await refusal(null, { headers: { Authorization: `Bearer ${'x'.repeat(43)}` } }), [
      401,
      'invalid_key',
      'secret_key',
    ]);
    const { own, other } = keysOf(name);
    assert.deepEqual(await refusal(other), [403, 'forbidden', 'secret_key']);
    assert.deepEqual(await refusal(null, { headers: { Authorization: `Bearer ${other}` } }), [
      403,
      'forbidden',
      'secret_key',
    ]);
    const header = { headers: { Authorization: `Bearer ${own}` } };
    assert.equal((await server.get(addressOf(name, endpoints[name].texts, null), header)).status, 200);
  });

  test(`${name} answers every error that it declares, in the envelope, whatever the format (contract 4.4, 5.4, 6.2, 6.3)`, async () => {
    const words = new Set<string>();
    const provoke = async (texts: Texts, word: string, param: string | undefined) => {
      const { detail } = await refusedWith(await ask(name, texts));
      assert.deepEqual([detail.error, detail.param], [word, param], JSON.stringify(texts));
      words.add(word);
    };
    for (const [parameter, declared] of Object.entries(parameters)) {
      const word =
        parameter === 'interval'
          ? 'unknown_interval'
          : parameter === 'next_page_key'
            ? 'invalid_page_key'
            : 'invalid_parameter';
      await provoke({ [parameter]: '\u0001' }, word, parameter);
      if (declared.in === 'query' && parameter !== 'next_page_key')
        await provoke({ [parameter]: '' }, 'invalid_parameter', parameter);
      if (declared.in === 'query' && declared.required) {
        const { [parameter]: _, ...rest } = endpoints[name].texts;
        const { detail } = await refusedWith(await server.get(addressOf(name, rest)));
        assert.deepEqual([detail.error, detail.param], ['invalid_parameter', parameter]);
      }
    }
    for (const word of (endpoint.refusals ?? []).filter((one) => one in refusedByData)) {
      const { texts, named } = refusedByData[word]!;
      const own = Object.entries(texts).filter(([parameter]) => parameter in parameters);
      const param = named.find((parameter) => parameter in parameters);
      await provoke(Object.fromEntries(own), word, param);
    }
    const foreign = new Connection(server.url);
    const [answer] = foreign.ask(
      `GET ${addressOf(name, endpoints[name].texts)} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`,
      [true],
    );
    words.add((JSON.parse((await answer!).body) as Refused).detail.error);
    await foreign.close();
    const { responses } = documented[endpoint.path]!.get;
    const declared = ['400', '404'].flatMap((status) =>
      Object.keys(responses[status]?.content?.['application/json']?.examples ?? {}),
    );
    assert.deepEqual([...words].sort(), declared.sort());
    const long = await server.get(`${addressOf(name, endpoints[name].texts)}&x=${'x'.repeat(25_000)}`);
    assert.equal((await refusedWith(long)).detail.error, 'uri_too_long');
  });
}

test('the demo keeps its key between starts until it is revoked (contract 10)', async () => {
  const file = shop.path('data/demo.key');
  const isKept = (secret: string): void => {
    assert.equal(readFileSync(file, 'utf8'), `${secret}\n`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  };
  const again = async (): Promise<string> => {
    const demo = await startDemo(shop);
    assert.equal(demo.printed.match(/http:\S+\?\S+/g)!.length, 3);
    await demo.stop();
    return demoKey(demo);
  };
  isKept(key);
  assert.equal(await again(), key);
  const store = ['--store', fileStore('data/demo.db')];
  const keys = JSON.parse(await shop.must('keys', 'list', '--json', ...store)) as {
    id: string;
    name: string;
  }[];
  await shop.must('keys', 'revoke', keys.find(({ name }) => name === 'demo')!.id, ...store);
  chmodSync(file, 0o644);
  const other = await again();
  assert.notEqual(other, key);
  isKept(other);
});
