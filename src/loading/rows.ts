// Rows of one dataset from a file into the store: typed cells, refusals by row, idempotent by natural key, one write a file.
import { hash } from 'node:crypto';
import { type Dataset, type RowOf, spokenName } from '../datasets/dataset.ts';
import { UNMADE } from '../files/computed-column.ts';
import { FileProblem, type RowProblem } from '../files/file-problem.ts';
import { type Chunk, readChunks } from '../files/read.ts';
import type { ImportReport } from '../history/import-report.ts';
import { changeRow, rowKeyOf } from '../history/journal.ts';
import type { InstrumentName } from '../history/new-instrument.ts';
import { type ImportRequest, runImport } from '../history/run.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';
import {
  type FieldNames,
  type FieldSources,
  findSources,
  ignoredByAll,
  partsOf,
  reportedColumn,
} from '../mapping/column-mapping.ts';
import type { FieldRule } from '../mapping/field-rules.ts';
import type { Store, Writer } from '../store/store.ts';
import { FormerSymbols } from './former-symbols.ts';
import { type NamedInstrument, NamedInstruments } from './named-instruments.ts';
import { RefusedRows } from './refused-rows.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A field that names an instrument by the symbol that it had on a day. */
export type NamedOnDay = {
  readonly field: string;
  readonly name: InstrumentName;
  /** Day number. */
  readonly day: number;
};

/** How the rows of a file become rows of a dataset. */
export type RowImport<D extends Dataset> = {
  readonly dataset: D;
  readonly fields: FieldNames;
  readonly rules: Readonly<Record<string, FieldRule>>;
  /** The key of the row that the values give. */
  readonly keyOf: (values: Values) => Partial<RowOf<D>>;
  /** What is told of a row whose key the file has already, with other values. */
  readonly repeated: RowProblem;
  /**
   * The values of a row that has the key of others in the file and differs from them, told apart by its place among those, from 2
   * on; null where it is refused.
   */
  readonly followingOf?: (values: Values, place: number) => Values | null;
  /** What is wrong with a row whose cells are right each for itself. */
  readonly problemOf?: (values: Values) => RowProblem | null;
  /** What is odd about a row that is stored all the same: words before a count. */
  readonly findingOf?: (values: Values) => string | null;
  /** The instrument that a row is about, made where the store does not know it (contract 8.9, 11). */
  readonly instrumentOf?: (values: Values) => NamedInstrument | null;
  /** The symbol by which a row names an instrument, and the day on which it was its symbol: it may have another one now (contract 9.6). */
  readonly symbolOf?: (values: Values) => NamedOnDay | null;
  /** The row to be stored; `known` is the stored one of equal key, `named` gives the instruments that the row names. */
  readonly rowOf: (
    values: Values,
    known: RowOf<D> | null,
    writer: Writer,
    named: NamedInstruments,
  ) => RowOf<D> | Promise<RowOf<D>>;
};

/** Imports one file of rows. @throws FileProblem when nothing of it can be imported */
export async function importRows<D extends Dataset>(
  store: Store,
  request: ImportRequest,
  kind: RowImport<D>,
): Promise<ImportReport & { readonly newRows: number }> {
  const { file } = request;
  const refused = new RefusedRows(file);
  let newRows = 0;
  try {
    const mappings = partsOf(request.file.mapping).map((map) =>
      findSources(file.name, file.header, kind.fields, map, request.flags),
    );
    checkFlags(request.flags, kind);
    for (const mapping of mappings) checkConstants(mapping, kind);
    const report = await runImport(store, request, spokenName(kind.dataset), async (writer, runId) => {
      const pass = new RowPass(writer, runId, kind, mappings, file, refused);
      const derived = mappings.flatMap((mapping) => mapping.derived);
      const plan = { texts: pass.columns, numbers: [], careful: true, derived };
      for await (const chunk of readChunks(file, plan)) {
        await pass.take(chunk);
        request.onRows?.(pass.rowsRead);
      }
      if (pass.isEmpty && file.rowNumbers === undefined)
        throw new FileProblem('content', `${file.name}: has no rows`);
      newRows = pass.newRows;
      const result = {
        rowsRead: pass.rowsRead,
        rowsWritten: pass.rowsWritten,
        rowsUnchanged: pass.rowsRead - pass.rowsWritten - refused.count,
        rowsRefused: refused.count,
        newInstruments: pass.newInstruments,
        findings: pass.findings,
        outsideSessions: 0,
        offGrid: 0,
        vwapOutside: 0,
        ignoredColumns: ignoredByAll(mappings),
        refused: refused.first,
      };
      return { result, finish: async () => undefined };
    });
    return { ...report, newRows, rejectedFile: refused.keep(request.dryRun) };
  } finally {
    refused.drop();
  }
}

/** A field that the dataset does not have cannot be given for the whole file. */
function checkFlags(
  flags: ReadonlyMap<string, string>,
  { dataset, fields }: Pick<RowImport<Dataset>, 'dataset' | 'fields'>,
): void {
  const known = [...fields.required, ...fields.optional];
  const stray = [...flags.keys()].find((field) => !known.includes(field));
  if (stray !== undefined)
    throw new FileProblem('usage', `${spokenName(dataset)} have no ${stray} to be given for the whole file`);
}

/** A value given for the whole file that no row could have is wrong usage. */
function checkConstants(
  { values }: FieldSources,
  { fields, rules }: Pick<RowImport<Dataset>, 'fields' | 'rules'>,
): void {
  for (const [field, value] of values) {
    const rule = rules[field];
    if (rule !== undefined && rule.parse(value) === undefined)
      throw new FileProblem('usage', `${fields.flags[field] ?? field} ${value}: ${rule.reason}`);
  }
}

/** Why a derived cell could not be made; null where it was, or is none that is derived. */
function unmadeReason({ derived }: FieldSources, column: string, text: string): string | null {
  if (!text.startsWith(UNMADE)) return null;
  return derived.find(({ name }) => name === column)?.reason ?? null;
}

/** One pass over a file. */
class RowPass<D extends Dataset> {
  rowsRead = 0;
  rowsWritten = 0;
  newRows = 0;
  /** Whether the file has had no row, also none that was passed over. */
  isEmpty = true;
  readonly findings: Record<string, number> = {};
  readonly #writer: Writer;
  readonly #runId: number;
  readonly #kind: RowImport<D>;
  readonly #mappings: readonly FieldSources[];
  /** The file's columns, then those that are made of them. */
  readonly columns: readonly string[];
  readonly #width: number;
  readonly #refused: RefusedRows;
  readonly #hasPresentSymbols: boolean;
  readonly #names: readonly string[];
  readonly #named: NamedInstruments;
  readonly #former: FormerSymbols;
  /** A digest of the values of each key that the file has named: files have millions of rows. */
  readonly #seen = new Map<string, string>();

  constructor(
    writer: Writer,
    runId: number,
    kind: RowImport<D>,
    mappings: readonly FieldSources[],
    source: MappedFile,
    refused: RefusedRows,
  ) {
    this.#writer = writer;
    this.#runId = runId;
    this.#kind = kind;
    this.#mappings = mappings;
    this.columns = [...source.header, ...mappings.flatMap(({ derived }) => derived.map(({ name }) => name))];
    this.#width = source.header.length;
    this.#refused = refused;
    this.#hasPresentSymbols = source.mapping.hasPresentSymbols === true;
    this.#names = [...kind.fields.required, ...kind.fields.optional];
    this.#named = new NamedInstruments(writer, runId);
    this.#former = new FormerSymbols(writer);
  }

  /** Instruments that rows have named and the store did not know. */
  get newInstruments(): number {
    return this.#named.created;
  }

  async take(chunk: Chunk): Promise<void> {
    this.isEmpty &&= chunk.count === 0;
    for (let row = 0; row < chunk.count; row++)
      for (const mapping of this.#mappings) await this.#takeRow(chunk, row, mapping);
  }

  async #takeRow(chunk: Chunk, row: number, mapping: FieldSources): Promise<void> {
    if (!this.#isRow(chunk, row, mapping)) return;
    this.rowsRead++;
    const parsed = this.#parse(chunk, row, mapping);
    const problem = 'reason' in parsed ? parsed : await this.#store(parsed.values);
    if (problem === null) return;
    const cells = chunk.texts.slice(0, this.#width).map((column) => column.text(row));
    const column = reportedColumn(mapping, problem.column);
    this.#refused.add({ row: chunk.firstRow + row, ...problem, column, cells });
  }

  /** Whether a row is one: a preset may pass over others, such as a footer. */
  #isRow(chunk: Chunk, row: number, { keep }: FieldSources): boolean {
    if (keep === null || chunk.texts[this.columns.indexOf(keep.name)]!.text(row) !== 'false') return true;
    if (keep.reason !== '') this.findings[keep.reason] = (this.findings[keep.reason] ?? 0) + 1;
    return false;
  }

  /** The values that a row gives, by field; fields whose cell is empty are left out. */
  #parse(chunk: Chunk, row: number, mapping: FieldSources): RowProblem | { values: Values } {
    if (chunk.surplus?.isNull(row) === false)
      return { column: 'row', reason: 'has more cells than the header has columns' };
    const values: Record<string, unknown> = {};
    for (const field of this.#names) {
      const column = mapping.columns.get(field);
      const text =
        mapping.values.get(field) ??
        (column === undefined ? null : chunk.texts[this.columns.indexOf(column)]!.text(row));
      const at = column ?? field;
      if (text === null || text === '') {
        if (this.#kind.fields.required.includes(field)) return { column: at, reason: 'is missing' };
        continue;
      }
      const unmade = unmadeReason(mapping, at, text);
      if (unmade !== null) return { column: at, reason: unmade };
      const { parse, reason } = this.#kind.rules[field]!;
      const value = parse(text);
      if (value === undefined) return { column: at, reason };
      values[field] = value;
    }
    return this.#kind.problemOf?.(values) ?? { values };
  }

  async #withPresentSymbol(values: Values): Promise<Values> {
    const named = this.#hasPresentSymbols ? null : (this.#kind.symbolOf?.(values) ?? null);
    if (named === null) return values;
    return { ...values, [named.field]: await this.#former.presentOf(named.name, named.day) };
  }

  /** The values under a key that no other row of the file has; `known` where the file has them already, else `repeated`. */
  #place(values: Values): Values | 'known' | 'repeated' {
    const { dataset, keyOf, followingOf } = this.#kind;
    const digest = hash('sha1', JSON.stringify(values), 'base64url');
    for (let place = 1; ; place++) {
      const placed = place === 1 ? values : (followingOf?.(values, place) ?? null);
      if (placed === null) return 'repeated';
      const name = rowKeyOf(dataset, keyOf(placed));
      const before = this.#seen.get(name);
      if (before === digest) return 'known';
      if (before !== undefined) continue;
      this.#seen.set(name, digest);
      return placed;
    }
  }

  /** Stores a row; why it is refused, or null. */
  async #store(said: Values): Promise<RowProblem | null> {
    const placed = this.#place(await this.#withPresentSymbol(said));
    if (placed === 'repeated') return this.#kind.repeated;
    if (placed !== 'known') await this.#write(placed);
    return null;
  }

  /** Writes the row of some values where it is not stored as it is. */
  async #write(values: Values): Promise<void> {
    const { dataset, keyOf, rowOf, instrumentOf, findingOf } = this.#kind;
    const key = keyOf(values);
    const about = instrumentOf?.(values) ?? null;
    if (about !== null) await this.#named.of(about, {}, about.exchange);
    const finding = findingOf?.(values) ?? null;
    if (finding !== null) this.findings[finding] = (this.findings[finding] ?? 0) + 1;
    const [known = null] = await this.#writer.rows(dataset, {
      where: key,
      order: [[dataset.key[0]!, 'asc']],
      limit: 1,
    });
    const row = inOrder(dataset, await rowOf(values, known, this.#writer, this.#named));
    const isWritten = known === null || JSON.stringify(known) !== JSON.stringify(row);
    await this.#named.settle(isWritten);
    if (!isWritten) return;
    if (known === null) this.newRows++;
    this.rowsWritten++;
    await changeRow(this.#writer, this.#runId, dataset, known, row);
  }
}

/** A row with its columns in the order of the dataset, as it is read: equal rows are equal texts. */
function inOrder<D extends Dataset>(dataset: D, row: RowOf<D>): RowOf<D> {
  const values: Values = row;
  return Object.fromEntries(
    Object.keys(dataset.columns).map((column) => [column, values[column]]),
  ) as RowOf<D>;
}
