// Bars adjusted for splits and dividends, from files to answers, in process (contract 9.4); factors of
// contract 8.2.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { FIRST_MS } from '../src/base/instant.ts';
import { historicalBars, latestBars } from '../src/contract/bars.ts';
import { parseParameters } from '../src/contract/endpoint.ts';
import { Refusal } from '../src/contract/errors.ts';
import type { PriceBasis, VolumeBasis } from '../src/contract/file-words.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { QueryRunner } from '../src/queries/index.ts';
import type { Answer } from '../src/queries/query.ts';
import { openStore } from '../src/store/engines.ts';
import type { Store } from '../src/store/store.ts';
import type { Parameters } from './asking.ts';
import { parseCsv } from './csv.ts';
import { stored } from './importing.ts';
import { fc, times } from './seed.ts';
import { sharedData, Workshop } from './service.ts';

type Bar = {
  readonly datetime: string;
  readonly session_date: string;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number | null;
  readonly vwap: number | null;
};
type Page = {
  readonly next_page_key: string | null;
  readonly next_page_url: string | null;
  readonly data: readonly Bar[];
};

/** `2020-08-28 open high low close volume vwap`; an instant in the place of the date for minutes. */
type Line = string;

const shop = new Workshop();
const opened: Store[] = [];
after(async () => {
  for (const store of opened) await store.close();
  shop.close();
});

let files = 0;
function written(header: string, lines: readonly string[]): string {
  const path = shop.path(`${++files}.csv`);
  writeFileSync(path, [header, ...lines, ''].join('\n'));
  return path;
}

/** Imports bars of a US stock. */
function bars(
  symbol: string,
  interval: string,
  lines: readonly Line[],
  basis: PriceBasis = 'raw',
  schema = 'stock',
  volumes?: VolumeBasis,
) {
  const country = schema === 'stock' ? 'US' : 'GLOBAL';
  const rows = lines.map((line) => [schema, country, symbol, interval, ...line.split(' ')].join());
  const header = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume,vwap';
  const path = written(
    header,
    rows.map((row) => row + ','.repeat(10 - row.split(',').length + 1)),
  );
  // The files of these tests have all of the weeks and months that they are about (contract 3.9).
  const about = {
    zone: null,
    basis,
    completeFromMs: FIRST_MS,
    completeThroughMs: Date.now(),
    ...(volumes !== undefined && { volumes }),
  };
  return stored(shop, path, (store, request) => importFile(store, 'bars', { ...request, ...about }));
}

/**
 * Imports actions: `dividend 2020-08-07 0.82 455.61`, `split 2020-08-31 1 4`, each with a factor behind `=`
 * or none.
 */
function actions(symbol: string, lines: readonly string[]) {
  const rows = lines.map((line) => {
    const [action, factor = ''] = line.split(' = ');
    const [type, day, first, second = ''] = action!.split(' ');
    const cells = type === 'split' ? ['', '', first, second] : [first, second, '', ''];
    return ['US', symbol, type, day, ...cells, factor].join();
  });
  const header =
    'country_iso_code,symbol,action_type,ex_date,cash_amount,reference_price,split_from,split_to,adjustment_factor';
  return stored(shop, written(header, rows), (store, request) =>
    importFile(store, 'corporate-actions', { ...request }),
  );
}

let runner: QueryRunner | null = null;
/** The moment of the requests. */
let now = '2026-06-01T12:00:00Z';

async function answer(raw: Parameters): Promise<Answer> {
  if (runner === null) {
    const store = await openStore(shop.store, 'read');
    opened.push(store);
    runner = new QueryRunner(store, new Uint8Array(32).fill(7));
  }
  const endpoint = raw.from_date === undefined ? 'latestBars' : 'historicalBars';
  const texts = new Map(Object.entries({ schema_asset: 'stock', session_date: 'true', ...raw }));
  const parameters =
    endpoint === 'latestBars' ? parseParameters(latestBars, texts) : parseParameters(historicalBars, texts);
  return runner.run({ endpoint, parameters, nowMs: Date.parse(now), wrapCsv: false });
}

const bodyOf = (given: Answer): string => {
  assert.equal(given.kind, 'answer', given.kind === 'refusal' ? given.facts.message : '');
  return given.kind === 'answer' ? Buffer.from(given.body).toString() : '';
};

async function page(raw: Parameters): Promise<Page> {
  return (JSON.parse(bodyOf(await answer(raw))) as { result: Page }).result;
}

/** The refusal of parameters that the declaration refuses. */
async function refusalOf(raw: Parameters) {
  const error = await answer(raw).catch((thrown: unknown) => thrown);
  if (!(error instanceof Refusal)) assert.fail('it was not refused');
  return { word: error.word, ...error.facts };
}

async function refusal(raw: Parameters) {
  const given = await answer(raw);
  if (given.kind !== 'refusal') assert.fail('it was not refused');
  return { word: given.word, ...given.facts };
}

const asked = (symbol: string, interval: string, adjust: string, more: Parameters = {}): Parameters => ({
  country_symbol: `US:${symbol}`,
  interval,
  adjust,
  from_date: '1999-01-01',
  to_date: '2030-01-01',
  limit: '1000',
  ...more,
});

const data = async (symbol: string, interval: string, adjust: string, more: Parameters = {}) =>
  (await page(asked(symbol, interval, adjust, more))).data;

const values = ({ open, high, low, close, volume, vwap }: Bar) => [open, high, low, close, volume, vwap];
const closes = (all: readonly Bar[]) => all.map(({ close }) => close);
const dated = (all: readonly Bar[]) => all.map(({ session_date, close }) => [session_date, close]);

/**
 * Days around a split of 4 to 1 and a dividend before it: dates, both closes before and both amounts are
 * those of Apple.
 */
const appleDays = [
  '2020-08-06 441.62 457.65 439.19 455.61 50607225 450.5',
  '2020-08-07 452.82 454.7 441.17 444.45 49511403 447.8',
  '2020-08-28 504.05 505.77 498.31 499.23 46907479 501.1',
  '2020-08-31 127.58 131 126 129.04 225702688 129.1',
  '2020-09-01 132.76 134.8 130.53 134.18 151948050 133.2',
];

test('a split of 4 to 1 divides the prices before its ex-date by 4 and multiplies their volume, exactly (contract 9.4)', async () => {
  await bars('SPLIT', 'DAY', appleDays);
  await actions('SPLIT', ['dividend 2020-08-07 0.82 455.61', 'split 2020-08-31 1 4']);
  const rows = await data('SPLIT', 'day', 'split');
  assert.deepEqual(rows.map(values), [
    [110.405, 114.4125, 109.7975, 113.9025, 202428900, 112.625],
    [113.205, 113.675, 110.2925, 111.1125, 198045612, 111.95],
    [126.0125, 126.4425, 124.5775, 124.8075, 187629916, 125.275],
    [127.58, 131, 126, 129.04, 225702688, 129.1],
    [132.76, 134.8, 130.53, 134.18, 151948050, 133.2],
  ]);
});

test('a dividend takes its unrounded part of the prices before it and leaves the volume (contract 8.2, 9.4)', async () => {
  const [first, second] = await data('SPLIT', 'DAY', 'dividend');
  // 455.61 - 0.82 is what the close before is worth without the dividend.
  assert.deepEqual(
    [first!.close, first!.volume, second!.close, second!.volume],
    [454.79, 50607225, 444.45, 49511403],
  );
  // 441.62 x 454.79 / 455.61 = 440.82517899080…; the text of 8 decimals, 0.99820022, would give 440.82518116.
  assert.equal(first!.open, 440.8251789908);
  const [both] = await data('SPLIT', 'DAY', 'all');
  assert.deepEqual([both!.close, both!.volume], [113.6975, 202428900]);
});

test('none is what is served without adjust, to the byte, and as_of says nothing then (contract 9.4)', async () => {
  const { adjust: _, ...bare } = asked('SPLIT', 'DAY', 'none', { limit: '2' });
  const plain = bodyOf(await answer(bare));
  assert.equal(bodyOf(await answer({ ...bare, adjust: 'NONE' })), plain);
  const rows = await data('SPLIT', 'DAY', 'none', { adjust_as_of: '2020-01-01' });
  assert.deepEqual(closes(rows), [455.61, 444.45, 499.23, 129.04, 134.18]);
});

test('adjustment is another name of adjust, raw for none: the same bytes, page keys of each other, and no contradiction (contract 9.13)', async () => {
  const { adjust: _, ...bare } = asked('SPLIT', 'DAY', 'none', { limit: '2' });
  for (const [word, meant] of Object.entries({
    raw: 'none',
    SPLIT: 'split',
    dividend: 'dividend',
    all: 'all',
  })) {
    const own = bodyOf(await answer({ ...bare, adjust: meant }));
    assert.equal(bodyOf(await answer({ ...bare, adjustment: word })), own);
    assert.equal(bodyOf(await answer({ ...bare, adjustment: word, adjust: meant })), own);
  }
  const first = await page({ ...bare, adjustment: 'split' });
  const second = { next_page_key: first.next_page_key!, adjust_as_of: '2026-06-01' };
  assert.deepEqual(
    await page({ ...bare, ...second, adjustment: 'split' }),
    await page({ ...bare, ...second, adjust: 'split' }),
  );
  const given = await answer({ ...bare, adjustment: 'split' });
  assert.match(given.kind === 'answer' ? given.next!.address : '', /[?&]adjust=split&(?!.*adjustment)/);
  const { word, param, got } = await refusalOf({ ...bare, adjust: 'none', adjustment: 'split' });
  assert.deepEqual([word, param, got], ['invalid_parameter', 'adjustment', 'split']);
  const { param: wrong, allowed } = await refusalOf({ ...bare, adjustment: 'none' });
  assert.deepEqual([wrong, allowed], ['adjustment', ['raw', 'split', 'dividend', 'all']]);
});

test('only ex-dates up to adjust_as_of count: today in the zone of the market without it (contract 9.4)', async () => {
  const before = [455.61, 444.45, 499.23, 129.04, 134.18];
  const afterwards = [113.9025, 111.1125, 124.8075, 129.04, 134.18];
  const of = async (day: string) => closes(await data('SPLIT', 'DAY', 'split', { adjust_as_of: day }));
  assert.deepEqual(await of('2020-08-30'), before);
  assert.deepEqual(await of('2020-08-31'), afterwards);
  assert.deepEqual(await of('2020-08-31T23:00:00-11:00'), afterwards);
  await bars('EVE', 'DAY', appleDays.slice(0, 3));
  await actions('EVE', ['split 2020-08-31 1 4']);
  try {
    now = '2020-08-31T03:59:00Z';
    assert.deepEqual(closes(await data('EVE', 'DAY', 'split')), before.slice(0, 3));
    now = '2020-08-31T04:00:00Z';
    assert.deepEqual(closes(await data('EVE', 'DAY', 'split')), afterwards.slice(0, 3));
  } finally {
    now = '2026-06-01T12:00:00Z';
  }
});

for (const sort of ['asc', 'desc']) {
  test(`pages sorted ${sort} are the whole, also where a day begins between them (contract 4.1, 9.4)`, async () => {
    const raw = asked('EVE', 'DAY', 'split', { sort });
    const pages: Bar[] = [];
    let key: string | null = '';
    try {
      now = '2020-08-31T03:59:00Z';
      const whole = await data('EVE', 'DAY', 'split', { sort });
      while (key !== null) {
        const one: Page = await page({ ...raw, limit: '1', next_page_key: key });
        pages.push(...one.data);
        key = one.next_page_key;
        now = '2020-09-01T12:00:00Z';
      }
      assert.deepEqual(pages, whole);
      assert.equal(pages.length, 3);
    } finally {
      now = '2026-06-01T12:00:00Z';
    }
  });
}

test("the next page's address has the date filled in; a key of another adjustment is refused (contract 4.1, 4.3)", async () => {
  const raw = asked('SPLIT', 'DAY', 'split', { limit: '2' });
  const first = await page(raw);
  const given = await answer(raw);
  assert.ok(
    given.kind === 'answer' && given.next?.address.includes('&adjust=split&adjust_as_of=2026-06-01&'),
  );
  const next = { next_page_key: first.next_page_key! };
  const filled = { ...raw, ...next, adjust_as_of: '2026-06-01' };
  assert.deepEqual(await page(filled), await page({ ...raw, ...next }));
  for (const other of [{ adjust: 'all' }, { adjust: 'none' }, { adjust_as_of: '2026-05-31' }]) {
    const { word, param } = await refusal({ ...raw, ...next, ...other });
    assert.deepEqual([word, param], ['invalid_page_key', 'next_page_key']);
  }
  const pinned = await page({ ...raw, adjust_as_of: '2021-01-01' });
  const { word } = await refusal({ ...raw, next_page_key: pinned.next_page_key! });
  assert.equal(word, 'invalid_page_key');
});

test('minutes count by the session that they lie in, extended hours too (contract 9.4)', async () => {
  await bars('MINUTES', '1M', [
    '2020-08-28T19:59:00Z 499 500 498 499.2 100',
    '2020-08-28T23:59:00Z 500 500 500 500 8',
    '2020-08-31T08:00:00Z 126 126 126 126 3',
    '2020-08-31T13:30:00Z 127.6 128 127 127.7 50',
  ]);
  await actions('MINUTES', ['split 2020-08-31 1 4']);
  const rows = await data('MINUTES', '1m', 'split', { is_eth: 'true' });
  assert.deepEqual(closes(rows), [124.8, 125, 126, 127.7]);
  assert.deepEqual(
    rows.map(({ volume }) => volume),
    [400, 32, 3, 50],
  );
  assert.deepEqual(
    closes(await data('MINUTES', '60M', 'split', { is_eth: 'true' })),
    [124.8, 125, 126, 127.7],
  );
  assert.deepEqual(dated(await data('MINUTES', 'DAY', 'split', { is_eth: 'true' })), [
    ['2020-08-28', 125],
    ['2020-08-31', 127.7],
  ]);
  assert.deepEqual(closes(await data('MINUTES', 'DAY', 'split')), [124.8, 127.7]);
});

test('a close counts in factors from the end of its closing auction on, not of regular hours (contract 3.13, 8.2)', async () => {
  // London's auction of 2025-06-05 is over at 16:52, 15:52 UTC; regular hours end at 16:30.
  const header = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';
  const rows = ['2025-06-04,50,50,50,50,1', '2025-06-05,100,100,100,100,1'];
  const path = written(
    header,
    rows.map((row) => `stock,UK,ALPHA,DAY,${row}`),
  );
  await stored(shop, path, (store, request) =>
    importFile(store, 'bars', { ...request, zone: null, basis: 'raw', currency: 'GBp' }),
  );
  const dividend = written('country_iso_code,symbol,action_type,ex_date,cash_amount', [
    'UK,ALPHA,dividend,2025-06-06,10',
  ]);
  await stored(shop, dividend, (store, request) => importFile(store, 'corporate-actions', { ...request }));
  const at = async (moment: string) => {
    now = moment;
    const more = { country_symbol: 'UK:ALPHA', adjust_as_of: '2025-06-06' };
    return closes(await data('ALPHA', 'DAY', 'dividend', more));
  };
  try {
    assert.deepEqual(await at('2025-06-05T15:51:00Z'), [50]);
    assert.deepEqual(await at('2025-06-05T15:52:00Z'), [45, 90]);
  } finally {
    now = '2026-06-01T12:00:00Z';
  }
});

test('latest bars are adjusted as those of a range (contract 9.4)', async () => {
  for (const interval of ['DAY', 'WEEK', 'MON']) {
    const latest = await page({ country_symbol: 'US:SPLIT', interval, adjust: 'all', limit: '1000' });
    assert.deepEqual(latest.data, await data('SPLIT', interval, 'all'));
  }
});

test('a month with an ex-date inside is built from adjusted days; a week that begins with one is not (contract 9.4)', async () => {
  const august = [110.405, 131, 109.7975, 129.04, 202428900 + 198045612 + 187629916 + 225702688];
  const [derived] = await data('SPLIT', 'MON', 'split');
  assert.deepEqual(values(derived!).slice(0, 5), august);
  await bars('STORED', 'DAY', ['2020-08-03 432.8 446.55 431.57 435.75 77037847', ...appleDays]);
  await bars('STORED', 'MON', [
    '2020-08-03 432.8 515.14 107.89 129.04 999',
    '2020-09-01 132 133 131 132.5 7',
  ]);
  await bars('STORED', 'WEEK', ['2020-08-24 514 515 495 499 9', '2020-08-31 127 135 125 134 5']);
  await actions('STORED', ['split 2020-08-31 1 4']);
  const months = await data('STORED', 'MON', 'split');
  const whole = [108.2, 131, 107.8925, 129.04, august[4]! + 4 * 77037847];
  assert.deepEqual(values(months[0]!).slice(0, 5), whole);
  assert.deepEqual(values(months[1]!).slice(0, 5), [132, 133, 131, 132.5, 7]);
  // The first is built from the days before the stored weeks begin.
  assert.deepEqual(closes(await data('STORED', 'WEEK', 'split')), [111.1125, 124.75, 134]);
  assert.deepEqual(await data('STORED', 'MON', 'split', { is_eth: 'true' }), months);
  const raw = await data('STORED', 'MON', 'split', { adjust_as_of: '2020-08-30' });
  assert.deepEqual(closes(raw), [129.04, 132.5]);
  assert.deepEqual(values(raw[0]!).slice(0, 3), [432.8, 515.14, 107.89]);
});

for (const [symbol, held] of [
  ['LATE', ['2024-03-06 8 8 8 8 1', '2024-03-07 2 2 2 2 1', '2024-03-08 2 2 2 2 1']],
  ['EARLY', ['2024-03-04 8 8 8 8 1', '2024-03-05 8 8 8 8 1', '2024-03-06 8 8 8 8 1']],
] as const)
  test(`a parted week of which days are missing at an end is a 400, not a bar of part of it: ${symbol} (contract 9.4)`, async () => {
    await bars(symbol, 'WEEK', ['2024-03-04 9 9 2 2 5']);
    await bars(symbol, 'DAY', [...held]);
    await actions(symbol, ['split 2024-03-07 1 4']);
    assert.equal((await refusal(asked(symbol, 'WEEK', 'split'))).param, 'adjust');
    assert.deepEqual(closes(await data(symbol, 'WEEK', 'none')), [2]);
  });

test('with extended hours a parted week is built of minutes where there are some, else of days (contract 3.6, 9.4)', async () => {
  await bars('MIXED', 'DAY', ['2024-03-04 8 8 8 8 1', '2024-03-05 8 8 8 8 1', '2024-03-06 2 2 2 2 4']);
  await bars('MIXED', '1M', ['2024-03-05T14:30:00Z 8 12 8 8 1', '2024-03-05T22:00:00Z 16 16 16 16 1']);
  await actions('MIXED', ['split 2024-03-06 1 4']);
  const week = async (is_eth: string) => values((await data('MIXED', 'WEEK', 'split', { is_eth }))[0]!);
  assert.deepEqual(await week('false'), [2, 2, 2, 2, 12, null]);
  assert.deepEqual(await week('true'), [2, 4, 2, 2, 16, null]);
});

test('a parted bar without days to build it from is a 400 that names the cure (contract 9.4)', async () => {
  await bars('WEEKS', 'WEEK', ['2024-03-04 8 8 2 2 5', '2024-03-11 2 2 2 2 5']);
  await actions('WEEKS', ['split 2024-03-06 1 4']);
  const { word, param, message, hint } = await refusal(asked('WEEKS', 'WEEK', 'split'));
  assert.deepEqual([word, param], ['invalid_parameter', 'adjust']);
  assert.match(
    message,
    /WEEK bar of 2024-03-04 .* ex-date 2024-03-06.* does not hold the DAY bars of US:WEEKS/,
  );
  assert.match(hint!, /Import DAY bars of US:WEEKS/);
  assert.deepEqual(closes(await data('WEEKS', 'WEEK', 'split', { from_date: '2024-03-11' })), [2]);
  assert.deepEqual(closes(await data('WEEKS', 'WEEK', 'dividend')), [2, 2]);
});

test("a dividend's own factor adjusts prices; that of a split rounds the one of its shares, which adjusts them (contract 8.2, 9.4)", async () => {
  await bars('GIVEN', 'DAY', ['2024-03-01 700 700 700 700 10', '2024-04-01 100 100 100 100 10']);
  const close = async () => (await data('GIVEN', 'DAY', 'all')).map((bar) => [bar.close, bar.volume]);
  await actions('GIVEN', ['split 2024-03-04 1 7 = 0.14285714']);
  assert.deepEqual(await close(), [
    [100, 70],
    [100, 10],
  ]);
  await actions('GIVEN', ['split 2024-03-04 1 7 = 0.15']);
  assert.deepEqual((await close())[0], [100, 70]);
  await actions('GIVEN', ['split 2024-03-04 7 1', 'dividend 2024-04-01 1 = 0.5']);
  assert.deepEqual(await close(), [
    [2450, 1.4285714286],
    [100, 10],
  ]);
});

test('a dividend without a price is measured by the raw close before it; without any it changes nothing (contract 8.2, 9.4)', async () => {
  await bars('CLOSE', 'DAY', ['2024-03-01 9 11 8 10', '2024-03-04 9 11 8 9.5']);
  await actions('CLOSE', ['dividend 2024-03-04 1', 'dividend 2024-03-01 1', 'dividend 2024-06-03 1']);
  assert.deepEqual((await data('CLOSE', 'DAY', 'all')).map(values), [
    [8.1, 9.9, 7.2, 9, null, null],
    [9, 11, 8, 9.5, null, null],
  ]);
});

test('what an import changes is in the next answer, and a close counts once it is one (contract 4.1, 8.2)', async () => {
  await bars('FRESH', 'DAY', ['2024-03-01 10 10 10 10', '2024-03-04 20 20 20 20', '2024-03-05 20 20 20 20']);
  assert.equal((await data('FRESH', 'DAY', 'all'))[0]!.close, 10);
  await actions('FRESH', ['dividend 2024-03-05 10']);
  const raw = { limit: '1', adjust_as_of: '2024-03-05' };
  try {
    now = '2024-03-04T20:59:59Z';
    assert.equal((await data('FRESH', 'DAY', 'all', raw))[0]!.close, 10);
    now = '2024-03-04T21:00:00Z';
    assert.equal((await data('FRESH', 'DAY', 'all', raw))[0]!.close, 5);
  } finally {
    now = '2026-06-01T12:00:00Z';
  }
  await actions('FRESH', ['dividend 2024-03-05 5']);
  assert.equal((await data('FRESH', 'DAY', 'all'))[0]!.close, 7.5);
});

test('prices that are not raw are refused for any adjust but none, derived bars of them too (contract 9.4)', async () => {
  await bars('BASIS', 'DAY', ['2024-03-01 4 4 4 4'], 'split');
  await bars('BASIS', '5M', ['2024-03-01T14:30:00Z 4 4 4 4'], 'raw');
  assert.deepEqual(closes(await data('BASIS', 'DAY', 'none')), [4]);
  for (const [interval, adjust] of [
    ['DAY', 'split'],
    ['MON', 'all'],
    ['DAY', 'dividend'],
  ] as const) {
    const { word, param, message } = await refusal(asked('BASIS', interval, adjust));
    assert.deepEqual([word, param], ['invalid_parameter', 'adjust']);
    assert.match(message, /DAY bars .*--prices split.*only raw/);
  }
  assert.deepEqual(closes(await data('BASIS', '15M', 'all')), [4]);
  assert.deepEqual(
    (await refusal({ country_symbol: 'US:BASIS', interval: 'DAY', adjust: 'all' })).param,
    'adjust',
  );
});

const volumesOf = (found: readonly Bar[]) => found.map(({ close, volume }) => [close, volume]);

test('volumes that are adjusted for splits beside raw prices are adjusted once, whoever derives from them (contract 9.4)', async () => {
  // AAPL around its split, as EODHD has it: 46,907,479 shares were traded on 2020-08-28.
  const days = [
    '2020-08-28 504.05 505.77 498.31 499.24 187629916',
    '2020-08-31 127.58 131 126 129.04 225702700',
  ];
  await bars('ADJVOL', 'DAY', days, 'raw', 'stock', 'split');
  await actions('ADJVOL', ['dividend 2020-08-07 0.82 455.61', 'split 2020-08-31 1 4']);
  assert.deepEqual(volumesOf(await data('ADJVOL', 'DAY', 'split')), [
    [124.81, 187629916],
    [129.04, 225702700],
  ]);
  assert.deepEqual(volumesOf(await data('ADJVOL', 'DAY', 'none')), [
    [499.24, 187629916],
    [129.04, 225702700],
  ]);
  // August is rebuilt from days on both sides of the ex-date.
  assert.deepEqual(volumesOf(await data('ADJVOL', 'MON', 'all')), [[129.04, 187629916 + 225702700]]);
  // The first half of 2020-08-28, as another vendor has it, with the volume as it was traded.
  await bars('ADJVOL', '60M', ['2020-08-27T13:30:00Z 508 508 508 508 1000000']);
  await bars('ADJVOL', '30M', ['2020-08-28T13:30:00Z 504 504 504 504 1000000']);
  assert.deepEqual(volumesOf(await data('ADJVOL', '30M', 'split')), [[126, 4_000_000]]);
  assert.deepEqual(volumesOf(await data('ADJVOL', 'DAY', 'split', { sort: 'desc' })).slice(1), [
    [124.81, 187629916],
    [127, 4_000_000],
  ]);
  assert.deepEqual(
    volumesOf(
      (await page({ country_symbol: 'US:ADJVOL', interval: 'DAY', adjust: 'split', limit: '9' })).data,
    ),
    [
      [127, 4_000_000],
      [124.81, 187629916],
      [129.04, 225702700],
    ],
  );
});

test('volumes that contain a split are not served as of a day before it, and one bar never adjusts both kinds (contract 9.4)', async () => {
  const days = ['2020-08-27 4 4 4 4 4', '2020-08-28 4 4 4 4 4', '2020-08-31 1 1 1 1 4'];
  await bars('LATER', 'DAY', days, 'raw', 'stock', 'split');
  await actions('LATER', ['split 2020-08-31 1 4']);
  const { param, message, hint } = await refusal(
    asked('LATER', 'DAY', 'split', { adjust_as_of: '2020-08-30' }),
  );
  assert.equal(param, 'adjust_as_of');
  assert.match(message!, /before the split of 2020-08-31, which the volumes of these bars contain/);
  assert.match(hint!, /adjust_as_of=2020-08-31/);
  const after = { adjust_as_of: '2020-08-30', from_date: '2020-08-31' };
  assert.deepEqual(volumesOf(await data('LATER', 'DAY', 'split', after)), [[1, 4]]);
  assert.deepEqual(
    volumesOf(await data('LATER', 'DAY', 'dividend', { adjust_as_of: '2020-08-30', to_date: '2020-08-27' })),
    [[4, 4]],
  );
  // Thursday is a stored day, Friday is made of minutes with the volume as it was traded.
  await bars('LATER', '1M', ['2020-08-28T13:30:00Z 4 4 4 4 1', '2020-08-28T19:59:00Z 4 4 4 4 1']);
  const eth = { is_eth: 'true', to_date: '2020-08-28' };
  assert.match(
    (await refusal(asked('LATER', 'WEEK', 'split', eth))).message!,
    /--volumes split\) and from bars with raw ones/,
  );
  assert.deepEqual(volumesOf(await data('LATER', 'DAY', 'split', eth)), [
    [1, 4],
    [1, 8],
  ]);
});

test('a file with volumes of another basis than the stored ones is refused (contract 9.4)', async () => {
  const line = '2024-03-01 4 4 4 4 4';
  await bars('VOLB', 'DAY', [line], 'raw', 'stock', 'split');
  await assert.rejects(
    bars('VOLB', 'DAY', [line]),
    /with volumes of another basis than raw: give --volumes as/,
  );
  await bars('VOLC', 'DAY', [line]);
  await bars('VOLC', 'DAY', [line], 'raw', 'stock', 'raw');
  await assert.rejects(bars('VOLC', 'DAY', [line], 'raw', 'stock', 'split'), /another basis than split/);
  await bars('VOLD', 'DAY', [line], 'split');
  await bars('VOLD', 'DAY', [line], 'split', 'stock', 'split');
  await assert.rejects(bars('VOLD', 'DAY', [line], 'split', 'stock', 'raw'), /another basis than raw/);
  await bars('VOLE', 'DAY', [line], 'all');
  await bars('VOLE', 'DAY', [line], 'all', 'stock', 'split');
  await assert.rejects(bars('VOLE', 'DAY', [line], 'all', 'stock', 'raw'), /another basis than raw/);
});

test('of series of several bases only those that give bars must be raw (contract 3.8, 9.4)', async () => {
  await bars('BOTH', 'DAY', ['2024-03-04 8 8 8 8', '2024-03-05 2 2 2 2']);
  await bars('BOTH', '1M', ['2024-03-01T14:30:00Z 1 1 1 1', '2024-03-05T14:30:00Z 2 2 2 2'], 'all');
  await actions('BOTH', ['split 2024-03-05 1 4']);
  assert.deepEqual(closes(await data('BOTH', 'DAY', 'split', { from_date: '2024-03-02' })), [2, 2]);
  assert.equal((await refusal(asked('BOTH', 'DAY', 'split'))).param, 'adjust');
  assert.equal((await refusal(asked('BOTH', '1M', 'split'))).param, 'adjust');
});

test('instruments without corporate actions are served as they are, also under the symbol of a stock (contract 9.4)', async () => {
  await bars('SPLIT', 'DAY', ['2020-08-28 5 5 5 5', '2020-08-31 6 6 6 6'], 'raw', 'crypto');
  const crypto = { schema_asset: 'crypto', country_symbol: 'GLOBAL:SPLIT' };
  assert.deepEqual(closes(await data('', 'DAY', 'all', crypto)), [5, 6]);
});

test('a series keeps its basis while a run can bring its bars back, and takes another when it is gone (contract 9.4, 10)', async () => {
  const line = '2024-03-01 4 4 4 4';
  const first = await bars('AGAIN', 'DAY', [line]);
  await assert.rejects(bars('AGAIN', 'DAY', [line], 'split'), /another basis than split/);
  const deletion = await shop.must(
    'delete',
    'bars',
    '--schema',
    'stock',
    '--country',
    'US',
    '--symbol',
    'AGAIN',
  );
  await assert.rejects(bars('AGAIN', 'DAY', [line], 'split'), /bourse undo/);
  await shop.must('undo', /run (\d+)/.exec(deletion)![1]!);
  assert.deepEqual(closes(await data('AGAIN', 'DAY', 'all')), [4]);
  await shop.must('undo', String(first.runId));
  const second = await bars('AGAIN', 'DAY', [line], 'split');
  assert.equal((await refusal(asked('AGAIN', 'DAY', 'all'))).param, 'adjust');
  await shop.must('undo', String(second.runId));
  await bars('AGAIN', 'DAY', [line]);
  assert.deepEqual(closes(await data('AGAIN', 'DAY', 'all')), [4]);
});

test('a misspelt adjust names what is allowed, and a date that is none is refused (contract 4.4)', async () => {
  const refused = (raw: Parameters) =>
    assert.throws(
      () => parseParameters(latestBars, new Map(Object.entries(raw))),
      (error: { facts?: { param?: string } }) => error.facts?.param === Object.keys(raw).at(-1),
    );
  const named = { schema_asset: 'stock', country_symbol: 'US:A', interval: 'DAY' };
  refused({ ...named, adjust: 'splits' });
  refused({ ...named, adjust: '' });
  refused({ ...named, adjust_as_of: '2024-02-30' });
});

/** Minutes of three sessions in March 2024, half an hour each, the split before the third. */
const minuteRows = fc
  .array(
    fc.tuple(
      fc.integer({ min: 100, max: 99_999 }),
      fc.nat(400),
      fc.nat(400),
      fc.integer({ min: 1, max: 9_999 }),
    ),
    {
      minLength: 90,
      maxLength: 90,
    },
  )
  .map((rows) =>
    rows.map(([cents, up, down, volume], index) => {
      const at = Date.UTC(2024, 2, 5 + Math.floor(index / 30), 14, 30 + (index % 30));
      const [open, close] = [cents, cents + (up % 7)];
      const prices = [open, close + up, Math.max(open - down, 1), close].map((price) => price / 100);
      return [new Date(at).toISOString(), ...prices, volume].join(' ');
    }),
  );

type Folded = Pick<Bar, 'open' | 'high' | 'low' | 'close' | 'volume'>;
const fold = (all: readonly Bar[]): Folded => ({
  open: all[0]!.open,
  high: Math.max(...all.map(({ high }) => high)),
  low: Math.min(...all.map(({ low }) => low)),
  close: all.at(-1)!.close,
  volume: all.reduce((sum, { volume }) => sum + volume!, 0),
});
const plain = ({ open, high, low, close, volume }: Folded): Folded => ({ open, high, low, close, volume });

test('adjusted bars are adjusted minutes folded, and returns over the ex-date are raw ones times the split (contract 9.4)', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      minuteRows,
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 1, max: 9 }),
      async (lines, from, to) => {
        const symbol = `FOLD${++run}`;
        await bars(symbol, '1M', lines);
        await actions(symbol, [`split 2024-03-07 ${from} ${to}`]);
        const minutes = await data(symbol, '1M', 'split');
        const raw = await data(symbol, '1M', 'none');
        const days = [0, 30, 60].map((first) => minutes.slice(first, first + 30));
        assert.deepEqual(
          (await data(symbol, '5M', 'split')).map(({ high, close }) => [high, close]),
          Array.from({ length: 18 }, (_, cell) => fold(minutes.slice(cell * 5, cell * 5 + 5))).map(
            ({ high, close }) => [high, close],
          ),
        );
        const served = (await data(symbol, 'DAY', 'split')).map(plain);
        const [week] = await data(symbol, 'WEEK', 'split');
        for (const [index, day] of [...served, plain(week!)].entries()) {
          const { volume, ...prices } = fold(index < 3 ? days[index]! : minutes);
          const { volume: servedVolume, ...servedPrices } = day;
          assert.deepEqual(servedPrices, prices);
          assert.ok(Math.abs(servedVolume! - volume!) < 1e-6);
        }
        const overExDate = (all: readonly Bar[]) => all[60]!.close / all[59]!.close;
        const expected = (overExDate(raw) * to) / from;
        assert.ok(Math.abs(overExDate(minutes) / expected - 1) < 1e-8);
      },
    ),
    { numRuns: times(6) },
  );
});

const shared = join(sharedData, 'corporate-actions/AAPL.csv');
const skip = existsSync(shared) ? false : `${shared} is not there`;
test("twenty years of AAPL give the factors that its file's source has before each action (contract 8.2, 9.4)", {
  skip,
}, async () => {
  const [header, ...rows] = parseCsv(readFileSync(shared, 'utf8'));
  const cell = (row: readonly (string | null)[], column: string) => row[header!.indexOf(column)] ?? '';
  await actions(
    'REAL',
    rows.map((row) =>
      cell(row, 'action_type') === 'split'
        ? `split ${cell(row, 'ex_date')} ${cell(row, 'split_from')} ${cell(row, 'split_to')}`
        : `dividend ${cell(row, 'ex_date')} ${cell(row, 'cash_amount_derived')} ${cell(row, 'reference_price_prev_close')}`,
    ),
  );
  const eve = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  await bars(
    'REAL',
    'DAY',
    rows.map((row) => `${eve(cell(row, 'ex_date'))} 1000 1000 1000 1000 1`),
  );
  for (const [adjust, columns] of [
    ['split', ['split_factor_before']],
    ['dividend', ['price_factor_before']],
    ['all', ['split_factor_before', 'price_factor_before']],
  ] as const) {
    const served = await data('REAL', 'DAY', adjust);
    assert.equal(served.length, rows.length);
    for (const [index, row] of rows.entries()) {
      const factor = columns.reduce((all, column) => all * Number(cell(row, column)), 1);
      // The source has 7 decimals.
      const off = served[index]!.close / 1000 - factor;
      assert.ok(Math.abs(off) < 1e-7, `${adjust} before ${cell(row, 'ex_date')}: ${off}`);
    }
  }
  assert.equal((await data('REAL', 'DAY', 'split'))[0]!.volume, 112);
});
