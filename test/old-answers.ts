// What older programs said of the stores that they wrote, held to the present one.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { contentHash } from '../src/store/copy.ts';
import { openStore } from '../src/store/engines.ts';
import { files, type Said, steps } from './old-stores.ts';
import type { Server, Workshop } from './service.ts';

type Row = Readonly<Record<string, unknown>>;
export type Answer = { readonly count: number; readonly data: readonly Row[] };

const only =
  (holds: (row: Row) => boolean) =>
  ({ data, ...rest }: Answer): Answer => {
    const left = data.filter(holds);
    assert.ok(left.length < data.length);
    return { ...rest, count: left.length, data: left };
  };

const each =
  (change: (row: Row) => Row) =>
  ({ data, ...rest }: Answer): Answer => ({ ...rest, data: data.map(change) });

/** What contract 3.9 says otherwise than the old programs did, by the paths that have it. */
const otherwise: readonly { why: string; of: RegExp; change: (answer: Answer) => Answer }[] = [
  {
    why: '(4) no run covers the hour of 2025-02-27 that was deleted: hours are not made of the rest',
    of: /US:AAPL\/60M\/from\/2025-02-26/,
    change: only(({ datetime }) => !/^2025-02-27T1[78]:30/.test(String(datetime))),
  },
  {
    why: '(4) nor is the day with its extended hours',
    of: /US:AAPL\/DAY\/.*is_eth=true/,
    change: only(({ datetime }) => !String(datetime).startsWith('2025-02-27')),
  },
  {
    why: '(4) so that minutes of that session are not complete',
    of: /coverage\/US:AAPL\?interval=1M/,
    change: each((row) => (row.session_date === '2025-02-27' ? { ...row, condition: 'pending' } : row)),
  },
  {
    why: 'a week is served where each of its sessions is covered: these minutes begin on a Thursday',
    of: /US:NVDA\/WEEK/,
    change: only(() => false),
  },
  {
    why: '(1) a file covers through the end of its last session, extended hours included',
    of: /stock\/coverage\?/,
    change: each((row) =>
      row.interval === 'DAY' ? { ...row, complete_through: '2025-03-01T01:00:00+00:00' } : row,
    ),
  },
];

/** A path without the mark of its page. */
const namedBy = (path: string): string => path.replace(/&next_page_key=.*/, '');

/** What the program that wrote a store answered, but for what contract 3.9 does not say otherwise. */
function expectedOf(path: string, answer: unknown): unknown {
  const changes = otherwise.filter(({ of }) => of.test(namedBy(path)));
  return changes.reduce((before, { change }) => change(before), answer as Answer);
}

/** The results at a path of a server, without what tells of the moment of the request. */
async function resultAt(server: Server, path: string, key: string): Promise<Row> {
  const mark = path.includes('?') ? '&' : '?';
  const response = await server.get(`${path}${mark}secret_key=${key}`);
  const { result } = (await response.json()) as { readonly result: Record<string, unknown> };
  assert.equal(response.status, 200, path);
  delete result.next_page_key;
  delete result.next_page_url;
  return result;
}

/** Holds a server to the keys of layout 16: those that were valid are, and read data (contract 7.6). */
export async function assertKeysWork(server: Server, { key, keys, answers }: Said): Promise<void> {
  const [[path, answer]] = Object.entries(answers) as [[string, unknown]];
  assert.deepEqual(await resultAt(server, path, key), answer);
  const ask = (secret: string) => server.get(path, { headers: { Authorization: `Bearer ${secret}` } });
  const counted = await ask(keys!.counted);
  assert.deepEqual([counted.status, counted.headers.get('RateLimit-Limit')], [200, '1000']);
  const pinned = await ask(keys!.pinned);
  assert.deepEqual([pinned.status, pinned.headers.get('X-As-Of')], [200, '2025-03-05T00:00:00Z']);
  assert.equal((await ask(keys!.revoked)).status, 401);
  const refused = await server.get('/api/v2/operate/status', { headers: { Authorization: `Bearer ${key}` } });
  assert.match(((await refused.json()) as { message: string }).message, /^secret_key has the scope data: /);
}

/** Holds a server to what the program that wrote its store answered. */
export async function assertServesAs(server: Server, said: Said): Promise<void> {
  const paths = Object.keys(said.answers);
  assert.ok(paths.some((path) => path.includes('next_page_key=')));
  for (const { of, why } of otherwise)
    assert.ok(
      paths.some((path) => of.test(namedBy(path))),
      why,
    );
  for (const path of paths)
    assert.deepEqual(await resultAt(server, path, said.key), expectedOf(path, said.answers[path]), path);
}

/** The answer about hours of which some minutes were deleted. */
export const hoursAnswer = ({ answers }: Said): readonly [path: string, answer: Answer] => {
  const path = Object.keys(answers).find((one) => otherwise[0]!.of.test(one))!;
  return [path, answers[path] as Answer];
};

/** The content hash of a store. */
export async function hashOf(url: string): Promise<string> {
  const store = await openStore(url, 'write');
  try {
    return await store.snapshot(contentHash);
  } finally {
    await store.close();
  }
}

/**
 * Makes a store by the commands that the old ones were made by: its content hash, and that before the last
 * command.
 */
export async function hashesOfNew(
  shop: Workshop,
  url: string,
): Promise<{ readonly all: string; readonly beforeLast: string }> {
  for (const [name, text] of Object.entries(files)) writeFileSync(shop.path(name), text);
  for (const { words } of steps.slice(0, -1)) await shop.must(...words, '--store', url);
  const beforeLast = await hashOf(url);
  await shop.must(...steps.at(-1)!.words, '--store', url);
  return { all: await hashOf(url), beforeLast };
}
