// Stores of older programs with imports at midday, deletions and undos between: they open, are updated, and answer as they did (contract
// 3.9, docs/decisions/0009, 0021, 0023).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openToWrite } from '../../src/cli/opened-store.ts';
import { historicalBars } from '../../src/contract/bars.ts';
import { parseParameters } from '../../src/contract/endpoint.ts';
import { undoRun } from '../../src/history/undo-run.ts';
import { QueryRunner } from '../../src/queries/index.ts';
import { contentHash } from '../../src/store/content.ts';
import { openStore } from '../../src/store/engines.ts';
import type { Store } from '../../src/store/store.ts';
import { fixtures, unpack } from '../old-stores.ts';
import { TestFolder } from '../stores.ts';
import { fileStore } from './files.ts';

const FOLDER = 'undone-runs';
const temporary = new TestFolder();
after(() => temporary.close());

/** Bars as `02-07T14:30 31 1`, by `symbol interval is_eth`. */
type Answers = Readonly<Record<string, readonly string[]>>;

/** The state of a store after a run was undone; null: before that. */
type State = { readonly undone: number | null; readonly contentHash: string; readonly answers: Answers };

const said = JSON.parse(readFileSync(join(fixtures, FOLDER, 'said.json'), 'utf8')) as {
  readonly nowMs: number;
  readonly states: readonly State[];
};

type Bar = { readonly datetime: string; readonly close: number; readonly volume: number };

/** What a store answers to the requests of a state. */
async function answersOf(url: string, state: State): Promise<Answers> {
  const reader = await openStore(url, 'read');
  const runner = new QueryRunner(reader, new Uint8Array(32).fill(7));
  const found: Record<string, string[]> = {};
  for (const name of Object.keys(state.answers)) {
    const [symbol, interval, is_eth] = name.split(' ');
    const named = {
      schema_asset: 'stock',
      country_symbol: `US:${symbol}`,
      interval: interval!,
      is_eth: is_eth!,
    };
    const raw = { ...named, from_date: '2024-02-01', to_date: '2024-02-28' };
    const parameters = parseParameters(historicalBars, new Map(Object.entries(raw)));
    const answer = await runner.run({
      ...{ endpoint: 'historicalBars', parameters, nowMs: said.nowMs, wrapCsv: false },
    });
    const { result } =
      answer.kind === 'answer'
        ? (JSON.parse(Buffer.from(answer.body).toString()) as { result: { data: Bar[] } })
        : { result: null };
    if (result !== null)
      found[name] = result.data.map(
        ({ datetime, close, volume }) => `${datetime.slice(5, 16)} ${close} ${volume}`,
      );
  }
  await reader.close();
  return found;
}

/** A day of two hours: the third is stored and, after these undos, not finished. Those programs served the day without it. */
const withoutAnHour = { undone: [5, 7], days: ['02-07T14:30 30.125 2', '02-07T09:00 30.125 2'] };

/** A day whose stored bar is not finished, and whose hours all are: those serve it. Those programs did not (contract 3.8, 3.9). */
const ofHours = { name: 'ACME DAY false', undone: [null, 8], day: '02-07T14:30 30.75 7' };

/** Of the answers those that are no refusal, without the days that wait for an hour (contract 3.9), with that of hours. */
function served({ undone, answers }: State): Answers {
  const hidden = withoutAnHour.undone.includes(undone ?? 0) ? withoutAnHour.days : [];
  const kept = Object.entries(answers).filter(([, bars]) => Array.isArray(bars));
  return Object.fromEntries(
    kept.map(([name, bars]) => {
      const isOfHours = name === ofHours.name && ofHours.undone.includes(undone);
      return [
        name,
        [...bars, ...(isOfHours ? [ofHours.day] : [])]
          .filter((bar) => !name.includes(' DAY ') || !hidden.includes(bar))
          .toSorted((one, other) => one.localeCompare(other)),
      ];
    }),
  );
}

/** Opens the store of a layout for writing, as commands do, and gives what it says of that. */
async function opened(layout: number): Promise<{ store: Store; url: string; told: string[] }> {
  const path = temporary.path(`layout-${layout}.db`);
  unpack(FOLDER, `layout-${layout}.db`, path);
  const told: string[] = [];
  const url = fileStore(path);
  return { store: await openToWrite(url, (line) => void told.push(line)), url, told };
}

/** Calls `check` in each state, from the end of all runs on. */
async function eachState(store: Store, check: (state: State) => Promise<void>): Promise<void> {
  for (const state of said.states) {
    if (state.undone !== null)
      await undoRun(store, { runId: state.undone, dryRun: false, nowMs: () => said.nowMs });
    assert.equal(await store.snapshot(contentHash), state.contentHash, `after the undo of ${state.undone}`);
    await check(state);
  }
}

for (const layout of [4, 5, 6, 7])
  test(`a store of layout ${layout} has its content and its bars, and so it has while its runs are undone`, async () => {
    const { store, url } = await opened(layout);
    await eachState(store, async (state) => assert.deepEqual(await answersOf(url, state), served(state)));
    await store.close();
  });

test('the update of a store of layout 3 keeps its content and names the bars that it hides', async () => {
  const { store, url, told } = await opened(3);
  assert.match(told.join('\n'), /not served until an import has them again: \d+ bars of \d+ series/);
  assert.match(told.join('\n'), /stock:US:ACME DAY, 2024-02-07 to 2024-02-09, 2 bars: /);
  const first = await answersOf(url, said.states[0]!);
  // Run 5 held this hour unchanged, which the journal does not tell.
  const hour = '02-07T16:30 30.25 1';
  assert.ok(said.states[0]!.answers['ACME 60M false']!.includes(hour));
  assert.ok(!first['ACME 60M false']!.includes(hour));
  await eachState(store, async (state) => {
    const found = await answersOf(url, state);
    for (const symbol of ['ACME', 'BOLT', 'CORE']) {
      const known = new Set(state.answers[`${symbol} 60M false`]);
      assert.deepEqual(found[`${symbol} 60M false`]?.filter((bar) => !known.has(bar)) ?? [], []);
    }
  });
  await store.close();
});
