// One pass over the rows of a file: parses and checks them, finds the instruments that they name, and writes
// those that differ.
import { hash } from 'node:crypto';
import { cellText, numberOf } from '../../base/decimal.ts';
import { parseSpacedSymbol, parseSymbol } from '../../contract/identifiers.ts';
import { HeldRows } from '../../runs/held-rows.ts';
import { changeRows } from '../../runs/journal.ts';
import { namedBy, namedOnDay, nameIn } from '../../runs/naming.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import { rowsWith, rowWith } from '../../store/all-rows.ts';
import { unlessDamaged } from '../../store/damage.ts';
import { rowKeyOf, valuesOfKey } from '../../store/journal-entries.ts';
import type { Beside, Dataset, FieldRule, Naming, RowOf, Values } from '../../store/schema/dataset.ts';
import type { FileDataset } from '../../store/schema/index.ts';
import { type Notation, readNotation } from '../../store/schema/notations.ts';
import { type InstrumentName, instruments } from '../../store/schema/reference.ts';
import type { FieldSources } from '../map/column-mapping.ts';
import type { Chunk } from '../read/chunk.ts';
import { readChunks } from '../read/read.ts';
import { isInfinite, oddFinding, UNMADE } from '../read/scan.ts';
import { OwnNames } from './own-names.ts';
import { type Particulars, rowWithValues } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';
import type { Replacement } from './replacement.ts';
import type { PresentRun, RunResult } from './run.ts';
import { RunInstruments } from './run-instruments.ts';
import { type SymbolOnDays, SymbolsOnDays } from './symbols-on-days.ts';

/** The rules by which the rows of one file are read. */
export type RowRules = {
  readonly dataset: FileDataset;
  readonly particulars: Particulars;
  /** By field. */
  readonly cells: Readonly<Record<string, FieldRule>>;
};

/** The values of a row, with the symbols that the file writes by their columns; or why it has none. */
type Parsed = RowProblem | { readonly values: Values; readonly written: Readonly<Record<string, string>> };

/** A row whose cells are valid, with what follows from its values; `key` is that of the stored row. */
function soundRow({ dataset, particulars }: RowRules, values: Values) {
  const completed = particulars.complete?.(values) ?? values;
  const named = namedBy(dataset, completed);
  const [key, dated] = [rowKeyOf(dataset, completed), namedOnDay(dataset, completed)];
  return { values, completed, key, named, dated };
}

type SoundRow = ReturnType<typeof soundRow>;

/** The rule of each field's cells: `place` is that of its column, `at` is the name that a refusal has. */
const fieldPlans = ({ dataset, cells }: RowRules, mapping: FieldSources, header: readonly string[]) =>
  Object.entries(dataset.file.fields).map(([field, { isRequired = false }]) => {
    const column = mapping.columns.get(field);
    const at = column ?? field;
    const unmade = mapping.derived.find(({ name }) => name === at);
    const place = column === undefined ? null : header.indexOf(column);
    return { field, isRequired, at, place, rule: cells[field]!, unmade };
  });

/** How a row of instruments names its own. */
const ofInstruments: Naming = { assetSchema: { column: 'asset_schema' }, symbol: 'symbol' };

/** The stored rows of one dataset by key, null where there is none. */
type StoredRows = ReadonlyMap<string, RowOf<Dataset> | null>;

/** A row that differs from the stored one of its key. */
type RowToWrite = {
  readonly dataset: Dataset;
  readonly before: RowOf<Dataset> | null;
  readonly after: RowOf<Dataset>;
  /** The run has changed it before. */
  readonly isRecorded: boolean;
  /** The report counts the row of the file by this one: by the row beside it where only that is another. */
  readonly isCounted: boolean;
};

/** The newest row beside one in the file; whether the report counts it or the row, and the run wrote it. */
type SeenBeside = {
  readonly moment: number;
  readonly digest: string;
  isCounted: boolean;
  isRecorded: boolean;
};

/** The names that are wanted, each once. */
const distinct = (
  names: readonly InstrumentName[],
  isWanted: (name: InstrumentName) => boolean = () => true,
): InstrumentName[] => [...new Map(names.filter(isWanted).map((name) => [nameOf(name), name])).values()];

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
  /** Each of them undefined, so that a digest leaves it out. */
  readonly #noneBeside: Values;
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
  readonly #fields: ReturnType<typeof fieldPlans>;
  /** True if the dataset had no row before the pass, which writes each key once: none is looked up. */
  #wasEmpty: boolean | null = null;
  /** Rows of the present chunk, whose keys all differ: they are written at its end. */
  readonly #changed: RowToWrite[] = [];

  constructor(run: PresentRun, rules: RowRules, replacement: Replacement | null) {
    const { file } = run.request;
    this.#run = run;
    this.#rules = rules;
    this.#replacement = replacement;
    this.#columns = [...file.header, ...run.mapping.derived.map(({ name }) => name)];
    const { beside } = rules.dataset.file;
    const own = new Set([...rules.dataset.key, beside?.newest]);
    const others = Object.keys(beside?.dataset.columns ?? {}).filter((column) => !own.has(column));
    this.#besideFields = beside === undefined ? [] : [beside.newest, ...others];
    this.#noneBeside = Object.fromEntries(this.#besideFields.map((field) => [field, undefined]));
    this.#named = new RunInstruments(run);
    this.#symbols = new SymbolsOnDays(run);
    this.#names = new OwnNames(run.writer, file.mapping.namesRoots);
    this.#notation = file.mapping.notation;
    this.#namings =
      rules.dataset === instruments
        ? [ofInstruments]
        : (rules.dataset.file.names ?? []).filter(({ isOwn }) => isOwn !== true);
    this.#fields = fieldPlans(rules, run.mapping, this.#columns);
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
    const parsed = Array.from({ length: chunk.count }, (_, row) => this.#parse(chunk, row));
    const rows = (await this.#withOwnSymbols(parsed)).map((row) =>
      'reason' in row ? row : soundRow(this.#rules, row.values),
    );
    await this.#lookUp(rows.flatMap((row) => ('reason' in row ? [] : [row])));
    for (const [at, row] of rows.entries()) {
      this.rowsRead++;
      const problem = 'reason' in row ? row : await this.#store(row);
      if (problem !== null) this.#run.refused.add(chunk, at, problem);
    }
    await this.#writeChanged();
  }

  /** Looks up what is stored of rows, together, and of the instruments that they name. */
  async #lookUp(rows: readonly SoundRow[]): Promise<void> {
    const { dataset } = this.#rules;
    const keys = rows.map(({ key }) => key);
    // In the order of the whole key, whose index the look-ups read: another one may have lost its rows.
    const first = { order: dataset.key.map((column) => [column, 'asc'] as const), limit: 1 };
    this.#wasEmpty ??= (await unlessDamaged(this.#run.writer.rows<Dataset>(dataset, first)))?.length === 0;
    this.#known = this.#wasEmpty
      ? new Map(keys.map((key) => [key, null]))
      : await this.#storedOf(dataset, keys);
    const { beside } = dataset.file;
    if (beside !== undefined)
      this.#knownBeside = await this.#storedOf(
        beside.dataset,
        rows.flatMap(({ completed }) =>
          this.#hasBeside(completed) ? [rowKeyOf(beside.dataset, completed)] : [],
        ),
      );
    const names =
      dataset === instruments
        ? rows.flatMap(({ key, completed }) =>
            this.#known.get(key) === null ? [completed as unknown as InstrumentName] : [],
          )
        : rows.flatMap(({ named }) => named.map(({ name }) => name));
    const unknown = distinct(
      rows.flatMap(({ dated }) => dated?.name ?? []),
      (name) => this.#symbols.known(name) === undefined,
    );
    const unread = distinct(names, (name) => !this.#named.has(name));
    await this.#symbols.keep(unknown, await this.#named.lookUp([...unread, ...unknown]));
  }

  async #storedOf(dataset: Dataset, all: readonly string[]): Promise<StoredRows> {
    const keys = [...new Set(all)];
    const places = keys.map((key) => valuesOfKey(dataset, key));
    const stored = await rowsWith(this.#run.writer, dataset, places);
    return new Map(keys.map((key, at) => [key, stored[at]!]));
  }

  /** True if a row of the file has one beside it. */
  readonly #hasBeside = (values: Values): boolean =>
    this.#besideFields.some((field, at) => at > 0 && values[field] !== undefined);

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
    const { particulars } = this.#rules;
    for (const { field, isRequired, place, at, rule, unmade } of this.#fields) {
      const [given, leftOut] = [mapping.values.get(field), mapping.leftOut.get(at)];
      if (place === null && given === undefined && !isRequired) continue;
      const cell = place === null ? null : chunk.texts[place]!.text(row);
      const { isExact, isNumber } = rule;
      // A required text, such as a title, is what it says.
      const bare = given ?? (isRequired && isExact ? (cell ?? '').trim() : cellText(cell ?? '', isRequired));
      const text = isExact && bare !== '' ? (cell ?? bare) : bare;
      if (text === '') {
        if (isRequired) return { column: at, reason: 'is missing' };
        continue;
      }
      const isUnmade = unmade !== undefined && text.startsWith(UNMADE);
      if (isUnmade && leftOut === undefined) return { column: at, reason: unmade.reason };
      const read = isUnmade ? undefined : rule.parse(text);
      const isNaming = read === undefined && this.#namings.some(({ symbol }) => symbol === field);
      const value = read ?? (isNaming ? (parseSpacedSymbol(text) ?? undefined) : undefined);
      if (value === undefined) {
        // `NA` is a missing value but in texts, as R writes it.
        const isMissing = bare === 'NA' || isInfinite(this.#run.request.file.format, text);
        if (isMissing && !isRequired) continue;
        // A number that the field cannot have refuses its row.
        if (!leftOut?.takes(text) || (isNumber && numberOf(text) !== null))
          return { column: at, reason: (isUnmade ? unmade : rule).reason };
        this.#warnOfOdd(at, leftOut.finding, text);
        continue;
      }
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
      distinct(rows.flatMap((row) => ('reason' in row ? [] : namesIn(row).map(({ name }) => name)))),
    );
    return rows.map((row) => {
      if ('reason' in row) return row;
      let { values } = row;
      for (const { field, name } of namesIn(row)) {
        const own = this.#names.of(name);
        if ('reason' in own) return { column: this.#run.mapping.columns.get(field) ?? field, ...own };
        if (own.symbol !== name.symbol) values = { ...values, [field]: own.symbol };
        this.#names.count(row.written[field]!, own.symbol);
      }
      return { ...row, values };
    });
  }

  /** The row with the present symbol of the instrument that it is about. */
  async #withPresentSymbol(row: SoundRow): Promise<RowProblem | SoundRow> {
    if (row.dated === null) return row;
    const { column, name, day } = row.dated;
    const owner = (this.#symbols.known(name) ?? (await this.#lateSymbol(name))).on(day);
    if ('reason' in owner) return { column: this.#run.mapping.columns.get(column) ?? column, ...owner };
    return owner.symbol === name.symbol
      ? row
      : soundRow(this.#rules, { ...row.values, [column]: owner.symbol });
  }

  /** A symbol whose knowledge was dropped after the chunk's names were looked up: there were too many. */
  async #lateSymbol(name: InstrumentName): Promise<SymbolOnDays> {
    await this.#named.writeRecorded();
    return this.#symbols.of(name);
  }

  /**
   * The row under a key that no other row of the file has; `known` where the file has an equal one already,
   * else `repeated`.
   */
  #place(row: SoundRow): SoundRow | 'known' | 'repeated' {
    const digest = digestOf({ ...row.values, ...this.#noneBeside });
    for (let [place, placed] = [1, row]; ; ) {
      const before = this.#seen.get(placed.key);
      if (before === digest) return 'known';
      if (before === undefined) {
        this.#seen.set(placed.key, digest);
        return placed;
      }
      const following = this.#rules.particulars.followingOf?.(row.values, ++place) ?? null;
      if (following === null) return 'repeated';
      placed = soundRow(this.#rules, following);
    }
  }

  /** Stores a row; why it is refused, or null. */
  async #store(row: SoundRow): Promise<RowProblem | null> {
    const present = await this.#withPresentSymbol(row);
    if ('reason' in present) return present;
    const placed = this.#place(present);
    if (placed === 'repeated') return this.#rules.dataset.file.repeated;
    if (placed === 'known') return this.#addBeside(present.completed, false);
    const problem = await this.#write(placed);
    // A refused row takes its key from no other row.
    if (problem !== null) this.#seen.delete(placed.key);
    return problem;
  }

  /** Writes a row, unless an equal one is stored; why it is refused, or null. */
  async #write({ values, completed, key, named }: SoundRow): Promise<RowProblem | null> {
    const { dataset, particulars } = this.#rules;
    // The key may be another than that of the row's own values.
    const known = await this.#knownOf(dataset, this.#known, key);
    const problem = (await particulars.problemBeside?.(values, known, this.#run.writer)) ?? null;
    if (problem !== null) return problem;
    // The instruments that the row names are made where the store does not know them (contract 8.9, 11).
    if (particulars.rowOf === undefined)
      for (const { name, exchange } of named)
        if (!this.#named.has(name)) await this.#named.of(name, {}, exchange);
    const findings = particulars.findingOf?.(completed, this.#run.writer, this.#run.startedMs) ?? [];
    for (const finding of [(await unlessDamaged(findings)) ?? []].flat()) this.#warn(finding);
    const context = { named: this.#named, warn: this.#warn };
    const filled = (await particulars.rowOf?.(values, known, context)) ?? completed;
    // Equal rows are equal texts.
    const row = rowWithValues<Dataset>(dataset, filled);
    this.#replacement?.add(row);
    const text = known === null ? null : JSON.stringify(row);
    const isWritten = text === null || JSON.stringify(known) !== text;
    await this.#named.settle(isWritten);
    if (isWritten)
      this.#changed.push({ dataset, before: known, after: row, isCounted: true, isRecorded: false });
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
      const { isCounted, isRecorded } = seen;
      this.#changed.push({ dataset, before: known, after: row, isCounted: !isCounted, isRecorded });
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
    await this.#named.writeRecorded();
    const changed = this.#changed.splice(0);
    const counted = changed.filter(({ isCounted }) => isCounted);
    this.rowsWritten += counted.length;
    this.newRows += counted.filter((one) => one.dataset === dataset && one.before === null).length;
    const replacing = counted.filter(({ before }) => before !== null);
    for (const [of, some] of Map.groupBy(replacing, (one) => one.dataset))
      await this.#run.former.addRows(
        of,
        some.map(({ after }) => after),
      );
    for (const [of, some] of Map.groupBy(changed, (one) => one.dataset))
      await changeRows(this.#run.writer, this.#run.runId, of, some);
  }
}
