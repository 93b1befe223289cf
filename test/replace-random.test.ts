// Imports with --replace, undos and deletions in any order, against a naive model that does all runs again
// that are left (contract 9.12, 10, 11).
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { formatDay, parseDay } from '../src/base/instant.ts';
import { SizedCache } from '../src/base/sized-cache.ts';
import { importFile } from '../src/imports/load/importers.ts';
import { deleteRows } from '../src/runs/delete-rows.ts';
import type { ReplaceRequest } from '../src/runs/held-rows.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { allRows } from '../src/store/all-rows.ts';
import { PastReader } from '../src/store/past/past-reader.ts';
import { PastState } from '../src/store/past/past-state.ts';
import type { Values } from '../src/store/schema/dataset.ts';
import { type FileDataset, fileDatasetNamed } from '../src/store/schema/index.ts';
import type { Reader, Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { contentOf, openToWrite, TestFolder } from './stores.ts';

const temporary = new TestFolder();
after(() => temporary.close());

const FIRST_DAY = parseDay('2024-03-01')!;
const dateOf = (day: number): string => formatDay(FIRST_DAY + day);

/** A row of a file: which thing it is, what it is about, its day, and its value. */
type Row = {
  readonly id: number;
  readonly subject: number;
  readonly day: number;
  readonly value: number;
};

const symbols = ['ACORN', 'BIRCH'];

/** How a dataset writes such a row, what makes two of them one, and how it is read again. */
type Kind = {
  readonly dataset: string;
  readonly header: string;
  readonly line: (row: Row) => string;
  readonly keyOf: (row: Row) => string;
  readonly stored: (row: Values) => Row;
  /** The flags of a deletion of all that is about a subject. */
  readonly flags: (subject: number) => Record<string, string>;
};

const idOf = (text: unknown): number => Number(/\d+/.exec(String(text))![0]);
const dayOf = (value: unknown, isInstant = false): number =>
  (isInstant ? Math.floor(Number(value) / 86_400_000) : Number(value)) - FIRST_DAY;
const eventIds = Array.from({ length: 4 }, (_, id) => hash('sha256', `event ${id}`));
const ofStock = (subject: number) => ({ '--country': 'US', '--symbol': symbols[subject]! });

const kinds: readonly Kind[] = [
  {
    dataset: 'corporate-actions',
    header: 'country_iso_code,symbol,action_type,ex_date,cash_amount',
    line: ({ subject, day, value }) => `US,${symbols[subject]},dividend,${dateOf(day)},${value}`,
    keyOf: ({ subject, day }) => `${subject} ${day}`,
    stored: (row) => ({
      id: 0,
      subject: symbols.indexOf(row.symbol as string),
      day: dayOf(row.ex_date),
      value: row.cash_amount as number,
    }),
    flags: ofStock,
  },
  {
    dataset: 'news',
    header: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol,sentiment_score',
    // The second subject is no instrument.
    line: ({ id, subject, day, value }) =>
      `${dateOf(day)}T23:59:59Z,Item ${id},https://example.com/${id},${subject === 0 ? 'stock,US,ACORN' : ',,'},${value}`,
    keyOf: ({ id, subject }) => `${id} ${subject}`,
    stored: (row) => ({
      id: idOf(row.title),
      subject: row.symbol === null ? 1 : 0,
      day: dayOf(row.published_date, true),
      value: row.sentiment_score as number,
    }),
    flags: () => ofStock(0),
  },
  {
    dataset: 'option-contracts',
    header:
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type' +
      ',bid,ask',
    // Each has a quote, which goes and comes back with it.
    line: ({ id, subject, day, value }) =>
      `OWN${id},US,stock,${symbols[subject]},${value},${dateOf(day)},call,${value},${day}`,
    keyOf: ({ id }) => `${id}`,
    stored: (row) => ({
      id: idOf(row.symbol),
      subject: symbols.indexOf(row.underlying_name as string),
      day: row.ask as number,
      value: row.bid as number,
    }),
    flags: ofStock,
  },
  {
    dataset: 'holidays',
    header: 'name,holiday_code,calendar_date,asset_name,country_iso_code,symbol,session_template',
    line: ({ subject, day, value }) =>
      `Day ${value},HOLIDAY_OWN,${dateOf(day)},stock,US,${subject === 0 ? '*' : 'BIRCH'},CLOSED`,
    keyOf: ({ subject, day }) => `${subject} ${day}`,
    stored: (row) => ({
      id: 0,
      subject: row.symbol === '*' ? 0 : 1,
      day: dayOf(row.calendar_date),
      value: idOf(row.name),
    }),
    flags: (subject) => ({
      '--schema': 'stock',
      '--country': 'US',
      '--symbol': subject === 0 ? '*' : 'BIRCH',
    }),
  },
  {
    dataset: 'economic-events',
    header: 'country_iso_code,event_code,event_name,event_timestamp,actual_value,source_id',
    line: ({ id, subject, day, value }) =>
      `US,CODE_${symbols[subject]},Event,${dateOf(day)}T00:00:00Z,${value},${eventIds[id]}`,
    keyOf: ({ id }) => `${id}`,
    stored: (row) => ({
      id: eventIds.indexOf(row.source_id as string),
      subject: symbols.indexOf((row.event_code as string).slice('CODE_'.length)),
      day: dayOf(row.event_timestamp, true),
      value: row.actual_value as number,
    }),
    flags: (subject) => ({ '--country': 'US', '--event-code': `CODE_${symbols[subject]}` }),
  },
];

type Span = { readonly from: number; readonly to: number };

/** A run as the model has it. */
type Run = {
  readonly id: number;
  readonly source: string;
  readonly rows: ReadonlyMap<string, Row>;
  /** Null without --replace; `own`: the days of the file. */
  readonly replace: Span | 'own' | null;
  /** The keys that a deletion took; null: an import. */
  readonly deleted: ReadonlySet<string> | null;
};

/** Rows by key, and the runs that brought each as it is. */
type State = Map<string, { readonly row: Row; readonly runs: Set<number> }>;

/** What the runs come to, one after the other. */
function replayed(runs: readonly Run[]): State {
  const state: State = new Map();
  const byId = new Map(runs.map((run) => [run.id, run]));
  for (const { id, source, rows, replace, deleted } of runs) {
    for (const key of deleted ?? []) state.delete(key);
    const days = new Map<number, Span>();
    for (const [key, row] of rows) {
      const { subject, day } = row;
      const known = state.get(key);
      if (known !== undefined && JSON.stringify(known.row) === JSON.stringify(row)) known.runs.add(id);
      else state.set(key, { row, runs: new Set([id]) });
      const { from, to } = days.get(subject) ?? { from: day, to: day };
      days.set(
        subject,
        replace !== null && replace !== 'own'
          ? replace
          : { from: Math.min(from, day), to: Math.max(to, day) },
      );
    }
    for (const [key, { row, runs: holding }] of replace === null ? [] : state) {
      const span = days.get(row.subject);
      if (rows.has(key) || span === undefined || row.day < span.from || row.day > span.to) continue;
      for (const run of holding) if (byId.get(run)!.source === source) holding.delete(run);
      if (holding.size === 0) state.delete(key);
    }
  }
  return state;
}

const textOf = (rows: Iterable<Row>): string[] =>
  Array.from(rows, ({ id, subject, day, value }) => `${id} ${subject} ${day} ${value}`).sort();

const stateText = (state: State): string[] => textOf([...state.values()].map(({ row }) => row));

/** A version that was looked at, with the runs that it had. */
type Seen = { readonly version: number; readonly rows: readonly string[]; readonly runs: readonly number[] };

let stores = 0;

/** A store with what the model says of it. */
class Trial {
  readonly url = temporary.storeUrl(String(++stores));
  readonly #kind: Kind;
  readonly #dataset: FileDataset;
  readonly #store: Store;
  /** Those that are not undone. */
  #runs: Run[] = [];
  readonly #seen: Seen[] = [];

  private constructor(kind: Kind, store: Store) {
    this.#kind = kind;
    this.#dataset = fileDatasetNamed(kind.dataset)!;
    this.#store = store;
  }

  static async of(kind: Kind, work: (trial: Trial) => Promise<void>): Promise<void> {
    const store = await openToWrite(temporary.storeUrl(String(stores + 1)));
    try {
      await work(new Trial(kind, store));
    } finally {
      await store.close();
    }
  }

  async import(step: ImportStep): Promise<void> {
    const { source, replace } = step;
    const rows = new Map(step.rows.map((row) => [this.#kind.keyOf(row), this.#asStored(row)]));
    const file = join(temporary.folder, 'file.csv');
    const lines = [this.#kind.header, ...[...rows.values()].map(this.#kind.line)];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const from = await opened(file);
    const asked: ReplaceRequest | undefined =
      replace === null
        ? undefined
        : replace === 'own'
          ? { days: null }
          : { days: { fromDay: FIRST_DAY + replace.from, toDay: FIRST_DAY + replace.to } };
    const before = replayed(this.#runs);
    const request = { file: from, flags: new Map(), source, dryRun: false, nowMs: Date.now };
    const report = await importFile(this.#store, this.#kind.dataset, { ...request, replace: asked });
    await from.close();
    assert.equal(report.rowsRefused, 0, JSON.stringify(report.refusals));
    const id = report.runId!;
    this.#runs.push({ id, source, rows, replace, deleted: null });
    const now = replayed(this.#runs);
    const gone = [...before.keys()].filter((key) => !now.has(key)).length;
    assert.equal(report.rowsRemoved ?? 0, gone);
    assert.equal(report.removedRows?.length ?? 0, gone);
    await this.check();
  }

  /** A row without what its dataset does not keep. */
  #asStored(row: Row): Row {
    return ['corporate-actions', 'holidays'].includes(this.#kind.dataset) ? { ...row, id: 0 } : row;
  }

  async delete(subject: number): Promise<void> {
    const before = replayed(this.#runs);
    const request = { words: 'x', dryRun: false, nowMs: Date.now, dataset: this.#dataset };
    const flags = this.#kind.flags(subject);
    const report = await deleteRows(this.#store, { ...request, flags }).catch(() => null);
    const of = this.#kind.dataset === 'news' ? 0 : subject;
    const keys = [...before].filter(([, { row }]) => row.subject === of).map(([key]) => key);
    assert.equal(report?.rowsDeleted ?? 0, keys.length);
    if (report === null || report.runId === null) return;
    const nothing = { source: '', rows: new Map(), replace: null };
    this.#runs.push({ ...nothing, id: report.runId, deleted: new Set(keys) });
    await this.check();
  }

  async undo(place: number): Promise<void> {
    const run = this.#runs[place % this.#runs.length];
    if (run === undefined) return;
    await undoRun(this.#store, { runId: run.id, dryRun: false, nowMs: Date.now });
    this.#runs = this.#runs.filter(({ id }) => id !== run.id);
    await this.check();
  }

  async #rowsOf(reader: Reader): Promise<string[]> {
    const rows: Row[] = [];
    const { beside } = this.#dataset.file;
    const others = beside === undefined ? null : await Array.fromAsync(allRows(reader, beside.dataset));
    for await (const row of allRows(reader, this.#dataset))
      rows.push(this.#kind.stored({ ...others?.[rows.length], ...row } as Values));
    if (others !== null) assert.equal(others.length, rows.length);
    return textOf(rows);
  }

  /**
   * The store has what the model says, and its earlier versions what it had then, but for those with a run
   * that was undone since.
   */
  async check(): Promise<void> {
    const expected = stateText(replayed(this.#runs));
    await this.#store.snapshot(async (reader) => {
      assert.deepEqual(await this.#rowsOf(reader), expected);
      const version = (await reader.version())!;
      const live = this.#runs.map(({ id }) => id);
      for (const seen of this.#seen) {
        if (!seen.runs.every((run) => live.includes(run))) continue;
        const bounds = { found: new SizedCache<never>(0), entriesMax: 100_000, bytesMax: 100_000_000 };
        const past = await PastState.open(reader, version, seen.version, bounds);
        assert.deepEqual(await this.#rowsOf(new PastReader(reader, past)), seen.rows, `${seen.version}`);
      }
      this.#seen.push({ version, rows: expected, runs: live });
    });
  }

  async end(): Promise<void> {
    while (this.#runs.length > 0) await this.undo(this.#runs.length - 1);
    const { name, file } = this.#dataset;
    const besides = file.beside === undefined ? [] : [file.beside.dataset.name];
    for (const table of [name, ...besides, 'instruments', 'instrument_terms', 'row_changes', 'held_rows'])
      assert.deepEqual(contentOf(this.url)[table], [], table);
  }
}

type ImportStep = {
  readonly rows: readonly Row[];
  readonly source: string;
  readonly replace: Span | 'own' | null;
};

const few = (max: number) => fc.integer({ min: 0, max });
const rows = fc.array(
  fc.record({ id: few(3), subject: few(1), day: few(4), value: fc.integer({ min: 1, max: 2 }) }),
  {
    minLength: 1,
    maxLength: 6,
  },
);
const span = fc.tuple(few(4), few(4)).map(([one, other]) => ({
  from: Math.min(one, other),
  to: Math.max(one, other),
}));
const stepsOf = (sources: readonly string[]) =>
  fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          rows,
          source: fc.constantFrom(...sources),
          replace: fc.oneof(fc.constant('own' as const), span, fc.constant(null)),
        }),
      },
      { weight: 4, arbitrary: fc.record({ undo: few(20) }) },
      { weight: 1, arbitrary: fc.record({ deleted: few(1) }) },
    ),
    { minLength: 3, maxLength: 12 },
  );

for (const kind of kinds)
  for (const sources of [['acme'], ['acme', 'other']])
    test(`${kind.dataset} of ${sources.length} sources with --replace are those of the runs that are left, in any order of imports, deletions and undos (contract 9.12, 10, 11)`, async () => {
      await fc.assert(
        fc.asyncProperty(stepsOf(sources), (steps) =>
          Trial.of(kind, async (trial) => {
            for (const step of steps)
              if ('undo' in step) await trial.undo(step.undo);
              else if ('deleted' in step) await trial.delete(step.deleted);
              else await trial.import(step);
            await trial.end();
          }),
        ),
        { numRuns: times(2) },
      );
    });

test('a contract that comes back at an undo keeps its instrument, which another run had made again (contract 10, 11)', () =>
  Trial.of(kinds.find(({ dataset }) => dataset === 'option-contracts')!, async (trial) => {
    const row = (id: number, subject: number, day: number, value: number): Row => ({
      id,
      subject,
      day,
      value,
    });
    const source = 'acme';
    await trial.import({ rows: [row(0, 0, 0, 1)], source, replace: null });
    await trial.import({ rows: [row(2, 0, 0, 1)], source, replace: null });
    await trial.import({ rows: [row(2, 1, 2, 1)], source, replace: null });
    await trial.import({ rows: [row(1, 1, 2, 2)], source, replace: { from: 0, to: 4 } });
    await trial.import({ rows: [row(2, 1, 1, 2)], source, replace: null });
    await trial.undo(2);
    await trial.end();
  }));
