// Callers of every list while its area is imported by another process: walks, single requests, what is kept
// at hand.
import assert from 'node:assert/strict';
import { type FileRow, type Filling, fillStore, rowsFile } from '../importing.ts';
import { type Server, Workshop } from '../service.ts';
import {
  type Area,
  barAfter,
  contracts,
  dated,
  type Fields,
  instrumentAfter,
  PRICE_ABOVE,
  positionsOf,
  priceAfter,
  ROUNDS_MAX,
  ROWS,
  roundOf,
  roundOfExpiration,
  UNDERLYING,
} from './areas.ts';
import { beside, Callers, type Result, serversOf } from './callers.ts';
import type { Figure } from './minutes.ts';

/** Imports of one dataset: how far they have come, as callers may know it. */
type Progress = { begun: number; ended: number };

type Grouped = Readonly<Record<string, readonly Fields[]>>;

/** What all checks use. */
type Bench = {
  readonly shop: Workshop;
  readonly servers: readonly Server[];
  readonly callers: Callers;
  readonly work: { done: boolean };
  readonly progress: ReadonlyMap<Filling[0], Progress>;
};

/** Of walks, by turn. */
const limitOf = (turn: number): number => (turn % 4 < 2 ? 7 : 23);
const WHOLE_LIMIT = 1000;

/** Leaves the processor to the imports now and then. */
const PAUSE_MS = 30;
const besides = ({ work }: Bench, look: () => Promise<unknown>): Promise<number> =>
  beside(work, look, PAUSE_MS);

const urlOf = ({ callers }: Bench, server: Server, address: string): string =>
  `${server.url}${address}${address.includes('?') ? '&' : '?'}secret_key=${callers.key}`;

/** The rows of a round's file: all that were there before, corrected, and its own. */
const rowsOf = ({ rowOf }: Area, round: number): FileRow[] =>
  Array.from({ length: round + 1 }, (_, earlier) => positionsOf(earlier))
    .flat()
    .map((position) => rowOf(position, round));

const filesOf = (areas: readonly Area[], round: number): Filling[] => [
  ...areas.map((area) => [area.dataset, rowsOf(area, round)] as const),
  ['instruments', [instrumentAfter(round)]],
  ['bars', [barAfter(round)]],
];

async function importRounds(
  { shop, work, progress }: Bench,
  areas: readonly Area[],
  rounds: number,
): Promise<void> {
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const [dataset, rows] of filesOf(areas, round)) {
        const state = progress.get(dataset)!;
        state.begun = round;
        await shop.must('import', dataset, rowsFile(shop.path(`${dataset}-${round}.ndjson`), rows));
        state.ended = round;
      }
    }
  } finally {
    work.done = true;
  }
}

/** Everything of the rounds up to `ended` once, nothing twice, and nothing of rounds after `begun`. */
function judgeWalk(positions: readonly number[], ended: number, begun: number): void {
  assert.equal(new Set(positions).size, positions.length, 'nothing comes twice');
  for (const round of Array.from({ length: ended + 1 }, (_, index) => index)) {
    const count = positions.filter((position) => roundOf(position) === round).length;
    assert.equal(count, ROWS, `rows of round ${round}, which had ended`);
  }
  assert.ok(
    positions.every((position) => roundOf(position) <= begun),
    'nothing of files to come',
  );
}

/** One request: the state after one import, whole, and no older than the last that had ended. */
function judgeWhole(area: Area, records: readonly Fields[], ended: number, begun: number): void {
  const revision = area.revisionOf(records[0]!);
  assert.ok(revision >= ended && revision <= begun, `revision ${revision} between ${ended} and ${begun}`);
  for (const record of records) assert.equal(area.revisionOf(record), revision, 'all rows of a file or none');
  assert.equal(records.length, ROWS * (revision + 1));
  judgeWalk(records.map(area.positionOf), revision, revision);
}

const inOrder = (positions: readonly number[], sort: 'asc' | 'desc'): number[] =>
  positions.toSorted((a, b) => (sort === 'asc' ? a - b : b - a));

/** A walk of a list by date, sort and limit by turn, and a single request. */
async function readDated(bench: Bench, server: Server, area: Area, turn: number): Promise<void> {
  const { callers } = bench;
  const state = bench.progress.get(area.dataset)!;
  const sort = area.sorts[turn % area.sorts.length]!;
  const sorted = area.sorts.length > 1 ? `&sort=${sort}` : '';
  const endedBefore = state.ended;
  const url = urlOf(bench, server, `${area.address}${sorted}&limit=${limitOf(turn)}`);
  const positions = (await callers.pages<readonly Fields[]>(url)).flat().map(area.positionOf);
  judgeWalk(positions, endedBefore, state.begun);
  assert.deepEqual(positions, inOrder(positions, sort));
  const { ended } = state;
  const whole = urlOf(bench, server, `${area.address}&limit=${WHOLE_LIMIT}`);
  const { result } = await callers.ask<Result<readonly Fields[]>>(whole);
  judgeWhole(area, result.data, ended, state.begun);
}

const groupsOf = (pages: readonly Grouped[]): (readonly [instant: number, contracts: readonly Fields[]])[] =>
  pages.flatMap((page) =>
    Object.entries(page).map(([instant, found]) => [Date.parse(instant), found] as const),
  );

/**
 * The moment that a walk took: what expires after it comes first, nearest first, and what expired behind,
 * latest first.
 */
function judgeMoment(instants: readonly number[], startedMs: number, firstMs: number): void {
  const last = instants.findIndex((instant, index) => index > 0 && instant < instants[index - 1]!);
  const coming = last < 0 ? instants : instants.slice(0, last);
  const gone = last < 0 ? [] : instants.slice(last);
  assert.deepEqual(coming, inOrder(coming, 'asc'));
  assert.deepEqual(gone, inOrder(gone, 'desc'), 'one moment for all pages');
  for (const instant of coming) assert.ok(instant >= startedMs, 'what had expired is behind');
  for (const instant of gone) assert.ok(instant <= firstMs, 'what had not expired comes first');
}

/** A walk of option search whose price is given, and a single request. */
async function readContracts(bench: Bench, server: Server, area: Area, turn: number): Promise<void> {
  const { callers } = bench;
  const state = bench.progress.get(area.dataset)!;
  const address = `${area.address}ref_asset_price=${PRICE_ABOVE}`;
  const endedBefore = state.ended;
  const pages = await callers.pages<Grouped>(urlOf(bench, server, `${address}&limit=${limitOf(turn)}`));
  judgeWalk(
    groupsOf(pages).flatMap(([, found]) => found.map(area.positionOf)),
    endedBefore,
    state.begun,
  );
  const { ended } = state;
  const { result } = await callers.ask<Result<Grouped>>(
    urlOf(bench, server, `${address}&limit=${WHOLE_LIMIT}`),
  );
  judgeWhole(area, Object.values(result.data).flat(), ended, state.begun);
}

/**
 * Walks whose price and moment the first page takes: every contract of the first file below that one price,
 * and no other.
 */
function readPinned(bench: Bench, server: Server, area: Area): Promise<number> {
  const { callers } = bench;
  const bars = bench.progress.get('bars')!;
  return besides(bench, async () => {
    const { ended } = bars;
    const startedMs = Date.now();
    const first = await callers.ask<Result<Grouped>>(urlOf(bench, server, `${area.address}limit=7`));
    const [firstMs, { begun }] = [Date.now(), bars];
    const { data, next_page_url: next } = first.result;
    const groups = groupsOf([data, ...(next === null ? [] : await callers.pages<Grouped>(next))]);
    judgeMoment(
      groups.map(([instant]) => instant),
      startedMs,
      firstMs,
    );
    const found = groups.flatMap(([, members]) => members.map(area.positionOf));
    assert.equal(new Set(found).size, found.length, 'nothing comes twice');
    const own = inOrder(
      found.filter((position) => roundOf(position) === 0),
      'asc',
    );
    const prices = Array.from({ length: begun - ended + 1 }, (_, index) => priceAfter(ended + index));
    const isOf = (price: number): boolean =>
      own.join() ===
      positionsOf(0)
        .filter((position) => Number(area.rowOf(position, 0).strike_price) < price)
        .join();
    assert.ok(prices.some(isOf), `one of the prices ${prices.join(', ')}: ${own.length} contracts`);
  });
}

/**
 * The record of an instrument and the expirations of an underlying: never older than the last import that had
 * ended.
 */
function readKept(bench: Bench, server: Server, area: Area, seen: { cached: number }): Promise<number> {
  const { callers, progress } = bench;
  const [named, listed] = [progress.get('instruments')!, progress.get(area.dataset)!];
  return besides(bench, async () => {
    const { ended } = named;
    const record = await callers.ask<Fields>(urlOf(bench, server, '/api/v2/stock/reference/US:KEPT'));
    const round = Number(record.result.name);
    assert.ok(round >= ended && round <= named.begun, `the record of round ${round} after round ${ended}`);
    const endedLists = listed.ended;
    const path = `/api/v2/option/expiration_date_list/stock/US:${UNDERLYING}`;
    const list = await callers.ask<readonly Fields[]>(urlOf(bench, server, path));
    const rounds = list.result.map(({ expiration_date: date }) => roundOfExpiration(String(date)));
    for (let one = 0; one <= endedLists; one++)
      assert.ok(rounds.includes(one), `an expiration of round ${one}`);
    for (const { reference } of [record, list]) if (reference === 'cached') seen.cached++;
  });
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** All readers on all servers beside the imports. */
async function readAll(bench: Bench, options: Area, rounds: number): Promise<Figure[]> {
  const { servers, callers } = bench;
  const seen = { cached: 0 };
  const areas = [...dated, options];
  const readers = servers.map((server) => {
    let turn = 0;
    const lists = besides(bench, async () => {
      for (const area of dated) await readDated(bench, server, area, turn);
      await readContracts(bench, server, options, turn++);
    });
    return Promise.all([lists, readPinned(bench, server, options), readKept(bench, server, options, seen)]);
  });
  const [counts] = await Promise.all([Promise.all(readers), importRounds(bench, areas, rounds)]);
  assert.ok(seen.cached > 0, 'some answers came from what is kept');
  return [
    ['imports of lists, records and prices', `${rounds * bench.progress.size}`],
    [
      'walks of every list, each with a single request',
      `${sum(counts.map(([lists]) => lists)) * areas.length}`,
    ],
    ['walks with a price and a moment of their own', `${sum(counts.map(([, pinned]) => pinned))}`],
    [
      'looks at a record and at expirations',
      `${sum(counts.map(([, , kept]) => kept))}, ${seen.cached} from the cache`,
    ],
    ['requests', `${callers.requests}`],
  ];
}

/** What callers of every area but bars are promised while another process imports (contract 4.1). */
export async function checkAreaReaders({ rounds }: { readonly rounds: number }): Promise<Figure[]> {
  if (rounds > ROUNDS_MAX) throw new Error(`at most ${ROUNDS_MAX} rounds`);
  const shop = new Workshop();
  try {
    const options = contracts(Date.now());
    const first = filesOf([...dated, options], 0);
    await fillStore(shop.store, shop.folder, Date.now(), first);
    const callers = new Callers(await shop.must('keys', 'create', 'callers'));
    const servers = await serversOf(shop);
    const progress = new Map(first.map(([dataset]) => [dataset, { begun: 0, ended: 0 }]));
    return await readAll({ shop, servers, callers, work: { done: false }, progress }, options, rounds);
  } finally {
    shop.close();
  }
}
