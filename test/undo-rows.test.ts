// Taking runs back that made instruments which rows of other datasets name: none is left without its instrument (contract 10, 11).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileDatasetNamed } from '../src/datasets/index.ts';
import { deleteInstrument } from '../src/history/delete-bars.ts';
import { deleteRows, type RowChoice } from '../src/history/delete-rows.ts';
import { type UndoReport, undoRun } from '../src/history/undo-run.ts';
import { importFile } from '../src/loading/importers.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
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

  rows = (): Promise<number> => this.#imported(this.#kind.lines, this.#kind.dataset);

  instrument = (): Promise<number> =>
    this.#imported(['asset_schema,country_iso_code,symbol', 'stock,US,ACORN'], 'instruments');

  undo = (runId: number): Promise<UndoReport> =>
    undoRun(this.#store, { runId, dryRun: false, nowMs: Date.now });

  async deleteRows(): Promise<number> {
    const flags = { '--schema': 'stock', '--country': 'US', '--symbol': 'ACORN' };
    const choice: RowChoice = { flags };
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

test('undo says which run still names the instrument (contract 10)', async () => {
  const shop = new Workshop();
  writeFileSync(shop.path('names.csv'), 'asset_schema,country_iso_code,symbol\nstock,US,ACORN\n');
  writeFileSync(shop.path('halts.csv'), `${holidayLines.join('\n')}\n`);
  await shop.must('import', 'instruments', 'names.csv');
  await shop.must('import', 'holidays', 'halts.csv');
  assert.match(await shop.must('undo', '1'), /1 instrument kept: changed or needed later, by run 2$/);
  shop.close();
});
