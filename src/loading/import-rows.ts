// Imports the rows of one dataset: typed cells, refusals by row, no change at a second import, one write a file.
import { hash } from 'node:crypto';
import type { Zone } from '../calendar/zone.ts';
import { type Dataset, type RowOf, spokenName } from '../datasets/dataset.ts';
import type { FieldRule, Values } from '../datasets/field.ts';
import type { FileDataset } from '../datasets/index.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { UNMADE } from '../files/computed-column.ts';
import { FileProblem, type RowProblem } from '../files/file-problem.ts';
import { type Chunk, readChunks } from '../files/read.ts';
import { repairInstrument } from '../history/damaged-instrument.ts';
import { HeldRows } from '../history/held-rows.ts';
import type { ImportGroup } from '../history/import-group.ts';
import { changeRow, expectChanges } from '../history/journal.ts';
import { namedBy, namedOnDay } from '../history/naming.ts';
import type { Counters } from '../history/new-instrument.ts';
import { type ImportRequest, type PresentRun, type RunResult, runImport } from '../history/run.ts';
import {
  constantProblem,
  type FieldSources,
  findSources,
  type MappedFile,
  reportedColumn,
} from '../mapping/column-mapping.ts';
import { namesOf } from '../mapping/field-names.ts';
import { instantRule } from '../mapping/instant-rule.ts';
import { forgetEarlier } from '../store/changes.ts';
import { ignoreDamage } from '../store/damage.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import type { RowReader, Writer } from '../store/store.ts';
import { KnownRows } from './known-rows.ts';
import { NamedInstruments } from './named-instruments.ts';
import { type PendingImport, type RefusedRows, withRefusedRows } from './refused-rows.ts';
import { SymbolsOnDays } from './symbols-on-days.ts';

/** What a row is written with: the writer, and the instruments that rows of the run name. */
export type RowContext = {
  readonly writer: Writer;
  readonly counters: Counters;
  readonly named: NamedInstruments;
};

/** What is special about the rows of a dataset, beyond its declaration. */
export type Particulars = {
  /** Adds defaults, and identifiers made of the values. */
  readonly complete?: (values: Values) => Values;
  /** What is wrong with a row although each of its cells is valid. */
  readonly problemOf?: (values: Values) => RowProblem | null;
  /** What is wrong with a row beside what is stored: `known` is the row of its key, null where there is none. */
  readonly problemBeside?: (
    values: Values,
    known: Values | null,
    reader: RowReader,
  ) => RowProblem | null | Promise<RowProblem | null>;
  /** A warning about a row that is stored: words before a count. `reader` leaves damaged rows out. */
  readonly findingOf?: (values: Values, reader: RowReader) => string | null | Promise<string | null>;
  /** The values of the second and further rows of one key in a file, by their `place` among these; null where they are refused. */
  readonly followingOf?: (values: Values, place: number) => Values | null;
  /** Looks up together what `rowOf` will ask of rows whose key no stored row has. */
  readonly expectUnknown?: (rows: readonly Values[], writer: Writer) => Promise<void>;
  /** The row to store; `known` is the stored row with its key. It makes the instruments that it names. */
  readonly rowOf?: (values: Values, known: Values | null, context: RowContext) => Promise<Values>;
};

/** Imports one file of rows. @throws FileProblem where nothing of it can be imported */
export async function importRows(
  group: ImportGroup,
  request: ImportRequest,
  dataset: FileDataset,
  particulars: Particulars,
): Promise<PendingImport> {
  const { file } = request;
  const kind = { dataset, particulars, rules: rulesOf(dataset, request.zone ?? null) };
  const mapping = findSources(
    file.name,
    file.header,
    namesOf(dataset.file.fields),
    file.mapping,
    request.flags,
  );
  checkFlags(request.flags, dataset);
  checkConstants(mapping, kind, request);
  return withRefusedRows(request, (refused) =>
    runImport(group, request, spokenName(dataset), async (writer, run) => {
      const pass = new RowPass(writer, run, kind, mapping, file, refused);
      const plan = { texts: pass.columns, numbers: [], careful: true, derived: mapping.derived };
      for await (const chunk of readChunks(file, plan)) {
        await pass.add(chunk);
        request.onRows?.(pass.rowsRead);
      }
      if (pass.rowsRead === 0 && file.rowNumbers === undefined)
        throw new FileProblem('content', `${file.name}: has no rows`);
      await pass.held.write(writer, run.runId, dataset);
      return { result: pass.result() };
    }),
  );
}

/** How the rows of one file are read. */
type Kind = {
  readonly dataset: FileDataset;
  readonly particulars: Particulars;
  readonly rules: Readonly<Record<string, FieldRule>>;
};

const rulesOf = ({ file: { fields } }: FileDataset, zone: Zone | null): Kind['rules'] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { rule }]) => [name, 'unit' in rule ? instantRule(rule, zone) : rule]),
  );

/** Refuses a field that the dataset does not have. */
function checkFlags(flags: ReadonlyMap<string, string>, dataset: FileDataset): void {
  const stray = [...flags.keys()].find((field) => !Object.hasOwn(dataset.file.fields, field));
  if (stray !== undefined)
    throw new FileProblem('usage', `${spokenName(dataset)} have no ${stray} to be given for the whole file`);
}

/** Refuses a value for the whole file that no row could have. */
function checkConstants(
  { values }: FieldSources,
  { dataset, rules }: Kind,
  { file, flags }: ImportRequest,
): void {
  for (const [field, value] of values) {
    const rule = rules[field];
    if (rule !== undefined && rule.parse(value) === undefined)
      throw constantProblem(
        file,
        flags,
        { field, flag: dataset.file.fields[field]!.flag },
        value,
        rule.reason,
      );
  }
}

/** The values of a row, or why it has none. */
type Parsed = RowProblem | { readonly values: Values };

/** A row that differs from the stored one of its key: null where there is none, or a damaged one. */
type ChangedRow = {
  readonly known: RowOf<Dataset> | null;
  readonly isDamaged: boolean;
  readonly row: RowOf<Dataset>;
};

/** One pass over a file. */
class RowPass {
  rowsRead = 0;
  rowsWritten = 0;
  newRows = 0;
  /** Rows in place of damaged ones. */
  damagedReplaced = 0;
  readonly findings: Record<string, number> = {};
  readonly held = new HeldRows();
  readonly #writer: Writer;
  readonly #run: PresentRun;
  readonly #kind: Kind;
  readonly #mapping: FieldSources;
  /** The file's columns, then the derived ones. */
  readonly columns: readonly string[];
  readonly #width: number;
  readonly #refused: RefusedRows;
  readonly #known: KnownRows;
  readonly #named: NamedInstruments;
  readonly #symbols: SymbolsOnDays;
  /** A digest of the values of each key in the file: files have millions of rows. */
  readonly #seen = new Map<string, string>();
  /** Rows of the present chunk, whose keys all differ: they are written at its end. */
  readonly #changed: ChangedRow[] = [];

  constructor(
    writer: Writer,
    run: PresentRun,
    kind: Kind,
    mapping: FieldSources,
    source: MappedFile,
    refused: RefusedRows,
  ) {
    this.#writer = writer;
    this.#run = run;
    this.#kind = kind;
    this.#mapping = mapping;
    this.columns = [...source.header, ...mapping.derived.map(({ name }) => name)];
    this.#width = source.header.length;
    this.#refused = refused;
    if (source.leftOut !== undefined && source.leftOut.count > 0)
      this.findings[source.leftOut.reason] = source.leftOut.count;
    this.#known = new KnownRows(writer, kind.dataset);
    this.#named = new NamedInstruments(writer, run);
    this.#symbols = new SymbolsOnDays(writer, source);
  }

  /** The report of a pass that has ended. */
  result(): RunResult {
    return {
      rowsRead: this.rowsRead,
      rowsWritten: this.rowsWritten,
      rowsReplaced: this.rowsWritten - this.newRows,
      damagedReplaced: this.damagedReplaced,
      rowsUnchanged: this.rowsRead - this.rowsWritten - this.#refused.count,
      rowsRefused: this.#refused.count,
      newInstruments: this.#kind.dataset === instruments ? this.newRows : this.#named.created,
      findings: this.findings,
      outsideSessions: 0,
      offGrid: 0,
      mergedDays: 0,
      vwapOutside: 0,
      ignoredColumns: this.#mapping.ignored,
      refused: this.#refused.first,
      refusals: this.#refused.groups,
    };
  }

  async add(chunk: Chunk): Promise<void> {
    const parsed = Array.from({ length: chunk.count }, (_, row) => this.#parse(chunk, row));
    await this.#expect(parsed);
    for (const [row, one] of parsed.entries()) await this.#addRow(chunk, row, one);
    await this.#writeChanged();
  }

  /** Looks up what is stored of rows, together, and of the instruments that they name. */
  async #expect(rows: readonly Parsed[]): Promise<void> {
    const { dataset, particulars } = this.#kind;
    const sound = rows.flatMap((row) => ('reason' in row ? [] : [this.#completed(row.values)]));
    const unknown = await this.#known.expect(sound);
    await particulars.expectUnknown?.(unknown, this.#writer);
    if (dataset === instruments) return;
    await this.#named.expect(sound.flatMap((values) => namedBy(dataset, values).map(({ name }) => name)));
    await this.#symbols.expect(sound.flatMap((values) => namedOnDay(dataset, values)?.name ?? []));
  }

  async #addRow(chunk: Chunk, row: number, parsed: Parsed): Promise<void> {
    this.rowsRead++;
    const problem = 'reason' in parsed ? parsed : await this.#store(parsed.values);
    if (problem === null) return;
    const cells = chunk.texts.slice(0, this.#width).map((column) => column.text(row));
    const column = reportedColumn(this.#mapping, problem.column);
    this.#refused.add({ row: chunk.firstRow + row, ...problem, column, cells });
  }

  #warn(finding: string): void {
    this.findings[finding] = (this.findings[finding] ?? 0) + 1;
  }

  /** The values of a row, by field, without those of empty cells. */
  #parse(chunk: Chunk, row: number): Parsed {
    if (chunk.surplus?.isNull(row) === false)
      return { column: 'row', reason: 'has more cells than the header has columns' };
    const values: Record<string, unknown> = {};
    const mapping = this.#mapping;
    const { rules, particulars } = this.#kind;
    for (const [field, { isRequired }] of Object.entries(this.#kind.dataset.file.fields)) {
      const column = mapping.columns.get(field);
      const text =
        mapping.values.get(field) ??
        (column === undefined ? null : chunk.texts[this.columns.indexOf(column)]!.text(row));
      const at = column ?? field;
      if (text === null || text === '') {
        if (isRequired) return { column: at, reason: 'is missing' };
        continue;
      }
      const unmade = text.startsWith(UNMADE) ? mapping.derived.find(({ name }) => name === at) : undefined;
      if (unmade !== undefined) return { column: at, reason: unmade.reason };
      const { parse, reason } = rules[field]!;
      const value = parse(text);
      if (value === undefined) return { column: at, reason };
      values[field] = value;
    }
    return particulars.problemOf?.(values) ?? { values };
  }

  /** The values with the present symbol of the instrument that they are about. */
  async #withPresentSymbol(values: Values): Promise<Parsed> {
    const named = namedOnDay(this.#kind.dataset, values);
    if (named === null) return { values };
    const { column, name, day } = named;
    const owner = (await this.#symbols.of(name)).on(day);
    if ('reason' in owner) return { column: this.#mapping.columns.get(column) ?? column, ...owner };
    return { values: { ...values, [column]: owner.symbol } };
  }

  readonly #completed = (values: Values): Values => this.#kind.particulars.complete?.(values) ?? values;

  /** The values under a key that no other row of the file has; `known` where the file has equal ones already, else `repeated`. */
  #place(values: Values): Values | 'known' | 'repeated' {
    const { dataset, particulars } = this.#kind;
    const digest = hash('sha1', JSON.stringify(values), 'base64url');
    for (let place = 1; ; place++) {
      const placed = place === 1 ? values : (particulars.followingOf?.(values, place) ?? null);
      if (placed === null) return 'repeated';
      const name = rowKeyOf(dataset, this.#completed(placed));
      const before = this.#seen.get(name);
      if (before === digest) return 'known';
      if (before !== undefined) continue;
      this.#seen.set(name, digest);
      return placed;
    }
  }

  /** Stores a row; why it is refused, or null. */
  async #store(values: Values): Promise<RowProblem | null> {
    const present = await this.#withPresentSymbol(values);
    if ('reason' in present) return present;
    const placed = this.#place(present.values);
    if (placed === 'repeated') return this.#kind.dataset.file.repeated;
    if (placed === 'known') return null;
    const problem = await this.#write(placed);
    // A refused row takes its key from no other row.
    if (problem !== null) this.#seen.delete(rowKeyOf(this.#kind.dataset, this.#completed(placed)));
    return problem;
  }

  /** Writes the row of some values, unless an equal one is stored; why it is refused, or null. */
  async #write(values: Values): Promise<RowProblem | null> {
    const { dataset, particulars } = this.#kind;
    const completed = this.#completed(values);
    const { row: known, remains } = await this.#known.of(completed);
    const problem = (await particulars.problemBeside?.(values, known, this.#writer)) ?? null;
    if (problem !== null) return problem;
    // The instruments that the row names are made where the store does not know them (contract 8.9, 11).
    if (particulars.rowOf === undefined)
      for (const { name, exchange } of namedBy(dataset, completed)) await this.#named.of(name, {}, exchange);
    const looked = this.#writer.sound(ignoreDamage);
    const finding = (await particulars.findingOf?.(completed, looked)) ?? null;
    if (finding !== null) this.#warn(finding);
    const context = { writer: this.#writer, counters: this.#run.counters, named: this.#named };
    const filled = (await particulars.rowOf?.(values, known, context)) ?? completed;
    // The columns are in the order in which rows are read: equal rows are equal texts.
    const cells = Object.keys(dataset.columns).map((column) => [column, filled[column] ?? null]);
    const row = Object.fromEntries(cells) as RowOf<Dataset>;
    const text = JSON.stringify(row);
    const isWritten = known === null || JSON.stringify(known) !== text;
    await this.#named.settle(isWritten);
    if (isWritten) this.#changed.push({ known, isDamaged: remains !== null, row });
    else this.held.add(text);
    return null;
  }

  /** Writes the rows of a chunk that are new or other than the stored ones: what the journal has of these is looked up together. */
  async #writeChanged(): Promise<void> {
    const { dataset } = this.#kind;
    const replacing = this.#changed.filter(({ known, isDamaged }) => known !== null || isDamaged);
    const replacements = replacing.map(({ row }) => row);
    await this.#run.former.expectRows(dataset, replacements);
    await expectChanges(this.#writer, this.#run.runId, dataset, replacements);
    for (const one of this.#changed.splice(0)) await this.#change(one);
  }

  async #change({ known, isDamaged, row }: ChangedRow): Promise<void> {
    const { dataset } = this.#kind;
    if (known === null && !isDamaged) this.newRows++;
    else await this.#run.former.addRow(dataset, row);
    this.rowsWritten++;
    if (isDamaged) {
      this.damagedReplaced++;
      await forgetEarlier(this.#writer);
    }
    if (isDamaged && dataset === instruments)
      await repairInstrument(this.#writer, this.#run.runId, row as Instrument);
    else await changeRow(this.#writer, this.#run.runId, dataset, known, row);
  }
}
