// Taking runs back that made instruments which rows of other datasets name: none is left without its
// instrument (contract 10, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatDay } from '../src/base/instant.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { deleteInstrument } from '../src/runs/delete-bars.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import { type UndoReport, undoRun } from '../src/runs/undo-run.ts';
import { fileDatasetNamed } from '../src/store/schema/index.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { Workshop } from './service.ts';
import { contentOf, openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

type Kind = {
  readonly dataset: string;
  readonly table: string;
  readonly lines: readonly string[];
};

const holidayLines = [
  'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
  'Halt,HOLIDAY_HALT,2024-03-07,stock,US,ACORN,CLOSED',
];

/** A row of each dataset that names the stock ACORN. */
const kinds: readonly Kind[] = [
  {
    dataset: 'corporate-actions',
    table: 'corporate_actions',
    lines: ['country_iso_code,symbol,action_type,ex_date,cash_amount', 'US,ACORN,dividend,2024-02-09,0.1'],
  },
  {
    dataset: 'news',
    table: 'news',
    lines: [
      'published_date,title,publisher_url,asset_name,country_iso_code,symbol',
      '2024-03-01T12:00:00Z,One,https://example.com/1,stock,US,ACORN',
    ],
  },
  { dataset: 'holidays', table: 'holidays', lines: holidayLines },
  {
    dataset: 'option-contracts',
    table: 'option_contracts',
    lines: [
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
      'ACORN240621C00010000,US,stock,ACORN,10,2024-06-21,call',
    ],
  },
];

const acorn = { assetSchema: 'stock', country: 'US', symbol: 'ACORN' } as const;
const asked = { words: 'ACORN', dryRun: false, nowMs: Date.now };

let shelves = 0;

/** A store of its own, what is done to it, and what it then holds of one dataset. */
class Shelf {
  readonly url = temporary.storeUrl(String(++shelves));
  readonly #kind: Kind;
  readonly #store: Store;

  private constructor(kind: Kind, store: Store) {
    this.#kind = kind;
    this.#store = store;
  }

  static async with(kind: Kind, work: (shelf: Shelf) => Promise<void>): Promise<void> {
    const store = await openToWrite(temporary.storeUrl(String(shelves + 1)));
    try {
      await work(new Shelf(kind, store));
    } finally {
      await store.close();
    }
  }

  async #imported(lines: readonly string[], dataset: string): Promise<number> {
    const file = join(folder, 'file.csv');
    writeFileSync(file, `${lines.join('\n')}\n`);
    const source = await opened(file);
    const request = { file: source, flags: new Map(), source: null, dryRun: false, nowMs: Date.now };
    const report = await importFile(this.#store, dataset, request);
    await source.close();
    return report.runId!;
  }

  /** Imports the row of the kind, or others of its columns. */
  rows = (lines: readonly string[] = this.#kind.lines.slice(1)): Promise<number> =>
    this.#imported([this.#kind.lines[0]!, ...lines], this.#kind.dataset);

  /** The dividends, each by its date and cash. */
  get dividends(): string[] {
    const sql = 'select ex_date, cash_amount from corporate_actions order by ex_date';
    return rowsOf(this.url, sql).map(
      ({ ex_date, cash_amount }) => `${formatDay(Number(ex_date))} ${String(cash_amount)}`,
    );
  }

  instrument = (): Promise<number> =>
    this.#imported(['asset_schema,country_iso_code,symbol', 'stock,US,ACORN'], 'instruments');

  undo = (runId: number): Promise<UndoReport> =>
    undoRun(this.#store, { runId, dryRun: false, nowMs: Date.now });

  async deleteRows(): Promise<number> {
    const flags = { '--schema': 'stock', '--country': 'US', '--symbol': 'ACORN' };
    const choice = { flags };
    const dataset = fileDatasetNamed(this.#kind.dataset)!;
    return (await deleteRows(this.#store, { ...choice, ...asked, dataset })).runId!;
  }

  deleteInstrument = async (): Promise<number> =>
    (await deleteInstrument(this.#store, { ...acorn, ...asked })).runId!;

  /** Whether ACORN is known, and how many rows there are. */
  get held(): [isKnown: boolean, rows: number] {
    const count = (sql: string): number => Number(rowsOf(this.url, `select count(*) as n from ${sql}`)[0]!.n);
    return [count("instruments where symbol = 'ACORN'") === 1, count(this.#kind.table)];
  }
}

for (const kind of kinds) {
  const { dataset, table } = kind;
  test(`an instrument that later ${dataset} name stays when the import that made it is taken back`, () =>
    Shelf.with(kind, async (shelf) => {
      const made = await shelf.instrument();
      const rows = await shelf.rows();
      const undone = await shelf.undo(made);
      assert.deepEqual([undone.rowsRemoved, undone.rowsKept, undone.keptBy], [0, 1, [rows]]);
      assert.deepEqual(shelf.held, [true, 1]);
      await shelf.undo(rows);
      assert.deepEqual(shelf.held, [false, 0]);
    }));

  test(`${dataset} that a later import had as they were stay with it when the first is taken back (contract 10)`, () =>
    Shelf.with(kind, async (shelf) => {
      const [first, second] = [await shelf.rows(), await shelf.rows()];
      const undone = await shelf.undo(first);
      assert.deepEqual([undone.rowsRemoved, undone.keptBy], [0, [second]]);
      assert.deepEqual(shelf.held, [true, 1]);
      await shelf.undo(second);
      const content = contentOf(shelf.url);
      for (const name of [table, 'instruments', 'instrument_terms', 'row_changes', 'held_rows'])
        assert.deepEqual(content[name], [], name);
    }));

  test(`an import of ${dataset} that made their instrument goes with it and leaves nothing`, () =>
    Shelf.with(kind, async (shelf) => {
      const rows = await shelf.rows();
      assert.deepEqual(shelf.held, [true, 1]);
      await shelf.undo(rows);
      const content = contentOf(shelf.url);
      for (const name of [table, 'instruments', 'instrument_terms', 'row_changes'])
        assert.deepEqual(content[name], [], name);
    }));

  test(`${dataset} do not come back without their instrument, which was deleted after them`, () =>
    Shelf.with(kind, async (shelf) => {
      await shelf.rows();
      const rows = await shelf.deleteRows();
      const instrument = await shelf.deleteInstrument();
      const says = new RegExp(
        `${dataset}.*stock:US:ACORN.*run ${instrument} deleted.*bourse undo ${instrument}$`,
      );
      await assert.rejects(shelf.undo(rows), { name: 'RequestProblem', message: says });
      assert.deepEqual(shelf.held, [false, 0]);
      await shelf.undo(instrument);
      await shelf.undo(rows);
      assert.deepEqual(shelf.held, [true, 1]);
    }));

  test(`${dataset} that came back keep the instrument that was made anew meanwhile`, () =>
    Shelf.with(kind, async (shelf) => {
      await shelf.rows();
      const rows = await shelf.deleteRows();
      const deletion = await shelf.deleteInstrument();
      const anew = await shelf.instrument();
      await shelf.undo(rows);
      await assert.rejects(shelf.undo(anew), { message: new RegExp(`bourse undo ${deletion}$`) });
      await shelf.undo(deletion);
      await shelf.undo(anew);
      assert.deepEqual(shelf.held, [true, 1]);
    }));
}

test('a run that a changed row is left to keeps its instrument too (contract 10)', () =>
  Shelf.with(kinds[0]!, async (shelf) => {
    const cash = (amount: number) => shelf.rows([`US,ACORN,dividend,2024-02-09,${amount}`]);
    const [made, changed, held] = [await cash(1), await cash(2), await cash(2)];
    await shelf.undo(changed);
    const { keptBy } = await shelf.undo(made);
    assert.deepEqual([keptBy, shelf.dividends], [[held], ['2024-02-09 2']]);
    await shelf.undo(held);
    assert.deepEqual(shelf.held, [false, 0]);
  }));

/** What a run has of a row: its cash; `isChange` is false where the row was as it had it. */
type Version = { readonly runId: number; readonly cash: number; isChange: boolean };

const exDays = ['02', '03', '04', '05'];
const steps = fc.array(
  fc.oneof(
    fc.record({
      cashes: fc.array(fc.option(fc.integer({ min: 1, max: 2 })), { minLength: 4, maxLength: 4 }),
    }),
    fc.record({ undo: fc.nat(20) }),
  ),
  { minLength: 3, maxLength: 14 },
);

test('after any imports and undos a list has the rows of the runs that are left (contract 10)', async () => {
  await fc.assert(
    fc.asyncProperty(steps, (drawn) =>
      Shelf.with(kinds[0]!, async (shelf) => {
        const rows = exDays.map((): Version[] => []);
        const runs = new Set<number>();
        const undo = async (runId: number): Promise<void> => {
          const { keptBy } = await shelf.undo(runId);
          const keepers = new Set<number>();
          for (const versions of rows) {
            const at = versions.findIndex((version) => version.runId === runId);
            if (at < 0) continue;
            const [{ isChange }, next] = [versions[at]!, versions[at + 1]];
            versions.splice(at, 1);
            if (!isChange || next === undefined) continue;
            next.isChange = true;
            keepers.add(next.runId);
          }
          for (const keeper of keepers) assert.ok(keptBy.includes(keeper), `${keeper} of ${keptBy.join()}`);
          runs.delete(runId);
        };
        for (const step of drawn) {
          if ('undo' in step) {
            if (runs.size > 0) await undo([...runs][step.undo % runs.size]!);
          } else if (step.cashes.some((cash) => cash !== null)) {
            const lines = step.cashes.flatMap((cash, at) =>
              cash === null ? [] : [`US,ACORN,dividend,2024-02-${exDays[at]!},0.${cash}`],
            );
            const runId = await shelf.rows(lines);
            runs.add(runId);
            for (const [at, cash] of step.cashes.entries())
              if (cash !== null) rows[at]!.push({ runId, cash, isChange: rows[at]!.at(-1)?.cash !== cash });
          }
          const expected = rows.flatMap((versions, at) =>
            versions.length === 0 ? [] : [`2024-02-${exDays[at]!} ${versions.at(-1)!.cash / 10}`],
          );
          assert.deepEqual(shelf.dividends, expected);
        }
        for (const runId of [...runs]) await undo(runId);
        for (const name of ['corporate_actions', 'instruments', 'row_changes', 'held_rows'])
          assert.deepEqual(contentOf(shelf.url)[name], [], name);
      }),
    ),
    { numRuns: times(12) },
  );
});

test('undo says which run still names the instrument (contract 10)', async () => {
  const shop = new Workshop();
  writeFileSync(shop.path('names.csv'), 'asset_schema,country_iso_code,symbol\nstock,US,ACORN\n');
  writeFileSync(shop.path('halts.csv'), `${holidayLines.join('\n')}\n`);
  await shop.must('import', 'instruments', 'names.csv');
  await shop.must('import', 'holidays', 'halts.csv');
  assert.match(await shop.must('undo', '1'), /1 instrument kept: changed or needed later, by run 2$/);
  shop.close();
});
