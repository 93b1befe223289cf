// Bars as of a moment: what had closed by then, by hand (contract 9.8).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Asked, type FileRow } from './asked.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const aapl = { asset_schema: 'stock', country_iso_code: 'US', symbol: 'AAPL' };
const bar = (interval: string, datetime: string, price: number): FileRow => ({
  ...aapl,
  interval,
  datetime,
  ...{ open: price, high: price, low: price, close: price, volume: 10 },
});
const minutes = (date: string, count: number, price: number): FileRow[] =>
  Array.from({ length: count }, (_, at) =>
    bar('1M', new Date(Date.parse(`${date}T14:30:00Z`) + at * 60_000).toISOString(), price + at),
  );
const days = (...rows: [date: string, price: number][]) =>
  rows.map(([date, price]) => bar('DAY', date, price));
const closes = ({ data }: { readonly data?: readonly Readonly<Record<string, unknown>>[] }) =>
  data!.map(({ close }) => close);
const LATEST = 'stock/bars/US:AAPL';
const year = (interval: string) => `${LATEST}/${interval}/from/2025-01-01/to/2025-12-31`;

test('as of a moment only bars that had closed are served, with X-As-Of (contract 9.8)', async () => {
  const asked = await Asked.filled(NOW, [['bars', minutes('2025-03-03', 60, 1)]]);
  const found = await asked.result(`${LATEST}/1M/latest?limit=2&as_of=2025-03-03T14:35:59Z`);
  assert.deepEqual(closes(found), [4, 5]);
  assert.equal(found.headers['X-As-Of'], '2025-03-03T14:35:59Z');
  assert.equal(found.headers['X-As-Of-Limits'], undefined);
  const five = await asked.result(`${year('5M')}?as_of=2025-03-03T09:44:59-05:00`);
  assert.deepEqual(closes(five), [5, 10]);
  assert.equal((await asked.result(`${LATEST}/1M/latest`)).headers['X-As-Of'], undefined);
});

test('as of a moment, and now, a day that its series lacks is that of its minutes (contract 3.8, 9.8)', async () => {
  // Tuesday is a hole of the days, and lies after them as long as they end on Monday: the minutes have it.
  const asked = await Asked.filled(NOW, [
    ['bars', [...days(['2025-03-03', 10], ['2025-03-05', 30]), ...minutes('2025-03-04', 60, 1)]],
  ]);
  assert.deepEqual(closes(await asked.result(year('DAY'))), [10, 60, 30]);
  assert.deepEqual(closes(await asked.result(`${year('DAY')}?as_of=2025-03-04T22:00:00Z`)), [10, 60]);
  assert.deepEqual(closes(await asked.result(`${year('DAY')}?as_of=2025-03-04T20:59:59Z`)), [10]);
  assert.deepEqual(closes(await asked.result(`${year('DAY')}?as_of=2025-03-05T21:00:00Z`)), [10, 60, 30]);
});

test('a moment after now, before 1900 or without a time is refused (contract 9.8)', async () => {
  const asked = await Asked.filled(NOW, [['bars', days(['2025-03-03', 10])]]);
  const refused = async (asOf: string, pinned?: string) => {
    const { word, param, message } = await asked.refusal(`${LATEST}/DAY/latest?as_of=${asOf}`, pinned);
    assert.deepEqual([word, param], ['invalid_parameter', 'as_of'], asOf);
    return message;
  };
  assert.equal(await refused('2026-01-01T00:00:01Z'), 'as_of is after now.');
  assert.match(await refused('2025-03-03'), /a moment, with a time/);
  for (const wrong of ['1899-12-31T00:00:00Z', '2025-02-30T00:00:00Z', 'now', '1741000000', ''])
    await refused(wrong);
  assert.match(
    await refused('2025-06-01T00:00:00Z', '2025-05-01T00:00:00Z'),
    /after 2025-05-01T00:00:00Z, the instant that your key is pinned to/,
  );
  const late = await asked.refusal(`${LATEST}/DAY/latest?as_of=2025-06-01T00:00:00Z&adjust_as_of=2025-06-02`);
  assert.deepEqual([late.param, late.got], ['adjust_as_of', '2025-06-02']);
});

test('the requests of a pinned key are answered as of its instant, or an earlier one that they name (contract 9.8)', async () => {
  const asked = await Asked.filled(NOW, [
    ['bars', days(['2025-03-03', 10], ['2025-03-04', 20], ['2025-03-05', 30])],
  ]);
  const pinned = '2025-03-04T21:00:00Z';
  const found = await asked.result(year('DAY'), pinned);
  assert.deepEqual([closes(found), found.headers['X-As-Of']], [[10, 20], pinned]);
  const earlier = await asked.result(`${year('DAY')}?as_of=2025-03-04T00:00:00Z`, pinned);
  assert.deepEqual([closes(earlier), earlier.headers['X-As-Of']], [[10], '2025-03-04T00:00:00Z']);
});

test('a walk stays at its moment, and a key opens no walk that was begun later (contract 4.1, 9.8)', async () => {
  const asked = await Asked.filled(NOW, [
    ['bars', days(['2025-03-03', 1], ['2025-03-04', 2], ['2025-03-05', 3], ['2025-03-06', 4])],
  ]);
  const path = `${year('DAY')}?limit=1`;
  const at = (instant: string) => `2025-03-${instant}T21:00:00Z`;
  const first = await asked.result(path, at('05'));
  const key = `&next_page_key=${first.next_page_key}`;
  const second = await asked.result(path + key, at('06'));
  assert.deepEqual([closes(second), second.headers['X-As-Of']], [[2], at('05')]);
  const third = await asked.result(`${path}&next_page_key=${second.next_page_key}`, at('31'));
  assert.deepEqual([closes(third), third.next_page_key], [[3], null]);
  // Without a pinned key the walk goes on at its moment too, and with the moment that it has.
  assert.deepEqual(closes(await asked.result(path + key)), [2]);
  assert.deepEqual(closes(await asked.result(`${path}${key}&as_of=${at('05')}`)), [2]);
  const live = await asked.result(path);
  for (const [written, pinned] of [
    [path + key, at('04')],
    [`${path}${key}&as_of=${at('04')}`, undefined],
    [`${path}&next_page_key=${live.next_page_key}`, at('31')],
    [`${path}&next_page_key=${live.next_page_key}&as_of=${at('05')}`, undefined],
    [`${path}&next_page_key=AAAA`, at('05')],
  ] as const)
    assert.equal((await asked.refusal(written, pinned)).word, 'invalid_page_key', written);
});

test('adjustments as of a moment are by actions up to it (contract 9.4, 9.8)', async () => {
  const split = { ...aapl, action_type: 'split', split_from: 1, split_to: 2 };
  const asked = await Asked.filled(NOW, [
    ['bars', days(['2025-03-03', 80], ['2025-03-04', 40], ['2025-03-05', 20])],
    [
      'corporate-actions',
      [
        { ...split, ex_date: '2025-03-04' },
        { ...split, ex_date: '2025-03-05' },
      ],
    ],
  ]);
  const adjusted = (asOf: string) => asked.result(`${year('DAY')}?adjust=all&as_of=${asOf}`);
  assert.deepEqual(closes(await adjusted('2025-03-03T22:00:00Z')), [80]);
  assert.deepEqual(closes(await adjusted('2025-03-04T22:00:00Z')), [40, 40]);
  assert.deepEqual(closes(await adjusted('2025-03-05T22:00:00Z')), [20, 20, 20]);
});

test('prices that were adjusted before their import are refused where they hold an action after the moment, without its date (contract 9.8)', async () => {
  const split = { ...aapl, action_type: 'split', split_from: 1, split_to: 2, ex_date: '2025-03-05' };
  const asked = await Asked.filled(
    NOW,
    [
      ['bars', days(['2025-03-03', 20], ['2025-03-04', 20], ['2025-03-05', 20])],
      ['corporate-actions', [split]],
    ],
    { basis: 'split' },
  );
  const { word, param, message, hint } = await asked.refusal(`${year('DAY')}?as_of=2025-03-04T22:00:00Z`);
  assert.deepEqual([word, param], ['invalid_parameter', 'as_of']);
  assert.match(message, /--prices split/);
  assert.doesNotMatch(`${message} ${hint}`, /\d{4}-\d\d/);
  const after = await asked.result(`${year('DAY')}?as_of=2025-03-05T22:00:00Z`);
  assert.equal(after.headers['X-As-Of-Limits'], 'prices adjusted before their import');
  assert.equal((await asked.result(year('DAY'))).headers['X-As-Of-Limits'], undefined);
});

/** Symbol and close of each row of bars in bulk, in their order. */
const rowsOf = (csv: string): string[][] =>
  csv
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((row) => [row.split(',')[4]!, row.split(',')[10]!]);

test('a market in bulk has its instruments in the order of the symbols that they had, and none that was listed later (contract 9.8, 9.11)', async () => {
  const number = (at: number): string => String(at).padStart(2, '0');
  const all = Array.from({ length: 60 }, (_, at) => ({
    ...{ asset_schema: 'stock', country_iso_code: 'US', symbol: `M${number(at)}` },
    // Those with odd numbers were Z or A before, those that 7 divides came later.
    ...(at % 2 === 1 && {
      former_symbols: `${at % 4 === 1 ? 'A' : 'Z'}${number(at)}:2015-01-02..2025-03-04`,
    }),
    ...(at % 7 === 0 && { listing_date: '2025-03-05' }),
  }));
  const bars = all.flatMap(({ symbol }, at) =>
    [3, 4, 6].map((day) => ({ ...bar('DAY', `2025-03-0${day}`, 100 * at + day), symbol })),
  );
  const asked = await Asked.filled(NOW, [
    ['instruments', all],
    ['bars', bars],
  ]);
  const path = 'stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-31?format=csv';
  const then = (await asked.stream(`${path}&as_of=2025-03-04T22:00:00Z`)) as string;
  const known = all.flatMap((one, at) => {
    if ('listing_date' in one) return [];
    const symbol = at % 2 === 0 ? one.symbol : `${at % 4 === 1 ? 'A' : 'Z'}${number(at)}`;
    return [{ symbol, rows: [3, 4].map((day) => [symbol, String(100 * at + day)]) }];
  });
  known.sort((a, b) => (a.symbol < b.symbol ? -1 : 1));
  assert.deepEqual(
    rowsOf(then),
    known.flatMap(({ rows }) => rows),
  );
  const now = (await asked.stream(`${path}&as_of=2025-03-20T00:00:00Z`)) as string;
  assert.equal(now, await asked.stream(path));
  assert.equal(rowsOf(now).length, 180);
  assert.equal(await asked.stream(path, '2025-03-04T22:00:00Z'), then, 'with a key that is pinned to it');
  const named = `${path}&as_of=2025-03-04T22:00:00Z&symbols=`;
  assert.deepEqual(rowsOf((await asked.stream(`${named}A01`)) as string).length, 2);
  const later = await asked.refusal(`${named}M01`);
  assert.deepEqual([later.word, later.hint], ['unknown_instrument', 'M01 is today the symbol of A01.']);
});

test('what the data do not date is named before the rows of bars in bulk (contract 9.8, 9.11)', async () => {
  const asked = await Asked.filled(NOW, [['bars', days(['2025-03-03', 10], ['2025-03-04', 20])]], {
    basis: 'split',
  });
  const raw = await Asked.filled(NOW, [['bars', days(['2025-03-03', 10], ['2025-03-04', 20])]]);
  const asOf = '2025-03-03T22:00:00Z';
  for (const [interval, symbols, limits] of [
    ['DAY', '', 'prices adjusted before their import'],
    ['WEEK', '&symbols=AAPL', 'prices adjusted before their import'],
    ['60M', '', undefined],
    ['60M', '&symbols=AAPL', undefined],
  ] as const) {
    const path = `stock/bulk/bars/US/${interval}/from/2025-03-01/to/2025-03-05?format=csv&as_of=${asOf}${symbols}`;
    const [answer, ofRaw] = [await asked.ask(path), await raw.ask(path)];
    assert.ok(answer.kind === 'answer' && ofRaw.kind === 'answer');
    assert.deepEqual(answer.headers, {
      'X-As-Of': asOf,
      ...(limits !== undefined && { 'X-As-Of-Limits': limits }),
    });
    assert.deepEqual(ofRaw.headers, { 'X-As-Of': asOf });
  }
  const late = await raw.refusal(
    `stock/bulk/bars/US/DAY/from/2025-03-01/to/2025-03-05?format=csv&as_of=${asOf}&adjust=all&adjust_as_of=2025-03-04`,
  );
  assert.deepEqual([late.param, late.allowed], ['adjust_as_of', 'dates up to 2025-03-03']);
});
