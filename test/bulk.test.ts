// Bars in bulk (contract 9.11): the same bars as by pages, in one answer that is cut rather than wrong.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import { bulkBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { QueryRunner } from '../src/queries/index.ts';
import type { QueryRequest } from '../src/queries/query.ts';
import { httpLimits } from '../src/serve/limits.ts';
import { openStore } from '../src/store/engines.ts';
import { readExposition } from './exposition.ts';
import { Workshop } from './service.ts';
import { until } from './until.ts';

const shop = new Workshop();
after(() => shop.close());

const SYMBOLS = Array.from({ length: 40 }, (_, index) => `S${String(index).padStart(2, '0')}`);
const DAYS = ['03', '04', '05', '06', '07', '10', '11', '12', '13', '14'].map((day) => `2025-02-${day}`);
const MINUTES = 390;
const ROUTE = '/api/v2/{schema_asset}/bulk/bars/{country_iso_code}/{interval}/from/{from_date}/to/{to_date}';

/** Rows of minutes of regular sessions in New York, 14:30 to 21:00 UTC in winter. */
function* minutesOf(symbols: readonly string[], days: readonly string[], country = 'US', plus = 0) {
  for (const symbol of symbols)
    for (const [index, day] of days.entries())
      for (let minute = 0; minute < MINUTES; minute++) {
        const at = new Date(Date.parse(`${day}T14:30:00Z`) + minute * 60_000).toISOString();
        const close = 100 + index + (minute % 50) / 100 + plus;
        yield `stock,${country},${symbol},1M,${at},${close},${close + 1},${close - 1},${close},${minute * 10}`;
      }
}

const HEAD = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';

async function importRows(name: string, rows: Iterable<string>): Promise<void> {
  writeFileSync(shop.path(name), [HEAD, ...rows, ''].join('\n'));
  await shop.must('import', 'bars', shop.path(name));
}

await importRows('minutes.csv', minutesOf(SYMBOLS, DAYS));
await importRows('hk.csv', minutesOf(['S00'], ['2025-02-03'], 'HK'));
writeFileSync(
  shop.path('actions.csv'),
  [
    'country_iso_code,symbol,action_type,ex_date,split_from,split_to,cash_amount,currency,adjustment_factor',
    'US,S03,split,2025-02-06,1,2,,,',
    'US,S01,dividend,2025-02-07,,,0.5,EUR,',
    'US,S30,dividend,2025-02-07,,,0.5,EUR,',
    'US,S31,spinoff,2025-02-07,,,,,0.9',
    '',
  ].join('\n'),
);
await shop.must('import', 'corporate-actions', shop.path('actions.csv'));
const key = await shop.must('keys', 'create', 'bulk');
const otherKey = await shop.must('keys', 'create', 'other');
const server = await shop.serve('--metrics-port', '0');

const bulkPath = (query: string, interval = '1M', to = '2025-02-14'): string =>
  `/api/v2/stock/bulk/bars/us/${interval}/from/2025-02-03/to/${to}?secret_key=${key}${query}`;
const bulk = (query: string, interval?: string, to?: string): Promise<Response> =>
  server.get(bulkPath(query, interval, to));

/** All bars of a symbol as CSV without a header, page by page. */
async function paged(symbol: string, query: string, interval: string): Promise<string> {
  let rows = '';
  let next = '';
  do {
    const path = `/api/v2/stock/bars/US:${symbol}/${interval}/from/2025-02-03/to/2025-02-14`;
    const more = next === '' ? '' : `&next_page_key=${next}`;
    const address = `${path}?secret_key=${key}&format=csv&limit=1000${query}${more}`;
    const page = await server.get(address);
    assert.equal(page.status, 200);
    rows += (await page.text()).replace(/^.*\r\n/, '');
    next = page.headers.get('x-next-page-key') ?? '';
  } while (next !== '');
  return rows;
}

const PLAIN =
  'asset_schema,interval,country_iso_code,exchange,symbol,datetime,close_datetime,open,high,low,close,volume,vwap\r\n';

test('headers about adjusted bars have the actions of all symbols where the answer is made before they are sent, else those of the first ones, and say so (contract 8.2, 8.10, 9.11)', async () => {
  // A range of 250 days has sixteen symbols in a step.
  const told = async (query: string) => {
    const { headers, body } = await bulk(query, 'DAY', '2025-10-10');
    await body?.cancel();
    return [headers.get('x-adjust-incomplete'), headers.get('x-adjusted-by')];
  };
  const reason = 'dividend 2025-02-07 (its currency is not that of the price)';
  const others = 'symbols after S15 are not included (format=parquet includes all)';
  assert.deepEqual(await told('&format=csv&adjust=all'), [`S01 ${reason}, ${others}`, others]);
  assert.deepEqual(await told('&format=arrow&adjust=split'), [others, others]);
  assert.deepEqual(await told('&format=csv'), [null, null]);
  assert.deepEqual(await told('&format=csv&adjust=all&symbols=S02,S30'), [`S30 ${reason}`, null]);
  assert.deepEqual(await told('&format=parquet&adjust=all'), [
    `S01 ${reason}, S30 ${reason}`,
    'S31 spinoff 2025-02-07',
  ]);
  assert.deepEqual(await told('&format=parquet&adjust=split'), [null, null]);
  // A symbol whose minutes are in two steps is named once.
  const minutes = await bulk('&format=parquet&adjust=all');
  await minutes.body?.cancel();
  assert.equal(minutes.headers.get('x-adjust-incomplete'), `S01 ${reason}, S30 ${reason}`);
  // A command tells it when it has read all.
  const { stderr } = await shop.run('query', bulkPath('&format=csv&adjust=all', 'DAY'));
  assert.deepEqual(stderr.trimEnd().split('\n'), [
    `bourse: Corporate actions that could not be applied: S01 ${reason}, S30 ${reason}`,
    'bourse: Applied corporate actions that only extended=true lists: S31 spinoff 2025-02-07',
  ]);
});

test('an answer without a row says why in each format, one with rows of the last symbols alone does not (contract 9.11, 9.18)', async () => {
  const path = '/api/v2/stock/bulk/bars/us/1M/from/2025-01-06/to/2025-01-07';
  const why = 'nothing is stored between 2025-01-06 and 2025-01-07; stored: 1M 2025-02-03 to 2025-02-14';
  const named = ['S00', 'S01', 'S02', 'S03', 'S04'].map((symbol) => `US:${symbol}: ${why}`);
  for (const format of ['csv', 'arrow', 'parquet']) {
    const { headers, body } = await server.get(`${path}?secret_key=${key}&format=${format}`);
    await body?.cancel();
    assert.equal(headers.get('x-no-data'), `${named.join('; ')}; and 35 more`, format);
  }
  const empty = await server.get(`${path}?secret_key=${key}&format=csv&symbols=S07`);
  assert.deepEqual([empty.headers.get('x-no-data'), await empty.text()], [`US:S07: ${why}`, PLAIN]);
  // Twenty symbols before it, of more than one step, have no such bars.
  const others = Array.from({ length: 20 }, (_, at) => `A${String(at).padStart(2, '0')}`);
  const dated = (symbols: readonly string[], day: string) =>
    symbols.map((symbol) => `stock,CA,${symbol},DAY,${day},1,2,1,2,5`);
  await importRows('last.csv', [...dated(others, '2025-01-06'), ...dated(['Z'], '2025-01-07')]);
  const bars = '/api/v2/stock/bulk/bars/CA/DAY/from/2025-01-07/to/2025-01-07';
  const last = await server.get(`${bars}?secret_key=${key}&format=csv&columns=symbol,close`);
  assert.deepEqual([last.headers.get('x-no-data'), await last.text()], [null, 'symbol,close\r\nZ,2\r\n']);
});

test('bulk CSV has the columns and the times that are asked for, as pages have them (contract 9.16)', async () => {
  for (const form of [
    '&columns=datetime,close,symbol&tz=America/New_York',
    '&timestamps=unix',
    '&columns=vwap,high',
  ]) {
    const answer = await bulk(`&format=csv&symbols=S01,S02${form}`);
    assert.equal(answer.status, 200);
    const [header, ...lines] = (await answer.text()).split('\r\n');
    const rows = (await paged('S01', form, '1M')) + (await paged('S02', form, '1M'));
    assert.equal(lines.join('\r\n'), rows);
    if (form.includes('columns')) assert.equal(header, /columns=([^&]*)/.exec(form)![1]);
  }
});

test('a whole market in one answer: its bars by symbol, then time, as pages give them (contract 9.11)', async () => {
  const answer = await bulk('&format=csv');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
  const pages = await Promise.all(SYMBOLS.slice(0, 3).map((symbol) => paged(symbol, '', '1M')));
  const text = await answer.text();
  const lines = text.trimEnd().split('\r\n');
  assert.equal(lines.length, 1 + SYMBOLS.length * DAYS.length * MINUTES);
  assert.ok(text.startsWith(PLAIN + pages.join('')));
  const symbols = lines.slice(1).map((line) => line.split(',')[4]!);
  assert.deepEqual([...new Set(symbols)], SYMBOLS);
  assert.equal(new Set(lines).size, lines.length, 'no row comes twice');
});

for (const [query, interval] of [
  ['&session_date=true', '60M'],
  ['&adjust=split&adjust_as_of=2025-02-14', '1M'],
  ['&adjustment=split&adjust_as_of=2025-02-14&session_date=1', 'DAY'],
  ['&is_eth=true', '45M'],
  ['&as_of=2025-02-06T18:00:30Z', '45M'],
] as const)
  test(`named symbols at ${interval} with ${query.slice(1)} are those of pages, once each and in order (contract 9.11)`, async () => {
    const answer = await bulk(`&format=csv&symbols=S07,s03,S03${query}`, interval);
    const text = await answer.text();
    const expected = (await paged('S03', query, interval)) + (await paged('S07', query, interval));
    assert.ok(expected.length > 0);
    assert.equal(text.replace(/^.*\r\n/, ''), expected);
    assert.equal(text.split('\r\n', 1)[0]!.includes('session_date'), query.includes('session_date'));
  });

test('an answer has the version of the stored data, and HEAD has the headers alone (contract 6.6, 9.11, 9.12)', async () => {
  const page = await server.get(`/api/v2/stock/bars/US:S00/1M/latest?secret_key=${key}`);
  const head = await server.get(bulkPath('&format=csv'), { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.headers.get('x-data-version'), page.headers.get('x-data-version'));
  assert.equal(await head.text(), '');
  assert.equal(head.headers.get('etag'), null);
});

test('a market without bars is a header alone (contract 5.1, 9.11)', async () => {
  const none = await server.get(bulkPath('&format=csv').replace('/us/', '/JP/'));
  assert.equal(await none.text(), PLAIN);
});

test('a request that cannot be answered says why before the first byte (contract 6.2, 9.11)', async () => {
  const refusals: readonly [query: string, to: string, status: number, message: RegExp][] = [
    ['', '2025-02-14', 400, /^format is required/],
    ['&format=xlsx', '2025-02-14', 400, /^format must be/],
    ['&format=csv&as_of=2025-02-05', '2025-02-14', 400, /^as_of must be a moment, with a time/],
    [
      '&format=csv',
      '2025-03-31',
      400,
      /a request for 1M bars of a whole market may have 40 days, this one has 57/,
    ],
    ['&format=csv', '2025-02-01', 400, /^from_date is after to_date/],
    ['&format=csv&symbols=S00,,S01', '2025-02-14', 400, /^symbols must be symbols separated by commas/],
    ['&format=csv&symbols=S00,S0', '2025-02-14', 404, /^US:S0 is not stored\.$/],
  ];
  for (const [query, to, status, message] of refusals) {
    const answer = await bulk(query, '1M', to);
    const body = (await answer.json()) as { message: string; detail: { hint?: string } };
    assert.equal(answer.status, status, query);
    assert.match(body.message, message);
    if (to === '2025-03-31')
      assert.match(body.detail.hint!, /Split the range into requests of at most 40 days/);
  }
});

/** An answer of which nothing is read until it is asked for. */
const begun = (path: string, requestId?: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = requestId === undefined ? {} : { 'x-request-id': requestId };
    get(`${server.url}${path}`, { agent: false, headers }, resolve).once('error', reject);
  });

async function rest(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

test('callers that leave free their places; others are told to wait (contract 6.3, 9.11)', async () => {
  const path = bulkPath('&format=csv');
  const ofOther = path.replace(key, otherKey);
  const { streamedAnswersMax, streamedAnswersPerKeyMax } = httpLimits;
  /** Takes every place, once those that callers have left are free. */
  const takeAll = (): Promise<IncomingMessage[]> =>
    until('every place is free', async () => {
      const all = await Promise.all(
        Array.from({ length: streamedAnswersMax }, (_, index) =>
          begun(index < streamedAnswersPerKeyMax ? path : ofOther),
        ),
      );
      if (all.every(({ statusCode }) => statusCode === 200)) return all;
      for (const answer of all) answer.destroy();
      return null;
    });
  const ofOne = await Promise.all(Array.from({ length: streamedAnswersPerKeyMax }, () => begun(path)));
  const tooMany = await server.getOnce(path);
  assert.equal(tooMany.status, 503);
  assert.match(((await tooMany.json()) as { message: string }).message, /^4 bulk answers of this key/);
  const another = await begun(ofOther);
  assert.equal(another.statusCode, 200, 'one key leaves places to others');
  for (const answer of [...ofOne, another]) answer.destroy();
  const slow = await takeAll();
  const refused = await server.getOnce(path);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  await refused.arrayBuffer();
  const page = await server.get(`/api/v2/stock/bars/US:S00/1M/latest?secret_key=${key}`);
  assert.equal(page.status, 200, 'pages are answered meanwhile');
  for (const answer of slow) answer.destroy();
  for (const answer of await takeAll()) answer.destroy();
});

type Logged = { readonly requestId: string; readonly route?: string; readonly bytes: number };

/** The bytes of bulk answers, in the log by request, and in the metrics. */
async function observedBytes(): Promise<{ logged: Map<string, number>; counted: number }> {
  const lines = server.log.map((line) => JSON.parse(line) as Logged).filter(({ route }) => route === ROUTE);
  const text = await (await fetch(await server.metricsUrl())).text();
  const { samples } = readExposition(text).get('bourse_response_bytes_total')!;
  const counted = samples.find(({ labels }) => labels.route === ROUTE)?.value ?? 0;
  return { logged: new Map(lines.map(({ requestId, bytes }) => [requestId, bytes])), counted };
}

test('log and metrics have the bytes of a whole streamed answer, and those that were sent of one that was left (contract 7.4, 9.3, 9.11)', async () => {
  const whole = await rest(await begun(bulkPath('&format=csv'), 'whole'));
  (await begun(bulkPath('&format=csv'), 'left')).destroy();
  const logged = await until('the log and the metrics agree', async () => {
    const found = await observedBytes();
    const sum = found.logged.values().reduce((total, bytes) => total + bytes, 0);
    return found.logged.has('left') && found.counted === sum ? found.logged : null;
  });
  assert.equal(logged.get('whole'), whole.length);
  assert.ok(logged.get('left')! < whole.length);
});

test('the moment of a request, or of its key, is told; a key that is pinned sees no later one (contract 9.8, 9.11)', async () => {
  const moment = '2025-02-05T20:00:00Z';
  const asOf = await bulk(`&format=csv&as_of=${moment}`);
  assert.deepEqual([asOf.status, asOf.headers.get('x-as-of')], [200, moment]);
  const text = await asOf.text();
  assert.equal(text.trimEnd().split('\r\n').length, 1 + SYMBOLS.length * (2 * MINUTES + 330));
  const pinned = await shop.must('keys', 'create', 'pinned', '--as-of', moment);
  const ofKey = await server.get(bulkPath('&format=csv').replace(key, pinned));
  assert.deepEqual([ofKey.headers.get('x-as-of'), await ofKey.text()], [moment, text]);
  const later = await server.get(bulkPath('&format=csv&as_of=2025-02-05T20:00:01Z').replace(key, pinned));
  assert.equal(later.status, 400);
  assert.match(((await later.json()) as { message: string }).message, /^as_of is after 2025-02-05T20:00:00Z/);
});

for (const [at, asOf] of ['', '&as_of=2025-02-14T22:00:00Z'].entries())
  test(`an import of what an answer does not have leaves it as it was; one of what it still has to give cuts it${asOf} (contract 9.8, 9.11)`, async () => {
    const path = bulkPath(`&format=csv${asOf}`);
    const before = await rest(await begun(path));
    const untouched = await begun(path);
    await importRows('other.csv', minutesOf(['S00'], [DAYS[at + 1]!], 'HK'));
    assert.equal(await rest(untouched), before);
    const touched = await begun(path);
    await importRows('changed.csv', minutesOf(['S39'], ['2025-02-13', '2025-02-14'], 'US', at + 5));
    await assert.rejects(rest(touched), /aborted|ECONNRESET/);
    const anew = await rest(await begun(path));
    assert.notEqual(anew, before);
    assert.equal(anew.length > 0, true);
  });

test('an import of another market cuts no answer about many series (contract 9.11)', async () => {
  const many = Array.from({ length: 200 }, (_, at) => `T${String(at).padStart(3, '0')}`);
  const rowsOf = (symbol: string) =>
    ['DAY', '60M', '30M', '5M', '1M'].map(
      (interval) =>
        `stock,JP,${symbol},${interval},2025-02-03${interval === 'DAY' ? '' : 'T00:00:00Z'},1,2,1,2,5`,
    );
  await importRows('many.csv', many.flatMap(rowsOf));
  const store = await openStore(shop.store, 'read');
  after(() => store.close());
  const runner = new QueryRunner(store, new Uint8Array(32));
  const range = { interval: 'DAY', from_date: '2025-02-03', to_date: '2025-02-03' };
  const market = { schema_asset: 'stock', country_iso_code: 'JP', format: 'csv', ...range };
  const parameters = parseParameters(bulkBars, new Map(Object.entries(market)));
  const rows: number[] = [];
  let from: QueryRequest['from'];
  do {
    const nowMs = Date.parse('2025-03-01T00:00:00Z');
    const request = { endpoint: 'bulkBars', parameters, nowMs, wrapCsv: false } as const;
    const step = await runner.run({ ...request, ...(from && { from }) });
    assert.ok(step.kind === 'answer', JSON.stringify(step));
    rows.push(step.rows!);
    from = step.rest;
    await importRows('between.csv', minutesOf(['S00'], [DAYS[rows.length]!], 'HK', rows.length));
  } while (from !== undefined);
  assert.ok(rows.length > 2 && rows[1]! > 0, `steps of ${rows.join(', ')}`);
  assert.equal(
    rows.reduce((sum, count) => sum + count),
    many.length,
  );
});
