// Random requests for bars in bulk: each answer is that of pages, symbol by symbol, and is refused where a
// page is (contract 9.8, 9.11).
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { namedIntervals } from '../src/contract/interval.ts';
import { barNames } from './fuzz/data.ts';
import { openBench } from './fuzz/in-process.ts';
import { Random } from './fuzz/random.ts';
import { seed, times } from './seed.ts';

const REQUESTS = times(100);

const bench = await openBench();
const { handler, known } = bench;
after(() => bench.close());

type Reply = {
  readonly status: number;
  readonly text: string;
  readonly next: string | undefined;
  readonly asOf: string | undefined;
  readonly limits: string | undefined;
};

/** A whole answer. */
async function get(path: string, query: string): Promise<Reply> {
  const target = `${path}?secret_key=${known.liveKey}&format=csv${query}`;
  const reply = await handler.handle({
    ...{ method: 'GET', target, headers: { host: 'localhost' }, isGone: () => false },
  });
  const pieces: Uint8Array[] = [...reply.body];
  for (let piece = await reply.rest?.(); piece; piece = await reply.rest?.()) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  reply.release?.();
  const told = reply.headers as Record<string, string | undefined>;
  const { 'X-Next-Page-Key': next, 'X-As-Of': asOf, 'X-As-Of-Limits': limits } = told;
  return { status: reply.status, text, next, asOf, limits };
}

/** All bars of one symbol without their header, page by page; or the first page that is refused. */
async function paged(path: string, query: string, limit: number): Promise<Reply> {
  let rows = '';
  for (let more = ''; ; ) {
    const page = await get(path, `${query}&limit=${limit}${more}`);
    if (page.status !== 200) return page;
    rows += page.text.replace(/^.*\r\n/, '');
    if (page.next === undefined) return { ...page, text: rows };
    more = `&next_page_key=${page.next}`;
  }
}

const bounds = [
  ...['1900-01-01', '2025-02-28', '2025-03-03', '2025-03-04', '2025-03-05', '2025-03-08', '2200-12-31'],
  ...[
    '2025-03-03T14:30:00Z',
    '2025-03-03T14:31:00+00:00',
    '2025-03-03T14:47:30Z',
    '2025-03-04T16:00:00+01:00',
  ],
];

/** Before all bars, among them, at a close, after all, and after now. */
const moments = [
  ...['2025-03-01T00:00:00Z', '2025-03-03T14:40:00Z', '2025-03-03T10:00:30-05:00', '2025-03-04T15:00:00Z'],
  ...['2025-03-05T21:00:00Z', '2025-03-06T05:00:00Z', '2025-05-01T00:00:00Z', '2099-01-01T00:00:00Z'],
];

function choicesOf(random: Random): string {
  const choices: string[] = [];
  if (random.chance(0.3)) choices.push(`is_eth=${random.pick(['true', 'false', '1'])}`);
  if (random.chance(0.3)) choices.push('session_date=true');
  if (random.chance(0.4)) choices.push(`adjust=${random.pick(['none', 'split', 'dividend', 'all'])}`);
  if (random.chance(0.2))
    choices.push(`adjust_as_of=${random.pick(['2025-03-04', '2025-03-06', '2024-01-01'])}`);
  if (random.chance(0.4)) choices.push(`as_of=${encodeURIComponent(random.pick(moments))}`);
  return choices.map((choice) => `&${choice}`).join('');
}

const [UNKNOWN] = ['NONE0'];

test('every answer in bulk is that of pages (contract 9.11)', async (t) => {
  let [good, refused, rows, dated] = [0, 0, 0, 0];
  for (let index = 0; index < REQUESTS; index++) {
    const random = new Random(seed, index);
    const [asset, country] = random.pick(barNames).split(':') as [string, string];
    const market = barNames
      .filter((name) => name.startsWith(`${asset}:${country}:`))
      .map((name) => name.split(':')[2]!);
    const named = random.chance(0.6)
      ? [...random.shuffle(market).slice(0, 1 + random.below(3)), random.pick(market)]
      : null;
    if (named !== null && random.chance(0.1)) named.push(UNKNOWN!);
    const [interval, from, to] = [
      random.pick([...namedIntervals, '7M']),
      random.pick(bounds),
      random.pick(bounds),
    ];
    const rest = `${interval}/from/${encodeURIComponent(from)}/to/${encodeURIComponent(to)}`;
    const choices = choicesOf(random);
    const list = named === null ? '' : `&symbols=${named.map(encodeURIComponent).join()}`;
    const bulk = await get(`/api/v2/${asset}/bulk/bars/${country}/${rest}`, `${choices}${list}`);
    const what = `seed ${seed}, ${index}: ${asset} ${country} ${rest} ${choices} ${list}`;
    const symbols = [...new Set(named ?? market)].sort();
    const limit = random.between(1, 150);
    let expected = '';
    let refusal: number | null = null;
    let asOf: string | undefined;
    for (const symbol of symbols) {
      const page = await paged(
        `/api/v2/${asset}/bars/${country}:${encodeURIComponent(symbol)}/${rest}`,
        choices,
        limit,
      );
      if (page.status !== 200) refusal ??= page.status;
      else {
        expected += page.text;
        asOf = page.asOf;
        // It is told before the rows are read, so it may name more.
        if (bulk.status === 200 && page.limits !== undefined) assert.equal(bulk.limits, page.limits, what);
      }
    }
    if (bulk.status === 400 && /may have \d+ days/.test(bulk.text)) continue;
    assert.equal(bulk.status, refusal ?? 200, `${what}: ${bulk.text}`);
    if (refusal === null) assert.equal(bulk.text.replace(/^.*\r\n/, ''), expected, what);
    if (bulk.asOf !== undefined) {
      assert.equal(bulk.asOf, asOf, what);
      dated++;
    }
    if (refusal === null) good++;
    else refused++;
    rows += expected.split('\r\n').length - 1;
  }
  t.diagnostic(
    `seed ${seed}: ${good} good answers, ${refused} refusals, ${rows} rows, ${dated} as of a moment`,
  );
  assert.ok(good > REQUESTS / 4 && refused > 0 && rows > REQUESTS && dated > REQUESTS / 20);
});
