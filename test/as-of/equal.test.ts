// No look-ahead: the answer as of a moment is that of a service whose clock is the moment, and which holds
// only what was known then (contract 9.8). `npm run as-of` is the long form.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Random } from '../fuzz/random.ts';
import { seed, times } from '../seed.ts';
import { Asked } from './asked.ts';
import { endpoints, randomRequest } from './random-requests.ts';
import { dateAt, NOW, randomWorld } from './random-world.ts';

const pairs = times(2);
/**
 * Requests to each endpoint, for each pair of stores; bars have more ways to go wrong, and some cost nothing.
 */
const ROUNDS = 2;
const BAR_ROUNDS = 12;
const PAGES_MAX = 3;

/** What each store numbers by itself, and the address of the next page, which has the moment. */
const ownFields = [
  'instrument_id',
  'asset_id',
  'parent_schema_instrument_id',
  'next_page_key',
  'next_page_url',
];

/**
 * An answer without what each store has of its own; of a dividend still to come what the contract says of it.
 */
function comparable(value: unknown, today: string): unknown {
  if (Array.isArray(value)) return value.map((one) => comparable(one, today));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !ownFields.includes(name));
  const record = Object.fromEntries(fields.map(([name, one]) => [name, comparable(one, today)]));
  const isComing = record.action_type === 'dividend' && String(record.ex_date) > today;
  return isComing ? { ...record, reference_price: null, adjustment_factor: '1.00000000' } : record;
}

type Page = { readonly content: unknown; readonly key: string | null };

async function pageOf(asked: Asked, written: string, today: string): Promise<Page> {
  if (written.includes('/bulk/')) {
    const whole = await asked.stream(written);
    const content =
      typeof whole === 'string' || whole.kind === 'answer' ? { whole } : { refused: whole.word };
    return { content, key: null };
  }
  const answer = await asked.ask(written);
  if (answer.kind === 'refusal') return { content: { refused: answer.word }, key: null };
  const { result } = JSON.parse(Buffer.from(answer.body).toString()) as { result: unknown };
  const content = { ...(comparable(result, today) as object), why: answer.headers['X-No-Data'] };
  return { content, key: answer.next?.key ?? null };
}

test('as of a moment every endpoint answers as a service of that moment does (contract 9.8)', async () => {
  let [requests, good] = [0, 0];
  for (let pair = 0; pair < pairs; pair++) {
    const random = new Random(seed, pair);
    const { ms, all, known } = randomWorld(random);
    const [today, moment] = [dateAt(ms), new Date(ms).toISOString()];
    const whole = await Asked.filled(NOW, all);
    const then = await Asked.filled(ms, known);
    for (const endpoint of endpoints)
      for (let round = 0; round < (endpoint.endsWith('Bars') ? BAR_ROUNDS : ROUNDS); round++) {
        const written = randomRequest(random, endpoint);
        const where = `pair ${pair}, as of ${moment}: ${written}`;
        let pages: [Page, Page] | null = null;
        for (let page = 0; page < PAGES_MAX; page++) {
          const asked = [`${written}&as_of=${moment}`, written] as const;
          const keys: readonly string[] =
            pages === null ? ['', ''] : pages.map(({ key }) => `&next_page_key=${key}`);
          // A walk stays at its moment, named or not.
          const first: string = pages === null || random.chance(0.5) ? asked[0] : asked[1];
          pages = [
            await pageOf(whole, first + keys[0], today),
            await pageOf(then, asked[1] + keys[1], today),
          ];
          assert.deepEqual(pages[0].content, pages[1].content, `${where}, page ${page}`);
          assert.equal(pages[0].key === null, pages[1].key === null, where);
          requests++;
          if (!('refused' in (pages[0].content as object))) good++;
          if (pages[0].key === null) break;
        }
      }
    await Promise.all([whole.close(), then.close()]);
  }
  console.log(`seed ${seed}, ${pairs} pairs of stores, ${requests} requests, ${good} of them answered`);
  assert.ok(good > requests / 2);
});
