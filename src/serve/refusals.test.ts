// Parameters of every endpoint, valid and not, by their declarations (contract 4.4, 6.3, 6.4).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ask,
  DAY,
  key,
  LATEST,
  opens,
  page,
  refused,
  targetOf,
  withKey,
} from '../../test/request-handler.ts';
import { fc, times } from '../../test/seed.ts';
import type { ErrorWord } from '../contract/errors.ts';
import { contract, type EndpointName } from '../contract/index.ts';
import { listLimits } from '../contract/limits.ts';

// Values as sent, percent-encoded where they are meant to arrive whole: no bars parameter takes any of them.
const hostile = [
  '0x10',
  '1e2',
  '1.5',
  '-1',
  '%2B5',
  '+',
  'NaN',
  'null',
  'undefined',
  '__proto__',
  'constructor',
  'toString',
  '%00',
  'US:A%00',
  '5%00',
  '%ED%A0%80',
  'a%ED%BF%BF',
  '%25',
  '%2500',
  '%',
  '%2',
  '%ZZ',
  '%FF',
  '%C0%80',
  '%F0%9F%98%80',
  '\u00f0\u009f\u0098\u0080',
  '%EF%BC%91%EF%BC%90',
  '%E2%80%AE',
  "'%20or%201=1--",
  '..%2F..%2Fetc%2Fpasswd',
  'x%0D%0ASet-Cookie:%20a=b',
  '%3Cscript%3E',
  '%5Bobject%20Object%5D',
  '{}',
  '9'.repeat(7_800),
  '%F0%9F%98%80'.repeat(600),
];

function decoded(sent: string, place: 'path' | 'query'): string {
  const text = place === 'query' ? sent.replaceAll('+', ' ') : sent;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const wordsOf: Readonly<Record<string, readonly ErrorWord[]>> = {
  interval: ['unknown_interval', 'invalid_parameter'],
  next_page_key: ['invalid_page_key', 'invalid_parameter'],
};

/** Text that is looked for, whatever it is: none of these finds anything. */
const lookedFor = ['query'];

/** Among them are numbers, with which no price and no strike is at fault. */
const numbers = 'ref_asset_price strike_price strike_from strike_to'.split(' ');

const isNumber = (sent: string): boolean => /^(-|%2B)?[\d.]+(e\d)?$/.test(sent);

for (const name of Object.keys(contract) as EndpointName[]) {
  for (const [parameter, { in: place, required, emptyAllowed }] of Object.entries(
    contract[name].parameters,
  )) {
    test(`${name}: a hostile ${parameter} is a 400 that names it and cuts what arrived (contract 4.4, 6.3)`, async () => {
      for (const sent of hostile) {
        const got = await ask(targetOf(name, { [parameter]: sent }));
        const what = `${parameter}=${sent.slice(0, 40)}`;
        if (lookedFor.includes(parameter) && got.status === 200) {
          assert.match(decodeURIComponent(sent), /^\P{Cc}+$/u, what);
          assert.match(got.text, /"count":0,/, what);
          continue;
        }
        if (numbers.includes(parameter) && isNumber(sent) && got.status === 200) continue;
        // Any word of these letters may be a code; what is nobody's finds nothing.
        if (parameter === 'event_code' && /^\w+$/.test(sent) && sent.length <= 100) {
          if (got.status === 200) assert.doesNotMatch(got.text, /\d{4}-\d\d-\d\dT/, what);
          else refused(got, 'no_data', undefined, what);
          continue;
        }
        const detail = refused(got, wordsOf[parameter] ?? 'invalid_parameter', parameter, what);
        const cut = Array.from(decoded(sent, place)).slice(0, 80).join('');
        assert.ok(detail.got === cut || detail.got === Array.from(sent).slice(0, 80).join(''), what);
      }
    });

    test(`${name}: a missing or empty ${parameter} has the answer of contract 4.4`, async () => {
      const empty = await ask(targetOf(name, { [parameter]: '' }));
      if (emptyAllowed) assert.equal(empty.status, 200, empty.text);
      else refused(empty, ['invalid_parameter', 'unknown_interval'], parameter, `${parameter}=`);
      if (place === 'path') return;
      const missing = await ask(targetOf(name, {}, parameter));
      if (required) refused(missing, 'invalid_parameter', parameter, `no ${parameter}`);
      else assert.equal(missing.status, 200, missing.text);
    });
  }
}

test('28,000 characters in any place are a 414 that repeats none of them (contract 6.3)', async () => {
  const long = 'a'.repeat(28_000);
  for (const target of [
    withKey(LATEST, `&limit=${long}`),
    withKey(LATEST, `&${long}`),
    `/api/v2/stock/bars/${long}/1M/latest`,
    `/${long}`,
  ]) {
    const got = await ask(target);
    refused(got, 'uri_too_long', undefined, 'a long address');
    assert.ok(got.text.length < 1_000);
  }
});

test('limit is a plain decimal from 1 to the maximum, named in the refusal and never clamped (contract 4.4)', async () => {
  const { max } = listLimits.bars;
  for (const sent of [
    '0',
    '-1',
    '1001',
    '999999999999999999999',
    '1e2',
    '0x10',
    '5.0',
    '%205',
    '5%20',
    '1,000',
  ]) {
    const detail = refused(await ask(withKey(DAY, `&limit=${sent}`)), 'invalid_parameter', 'limit', sent);
    assert.match(String(detail.allowed), new RegExp(`\\b${max}\\b`));
  }
  assert.equal((await page(withKey(DAY, '&limit=1'))).count, 1);
  assert.equal((await page(withKey(DAY, `&limit=${max}`))).count, opens.length);
});

test('columns, timestamps and tz are refused by name, with what is allowed (contract 9.16)', async () => {
  const names =
    'asset_schema interval country_iso_code exchange symbol datetime close_datetime session_date open high low close volume vwap';
  for (const sent of ['price', 'open,open', 'open,', ',open', 'open, close', 'open;close', 'Open,OPEN']) {
    const detail = refused(
      await ask(withKey(DAY, `&columns=${encodeURIComponent(sent)}`)),
      'invalid_parameter',
      'columns',
      sent,
    );
    assert.deepEqual(detail.allowed, names.split(' '));
  }
  const noZones = ['Mars/Olympus', '%2B05:30', '-05:00', 'America', 'America/New_York,UTC', 'null', '+UTC'];
  // The platform takes these for Dhaka, Kolkata, Anchorage, Los Angeles and Panama.
  for (const sent of [...noZones, 'BST', 'ist', 'AST', 'PST', 'SystemV/EST5'])
    refused(await ask(withKey(DAY, `&tz=${sent}`)), 'invalid_parameter', 'tz', sent);
  for (const timestamps of ['unix', 'UNIX_MS']) {
    const got = await ask(withKey(DAY, `&tz=UTC&timestamps=${timestamps}`));
    assert.equal(refused(got, 'invalid_parameter', 'tz', timestamps).allowed, 'timestamps=iso');
  }
  refused(await ask(withKey(DAY, '&timestamps=epoch')), 'invalid_parameter', 'timestamps', 'epoch');
  const bulk = '/api/v2/stock/bulk/bars/US/1M/from/2025-03-03/to/2025-03-03';
  for (const one of ['columns=close', 'timestamps=iso', 'tz=UTC'])
    for (const format of ['arrow', 'parquet']) {
      const got = await ask(withKey(bulk, `&format=${format}&${one}`));
      assert.equal(refused(got, 'invalid_parameter', one.split('=')[0], one).allowed, 'format=csv');
    }
});

test('a zone may have a raw plus, which arrives as a space, and be a link (contract 2.1, 9.16)', async () => {
  const local = async (zone: string) =>
    (await page(withKey(DAY, `&limit=1&columns=datetime&tz=${zone}`))).data;
  const five = await local('Etc/GMT%2B5');
  assert.match(JSON.stringify(five), /-05:00"/);
  for (const zone of ['Etc/GMT+5', 'etc/gmt+5', 'EST', 'Jamaica'])
    assert.deepEqual(await local(zone), five, zone);
});

test('answers in other forms have tags of their own (contract 9.7, 9.16)', async () => {
  const forms = [
    '',
    '&columns=close',
    '&columns=open',
    '&timestamps=unix',
    '&tz=Asia/Tokyo',
    '&tz=UTC&timestamps=ISO',
  ];
  const tags = new Map<string, string>();
  for (const round of [1, 2, 3])
    for (const form of forms) {
      const { headers, text } = await ask(withKey(DAY, form));
      assert.equal(tags.get(form) ?? headers.ETag, headers.ETag, `${round} ${form}`);
      tags.set(form, headers.ETag!);
      if (form.includes('columns=open')) assert.match(text, /"data":\[\{"open":1\},/);
      const held = await ask(withKey(DAY, form), { headers: { 'if-none-match': headers.ETag } });
      assert.equal(held.status, 304);
    }
  // Instants in UTC are the same text.
  assert.equal(new Set(tags.values()).size, forms.length - 1);
});

test('any texts in any place are answered or refused, never a fault (contract 6.4)', async () => {
  const piece = fc.oneof(
    fc.constantFrom('%', '%00', '%ED%A0%80', '&', '=', '+', '#', '?', 'US:AAPL', '1M', 'limit', '2025-03-03'),
    fc.string({ maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 10 }).map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const text = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''));
  const names = fc.constantFrom(
    'limit',
    'format',
    'is_eth',
    'sort',
    'session_date',
    'next_page_key',
    '__proto__',
  );
  const query = fc.array(
    fc.tuple(names, text).map(([name, value]) => `&${name}=${value}`),
    { maxLength: 3 },
  );
  const segment = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, text);
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(segment, segment, segment),
      query,
      async ([market, symbol, interval], pairs) => {
        const path = `/api/v2/${market ?? 'stock'}/bars/${symbol ?? 'US:AAPL'}/${interval ?? '1M'}/latest`;
        const got = await ask(withKey(path, pairs.join('')));
        assert.ok([200, 400, 401, 404].includes(got.status), `${got.status} ${got.text}`);
        if (got.status !== 200) assert.equal((JSON.parse(got.text) as { code: number }).code, got.status);
      },
    ),
    { numRuns: times(200) },
  );
});

test('of a repeated parameter the last counts, a repeated key or page key must not differ (contract 4.4)', async () => {
  assert.equal((await page(withKey(DAY, '&limit=9&limit=0x10&limit=2'))).count, 2);
  refused(await ask(withKey(DAY, '&limit=2&limit=0x10')), 'invalid_parameter', 'limit', 'the last is wrong');
  assert.equal((await ask(withKey(DAY, `&secret_key=${key}`))).status, 200);
  for (const other of ['', 'wrong', `${key}x`])
    for (const query of [`?secret_key=${key}&secret_key=${other}`, `?secret_key=${other}&secret_key=${key}`])
      refused(await ask(DAY + query), 'invalid_parameter', 'secret_key', `differing keys: ${other.length}`);
  const { next_page_key: pageKey } = await page(withKey(DAY, '&limit=5'));
  const twice = withKey(DAY, `&next_page_key=${pageKey}&next_page_key=${pageKey}`);
  assert.equal((await page(twice)).count, 7);
  for (const query of [
    `&next_page_key=${pageKey}&next_page_key=`,
    `&next_page_key=&next_page_key=${pageKey}`,
  ]) {
    const got = await ask(withKey(DAY, query));
    refused(got, ['invalid_parameter', 'invalid_page_key'], 'next_page_key', query);
  }
});
