// One pass over the rows of a file: parses and checks them, finds the instruments that they name, and writes
// those that differ.
import { hash } from 'node:crypto';
import { cellText, numberOf } from '../../base/decimal.ts';
import { parseSpacedSymbol, parseSymbol } from '../../contract/identifiers.ts';
import { HeldRows } from '../../runs/held-rows.ts';
import { changeRowsFirst, putRows } from '../../runs/journal.ts';
import { namedBy, namedOnDay, nameIn } from '../../runs/naming.ts';
import { rowsWith, rowWith } from '../../store/all-rows.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { rowKeyOf, valuesOfKey } from '../../store/journal-entries.ts';
import type { Beside, Dataset, FieldRule, Naming, RowOf, Values } from '../../store/schema/dataset.ts';
import type { FileDataset } from '../../store/schema/index.ts';
import { type Notation, readNotation } from '../../store/schema/notations.ts';
import { type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { Chunk } from '../read/chunk.ts';
import { readChunks } from '../read/read.ts';
import { isInfinite, oddFinding, UNMADE } from '../read/scan.ts';
import { OwnNames } from './own-names.ts';
import { type Particulars, rowWithValues } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';
import type { Replacement } from './replacement.ts';
import type { PresentRun, RunResult } from './run.ts';
import { RunInstruments } from './run-instruments.ts';
import { SymbolsOnDays } from './symbols-on-days.ts';

/** The rules by which the rows of one file are read. */
export type RowRules = {
  readonly dataset: FileDataset;
  readonly particulars: Particulars;
  /** By field. */
  readonly cells: Readonly<Record<string, FieldRule>>;
};

/** The values of a row, with the symbols that the file writes by their columns; or why it has none. */
type Parsed = RowProblem | { readonly values: Values; readonly written: Readonly<Record<string, string>> };

/** How a row of instruments names its own. */
const ofInstruments: Naming = { assetSchema: { column: 'asset_schema' }, symbol: 'symbol' };

/** The stored rows of one dataset by key, null where there is none. */
type StoredRows = ReadonlyMap<string, RowOf<Dataset> | null>;

/** A row that differs from the stored one of its key: null where there is none. */
type ChangedRow = {
  readonly dataset: Dataset;
  readonly known: RowOf<Dataset> | null;
  readonly row: RowOf<Dataset>;
  /** The report counts the row of the file by this one: by the row beside it where only that is another. */
  readonly isCounted: boolean;
  /** The run has changed it before. */
  readonly isRecorded: boolean;
};

/** The newest row beside one in the file; whether the report counts it or the row, and the run wrote it. */
type SeenBeside = {
  readonly moment: number;
  readonly digest: string;
  isCounted: boolean;
  isRecorded: boolean;
};

const digestOf = (values: Values): string => hash('sha1', JSON.stringify(values), 'base64url');

/** The moment of a row beside one; an unknown one is before all others. */
const momentOf = ({ newest }: Beside, row: Values): number =>
  (row[newest] as number | null) ?? Number.NEGATIVE_INFINITY;

/** One pass over a file. */
export class RowPass {
  rowsRead = 0;
  rowsWritten = 0;
  newRows = 0;
  readonly findings: Record<string, number> = {};
  /** The finding about cells that are left out, by their column. */
  readonly #odd = new Map<string, string>();
  readonly #held = new HeldRows();
  readonly #heldBeside = new HeldRows();
  readonly #run: PresentRun;
  readonly #rules: RowRules;
  /** The file's columns, then the derived ones. */
  readonly #columns: readonly string[];
  /** The stored rows under the keys of the present chunk's rows. */
  #known: StoredRows = new Map();
  /** The same of the rows beside them. */
  #knownBeside: StoredRows = new Map();
  /** The fields of the row beside one; the first is that of its moment. */
  readonly #besideFields: readonly string[];
  /** By the key of the row. */
  readonly #seenBeside = new Map<string, SeenBeside>();
  /** The newest ones of the present chunk. */
  readonly #beside = new Map<string, RowOf<Dataset>>();
  readonly #named: RunInstruments;
  readonly #symbols: SymbolsOnDays;
  readonly #names: OwnNames;
  readonly #namings: readonly Naming[];
  readonly #notation: Notation | undefined;
  /** A digest of the values of each key in the file: files have millions of rows. */
  readonly #seen = new Map<string, string>();
  readonly #replacement: Replacement | null;
  readonly #complete = new WeakMap<Values, Values>();
  /** Rows of the present chunk, whose keys all differ: they are written at its end. */
  readonly #changed: ChangedRow[] = [];

  constructor(run: PresentRun, rules: RowRules, replacement: Replacement | null) {
    const { file } = run.request;
    this.#run = run;
    this.#rules = rules;
    this.#replacement = replacement;
    this.#columns = [...file.header, ...run.mapping.derived.map(({ name }) => name)];
    if (file.leftOut !== undefined && file.leftOut.count > 0)
      this.findings[file.leftOut.reason] = file.leftOut.count;
    const { beside } = rules.dataset.file;
    const own = new Set([...rules.dataset.key, beside?.newest]);
    const others = Object.keys(beside?.dataset.columns ?? {}).filter((column) => !own.has(column));
    this.#besideFields = beside === undefined ? [] : [beside.newest, ...others];
    this.#named = new RunInstruments(run);
    this.#symbols = new SymbolsOnDays(run);
    this.#names = new OwnNames(run.writer, file.mapping.namesRoots);
    this.#notation = file.mapping.notation;
    this.#namings =
      rules.dataset === instruments
        ? [ofInstruments]
        : (rules.dataset.file.names ?? []).filter(({ isOwn }) => isOwn !== true);
  }

  /** True if the file has a row of a key. */
  readonly holds = (rowKey: string): boolean => this.#seen.has(rowKey);

  /** The report of a pass that has ended. */
  result(): RunResult {
    return {
      rowsRead: this.rowsRead,
      rowsWritten: this.rowsWritten,
      rowsReplaced: this.rowsWritten - this.newRows,
      newInstruments: this.#rules.dataset === instruments ? this.newRows : this.#named.created,
      findings: { ...this.findings, ...this.#names.findings() },
    };
  }

  chunks(): AsyncGenerator<Chunk> {
    const { request, mapping } = this.#run;
    const plan = { texts: this.#columns, numbers: [], careful: true, derived: mapping.derived };
    return readChunks(request.file, plan);
  }

  /** The values of the rows whose cells are all valid. */
  async *validRows(): AsyncGenerator<Values> {
    for await (const chunk of this.chunks())
      for (let row = 0; row < chunk.count; row++) {
        const parsed = this.#parse(chunk, row);
        if ('values' in parsed) yield parsed.values;
      }
  }

  async add(chunk: Chunk): Promise<void> {
    const parsed = await this.#withOwnSymbols(
      Array.from({ length: chunk.count }, (_, row) => this.#parse(chunk, row)),
    );
    await this.#lookUp(parsed);
    for (const [row, one] of parsed.entries()) await this.#addRow(chunk, row, one);
    await this.#writeChanged();
  }

  /** Looks up what is stored of rows, together, and of the instruments that they name. */
  async #lookUp(rows: readonly Parsed[]): Promise<void> {
    const { dataset } = this.#rules;
    const sound = rows.flatMap((row) => ('reason' in row ? [] : [this.#completed(row.values)]));
    this.#known = await this.#storedOf(dataset, sound);
    const { beside } = dataset.file;
    if (beside !== undefined)
      this.#knownBeside = await this.#storedOf(beside.dataset, sound.filter(this.#hasBeside));
    const isNew = (values: Values): boolean => this.#known.get(rowKeyOf(dataset, values)) === null;
    const names =
      dataset === instruments
        ? (sound.filter(isNew) as unknown as InstrumentName[])
        : sound.flatMap((values) => namedBy(dataset, values).map(({ name }) => name));
    const dated = sound.flatMap((values) => namedOnDay(dataset, values)?.name ?? []);
    const unknown = dated.filter((name) => !this.#symbols.has(name));
    const found = await this.#named.lookUp([...names.filter((name) => !this.#named.has(name)), ...unknown]);
    await this.#symbols.keep(unknown, found);
  }

  async #storedOf(dataset: Dataset, rows: readonly Values[]): Promise<StoredRows> {
    const keys = [...new Set(rows.map((values) => rowKeyOf(dataset, values)))];
    const places = keys.map((key) => valuesOfKey(dataset, key));
    const stored = await rowsWith(this.#run.writer, dataset, places);
    return new Map(keys.map((key, at) => [key, stored[at]!]));
  }

  /** True if a row of the file has one beside it. */
  readonly #hasBeside = (values: Values): boolean =>
    this.#besideFields.some((field, at) => at > 0 && values[field] !== undefined);

  async #addRow(chunk: Chunk, row: number, parsed: Parsed): Promise<void> {
    this.rowsRead++;
    const problem = 'reason' in parsed ? parsed : await this.#store(parsed.values);
    if (problem === null) return;
    this.#run.refused.add(chunk, row, problem);
  }

  readonly #warn = (finding: string): void => {
    this.findings[finding] = (this.findings[finding] ?? 0) + 1;
  };

  /** Counts a cell that is left out; the first one of its column is named. */
  #warnOfOdd(column: string, said: string, text: string): void {
    const finding = this.#odd.get(column) ?? oddFinding(said, text);
    this.#odd.set(column, finding);
    this.#warn(finding);
  }

  /** The values of a row, by field, without those of empty cells. */
  #parse(chunk: Chunk, row: number): Parsed {
    if (chunk.surplus?.isNull(row) === false)
      return { column: 'row', reason: 'has more cells than the header has columns' };
    const values: Record<string, unknown> = {};
    const written: Record<string, string> = {};
    const { mapping } = this.#run;
    const { cells, particulars } = this.#rules;
    const isNaming = (field: string): boolean => this.#namings.some(({ symbol }) => symbol === field);
    for (const [field, { isRequired }] of Object.entries(this.#rules.dataset.file.fields)) {
      const column = mapping.columns.get(field);
      const cell = column === undefined ? null : chunk.texts[this.#columns.indexOf(column)]!.text(row);
      const { parse, reason, isExact, isNumber } = cells[field]!;
      // A required text, such as a title, is what it says.
      const said = isRequired && isExact ? (cell ?? '').trim() : cellText(cell ?? '', isRequired);
      const bare = mapping.values.get(field) ?? said;
      const text = isExact && bare !== '' ? (cell ?? bare) : bare;
      const at = column ?? field;
      if (text === '') {
        if (isRequired) return { column: at, reason: 'is missing' };
        continue;
      }
      const unmade = text.startsWith(UNMADE) ? mapping.derived.find(({ name }) => name === at) : undefined;
      const leftOut = mapping.leftOut.get(at);
      if (unmade !== undefined && leftOut === undefined) return { column: at, reason: unmade.reason };
      const read = unmade === undefined ? parse(text) : undefined;
      const value = read ?? (isNaming(field) ? (parseSpacedSymbol(text) ?? undefined) : undefined);
      // Where no text, `NA` is a missing value, as R writes it.
      const isMissing = bare === 'NA' || isInfinite(this.#run.request.file.format, text);
      if (value === undefined && isMissing && !isRequired) continue;
      // A number that the field cannot have refuses its row.
      if (value === undefined && leftOut?.takes(text) && !(isNumber && numberOf(text) !== null)) {
        this.#warnOfOdd(at, leftOut.finding, text);
        continue;
      }
      if (value === undefined) return { column: at, reason: unmade?.reason ?? reason };
      values[field] = value;
      written[field] = text;
    }
    const { ties = [] } = particulars;
    if (ties.some((field) => mapping.columns.has(field) && values[field] === undefined))
      for (const field of ties) if (mapping.values.has(field)) delete values[field];
    for (const naming of this.#namings) {
      const name = nameIn(values, naming);
      if (name === null) continue;
      const { symbol: field } = naming;
      const ours = readNotation(name, written[field]!, this.#notation);
      if (ours !== written[field]) values[field] = parseSymbol(ours);
    }
    return particulars.problemOf?.(values, (field) => written[field]!) ?? { values, written };
  }

  /** Rows with the symbols that the instruments which they name have. */
  async #withOwnSymbols(rows: readonly Parsed[]): Promise<Parsed[]> {
    const namesIn = ({ values }: { values: Values }) =>
      this.#namings.flatMap((naming) => {
        const name = nameIn(values, naming);
        return name === null ? [] : [{ field: naming.symbol, name }];
      });
    await this.#names.lookUp(
      rows.flatMap((row) => ('reason' in row ? [] : namesIn(row).map(({ name }) => name))),
    );
    return rows.map((row) => {
      if ('reason' in row) return row;
      const values: Record<string, unknown> = { ...row.values };
      for (const { field, name } of namesIn(row)) {
        const own = this.#names.of(name);
        if ('reason' in own) return { column: this.#run.mapping.columns.get(field) ?? field, ...own };
        values[field] = own.symbol;
        this.#names.count(row.written[field]!, own.symbol);
      }
      return { ...row, values };
    });
  }

  /** The values with the present symbol of the instrument that they are about. */
  async #withPresentSymbol(values: Values): Promise<RowProblem | { readonly values: Values }> {
    const named = namedOnDay(this.#rules.dataset, values);
    if (named === null) return { values };
    const { column, name, day } = named;
    const owner = (await this.#symbols.of(name)).on(day);
    if ('reason' in owner) return { column: this.#run.mapping.columns.get(column) ?? column, ...owner };
    return { values: owner.symbol === name.symbol ? values : { ...values, [column]: owner.symbol } };
  }

  /** The values with those that follow from them: made once, as the id of news is a digest. */
  #completed(values: Values): Values {
    const made = this.#complete.get(values) ?? this.#rules.particulars.complete?.(values) ?? values;
    this.#complete.set(values, made);
    return made;
  }

  /**
   * The values under a key that no other row of the file has; `known` where the file has equal ones already,
   * else `repeated`.
   */
  #place(values: Values): Values | 'known' | 'repeated' {
    const { dataset, particulars } = this.#rules;
    const digest = digestOf(this.#withoutBeside(values));
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

  #withoutBeside(values: Values): Values {
    if (this.#besideFields.length === 0) return values;
    return Object.fromEntries(
      Object.entries(values).filter(([field]) => !this.#besideFields.includes(field)),
    );
  }

  /** Stores a row; why it is refused, or null. */
  async #store(values: Values): Promise<RowProblem | null> {
    const present = await this.#withPresentSymbol(values);
    if ('reason' in present) return present;
    const placed = this.#place(present.values);
    if (placed === 'repeated') return this.#rules.dataset.file.repeated;
    if (placed === 'known') return this.#addBeside(this.#completed(present.values), false);
    const problem = await this.#write(placed);
    // A refused row takes its key from no other row.
    if (problem !== null) this.#seen.delete(rowKeyOf(this.#rules.dataset, this.#completed(placed)));
    return problem;
  }

  /** Writes the row of some values, unless an equal one is stored; why it is refused, or null. */
  async #write(values: Values): Promise<RowProblem | null> {
    const { dataset, particulars } = this.#rules;
    const completed = this.#completed(values);
    // The key may be another than that of the row's own values.
    const key = rowKeyOf(dataset, completed);
    const known = await this.#knownOf(dataset, this.#known, key);
    const problem = (await particulars.problemBeside?.(values, known, this.#run.writer)) ?? null;
    if (problem !== null) return problem;
    // The instruments that the row names are made where the store does not know them (contract 8.9, 11).
    if (particulars.rowOf === undefined)
      for (const { name, exchange } of namedBy(dataset, completed)) await this.#named.of(name, {}, exchange);
    const findings = particulars.findingOf?.(completed, this.#run.writer, this.#run.startedMs) ?? [];
    for (const finding of [(await unlessDamaged(findings)) ?? []].flat()) this.#warn(finding);
    const context = { named: this.#named, warn: this.#warn };
    const filled = (await particulars.rowOf?.(values, known, context)) ?? completed;
    // Equal rows are equal texts.
    const row = rowWithValues<Dataset>(dataset, filled);
    this.#replacement?.add(row);
    const text = JSON.stringify(row);
    const isWritten = known === null || JSON.stringify(known) !== text;
    await this.#named.settle(isWritten);
    if (isWritten) this.#changed.push({ dataset, known, row, isCounted: true, isRecorded: false });
    else this.#held.add(text);
    return this.#addBeside(completed, isWritten);
  }

  async #knownOf(dataset: Dataset, known: StoredRows, key: string): Promise<RowOf<Dataset> | null> {
    const found = known.get(key);
    return found === undefined ? rowWith(this.#run.writer, dataset, valuesOfKey(dataset, key)) : found;
  }

  /**
   * Takes the row beside one, unless the file has a newer one; why it is refused, or null. `isCounted`: the
   * report counts the row.
   */
  #addBeside(values: Values, isCounted: boolean): RowProblem | null {
    const { beside, repeated } = this.#rules.dataset.file;
    if (beside === undefined || !this.#hasBeside(values)) return null;
    const key = rowKeyOf(beside.dataset, values);
    const row = rowWithValues(beside.dataset, values);
    const [moment, digest] = [momentOf(beside, row), digestOf(row)];
    const seen = this.#seenBeside.get(key) ?? { isCounted, isRecorded: false };
    if ('moment' in seen && moment <= seen.moment)
      return moment < seen.moment || digest === seen.digest ? null : repeated;
    this.#seenBeside.set(key, { ...seen, moment, digest });
    this.#beside.set(key, row);
    return null;
  }

  /** Compares the rows beside those of the chunk with the stored ones, of which newer ones stay. */
  async #settleBeside(): Promise<void> {
    const { beside } = this.#rules.dataset.file;
    if (beside === undefined) return;
    const { dataset } = beside;
    for (const [key, row] of this.#beside) {
      const known = await this.#knownOf(dataset, this.#knownBeside, key);
      if (known !== null && momentOf(beside, row) < momentOf(beside, known)) continue;
      const text = JSON.stringify(row);
      if (known !== null && JSON.stringify(known) === text) {
        this.#heldBeside.add(text);
        continue;
      }
      const seen = this.#seenBeside.get(key)!;
      this.#changed.push({ dataset, known, row, isCounted: !seen.isCounted, isRecorded: seen.isRecorded });
      [seen.isCounted, seen.isRecorded] = [true, true];
    }
    this.#beside.clear();
  }

  /** Records which rows the run held as they were stored. */
  async writeHeld(): Promise<void> {
    const { writer, runId } = this.#run;
    const { dataset } = this.#rules;
    await this.#held.write(writer, runId, dataset);
    const { beside } = dataset.file;
    if (beside !== undefined) await this.#heldBeside.write(writer, runId, beside.dataset);
  }

  /** Writes the rows of a chunk that are new or other than the stored ones. */
  async #writeChanged(): Promise<void> {
    const { dataset } = this.#rules;
    await this.#settleBeside();
    const changed = this.#changed.splice(0);
    const counted = changed.filter(({ isCounted }) => isCounted);
    this.rowsWritten += counted.length;
    this.newRows += counted.filter((one) => one.dataset === dataset && one.known === null).length;
    const replacing = counted.filter(({ known }) => known !== null);
    for (const [of, some] of Map.groupBy(replacing, (one) => one.dataset))
      await this.#run.former.addRows(
        of,
        some.map(({ row }) => row),
      );
    const { writer, runId } = this.#run;
    for (const [of, some] of Map.groupBy(changed, (one) => one.dataset)) {
      const rowsThat = (recorded: boolean) =>
        some.flatMap(({ isRecorded, known: before, row: after }) =>
          isRecorded === recorded ? [{ before, after }] : [],
        );
      await changeRowsFirst(writer, runId, of, rowsThat(false));
      await putRows(writer, of, rowsThat(true));
    }
  }
}
