// No look-ahead in coverage and findings: as of a moment they are those of a service whose clock is the
// moment, and which holds only what was known then (contract 9.8, 9.9, 9.10). `npm run as-of` is the long
// form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../fuzz/random.ts';
import { seed, times } from '../seed.ts';
import { Asked } from './asked.ts';
import { closeOf, type JudgedWorld, judgedWorld, symbols } from './judged-world.ts';
import { NOW } from './random-world.ts';

const worlds = times(2);

type Row = Readonly<Record<string, unknown>>;

/** What each store numbers by itself: its runs, and when they were. */
const ownFields = ['run_id', 'file', 'last_modified_date', 'runs'];
const comparable = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !ownFields.includes(name)));

/** All pages of a list without what each store has of its own, or the word of its refusal. */
async function walked(asked: Asked, written: string, asOf: string): Promise<readonly Row[] | string> {
  const rows: Row[] = [];
  let more = asOf;
  for (;;) {
    const answer = await asked.ask(`${written}${more}`);
    if (answer.kind === 'refusal') return answer.word;
    const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: { data: Row[] } };
    rows.push(...result.data.map(comparable));
    if (answer.next === null) return rows;
    // A walk stays at its moment.
    more = `&next_page_key=${answer.next.key}`;
  }
}

/** The close of the DAY bar of a session on a date. */
const closes: Readonly<Record<string, (date: string) => number>> = {
  stock: closeOf,
  crypto: (date) => Date.parse(date) + 86_400_000,
};

/** Sessions that were over; a service of the moment also has the one that is going on. */
const over = (rows: readonly Row[] | string, schema: string, ms: number): readonly Row[] | string =>
  typeof rows === 'string'
    ? rows
    : rows.filter(({ session_date: date }) => closes[schema]!(String(date)) <= ms);

/**
 * Findings of sessions that were over; a service of the moment also has those of declared actions to come.
 */
const overBy = (rows: readonly Row[] | string, ms: number): readonly Row[] | string =>
  typeof rows === 'string' ? rows : rows.filter(({ to_datetime: to }) => Date.parse(String(to)) <= ms);

/** What is asked of a world: the lists of series, and the sessions and findings of each instrument. */
const names = [
  ...[...symbols, 'OLDN'].map((one) => `stock US:${one}`),
  ...['BTC', 'ETH', 'XRP'].map((one) => `crypto GLOBAL:${one}USD`),
];

async function compareWorld(
  { ms, all, known, over: judged }: JudgedWorld,
  random: Random,
  tell: (kind: string) => void,
) {
  const moment = new Date(ms).toISOString();
  const asOf = `&as_of=${moment}`;
  const [whole, then, ended] = [
    await Asked.filled(NOW, all),
    await Asked.filled(ms, known),
    await Asked.filled(ms, judged),
  ];
  const limit = (): string => `limit=${random.pick([1, 3, 50, 1_000])}&sort=${random.pick(['asc', 'desc'])}`;
  for (const schema of ['stock', 'crypto']) {
    const written = `${schema}/coverage?${limit()}`;
    assert.deepEqual(
      await walked(whole, written, asOf),
      await walked(then, written, ''),
      `as of ${moment}: ${written}`,
    );
  }
  for (const name of names) {
    const [schema, symbol] = name.split(' ') as [string, string];
    for (const interval of ['', '&interval=DAY', '&interval=30M', '&interval=60M']) {
      const written = `${schema}/coverage/${symbol}?limit=${random.pick([7, 1_000])}&sort=${random.pick(['asc', 'desc'])}${interval}`;
      const [found, expected] = [
        await walked(whole, written, asOf),
        over(await walked(ended, written, ''), schema, ms),
      ];
      assert.deepEqual(found, expected, `as of ${moment}: ${written}`);
      if (typeof found !== 'string') for (const { condition } of found) tell(String(condition));
    }
    const written = `${schema}/findings/${symbol}?${limit()}`;
    const found = await walked(whole, written, asOf);
    const expected = overBy(await walked(ended, written, ''), ms);
    assert.deepEqual(found, expected, `as of ${moment}: ${written}`);
    if (typeof found !== 'string') for (const { kind } of found) tell(String(kind));
  }
  await Promise.all([whole.close(), then.close(), ended.close()]);
}

/** Conditions and findings that the worlds must have among them. */
const kinds = [
  'available',
  'degraded',
  'isolated_wick',
  'vwap_outside',
  'unrecorded_split',
  'conflicting_imports',
];

test('coverage and findings as of a moment are those of a service of that moment (contract 9.8, 9.9, 9.10)', async () => {
  const told = new Map<string, number>();
  const isLacking = (): boolean => kinds.some((kind) => !told.has(kind));
  for (let index = 0; index < worlds || (isLacking() && index < 10 * worlds); index++) {
    const random = new Random(seed, 1_000 + index);
    await compareWorld(judgedWorld(random), random, (kind) => told.set(kind, (told.get(kind) ?? 0) + 1));
  }
  console.log(
    `seed ${seed}, ${worlds} worlds: ${[...told].map(([kind, count]) => `${count} ${kind}`).join(', ')}`,
  );
  for (const kind of kinds)
    assert.ok(told.has(kind), `no ${kind} in any world: the comparison says nothing of it`);
});
