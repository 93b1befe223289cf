// One call of `bourse import`: its files are imported in groups, each group in one write, or explained, and
// reported; the exit status is that of all.
import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ImportGroup, writeGroup } from '../../imports/load/import-group.ts';
import { importFile, importInto, requestOf } from '../../imports/load/importers.ts';
import type { ImportedCommand, ImportReport, RecordedFlags } from '../../imports/load/run.ts';
import { runOfFile } from '../../imports/load/watched-file.ts';
import type { ChooseMapping, MappedFile } from '../../imports/map/column-mapping.ts';
import { explainFile } from '../../imports/map/explain-file.ts';
import { FileProblem } from '../../imports/read/file-problem.ts';
import { STANDARD_INPUT } from '../../imports/read/inputs.ts';
import { holdReader } from '../../imports/read/reader-process.ts';
import { openSources } from '../../imports/read/source.ts';
import { spool } from '../../imports/read/spool.ts';
import { historyLimits } from '../../runs/recorded-write.ts';
import { DamagedData } from '../../store/damage.ts';
import { engineAt, openStore } from '../../store/engines.ts';
import { BARS } from '../../store/schema/index.ts';
import { type Reader, type Store, StoreUnusable } from '../../store/store.ts';
import { closing, openToWrite } from '../shared/opened-store.ts';
import { count, note, noteWait, print, withProgress } from '../shared/output.ts';
import { EXIT_PARTLY, printProblem } from '../shared/problem.ts';
import { type ImportFlags, type readImportFlags, writeMap } from './import-flags.ts';
import { describeExplained, describeImport, tellFindings } from './import-words.ts';
import { clearFailures, type OnTaken, recordFailure, skipText, UNFINISHED } from './watch.ts';

/** A name on the command line, or of a watched folder, and why not all of it was imported. */
type NamedInput = { readonly name: string; readonly problems: string[] };

/** A step of opening the files of some names, in order. */
type Step =
  /**
   * The file at a place of a name: an archive has several. `openedMs` is a moment before it was read. Whoever
   * takes it closes it.
   */
  | {
      readonly kind: 'file';
      readonly of: NamedInput;
      readonly place: number;
      readonly file: MappedFile;
      readonly openedMs: number;
    }
  /** The file at a place cannot be opened. */
  | { readonly kind: 'problem'; readonly of: NamedInput; readonly place: number; readonly error: FileProblem }
  /** All files of a name have been given. */
  | { readonly kind: 'end'; readonly of: NamedInput };

/** Some files of a name: places `from` to `to`, both included. */
type Places = { readonly of: NamedInput; readonly from: number; readonly to: number };

/** A file, or a packed one, is opened in some milliseconds up to this size. */
const LARGE_BYTES = 1024 * 1024;

const isLarge = (name: string): boolean =>
  name === STANDARD_INPUT || (statSync(name, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES;

/** Names whose files may be in one group: opening those of a large one takes long, so it is by itself. */
async function* batchesOf(
  names: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for await (const name of names) {
    if (batch.length === historyLimits.groupFilesMax || (batch.length > 0 && isLarge(name))) {
      yield batch;
      batch = [];
    }
    if (isLarge(name)) yield [name];
    else batch.push(name);
  }
  if (batch.length > 0) yield batch;
}

/** Opens the files of some names, until `stop`. */
async function* stepsOf(
  names: readonly string[],
  choose: ChooseMapping,
  stop?: AbortSignal,
): AsyncGenerator<Step> {
  for (const name of names) {
    if (stop?.aborted) return;
    const of = { name, problems: [] };
    yield* filesOf({ of, from: 0, to: Number.POSITIVE_INFINITY }, choose);
    yield { kind: 'end', of };
  }
}

/** Opens the files at some places again. */
async function* filesOf({ of, from, to }: Places, choose: ChooseMapping): AsyncGenerator<Step> {
  let place = -1;
  const openedMs = Date.now();
  try {
    for await (const opened of openSources(of.name, process.stdin, choose)) {
      place++;
      if (opened instanceof FileProblem) {
        if (place >= from) yield { kind: 'problem', of, place, error: opened };
      } else if (place >= from) yield { kind: 'file', of, place, file: opened, openedMs };
      else await opened.close();
      if (place >= to) return;
    }
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    yield { kind: 'problem', of, place: place + 1, error };
  }
}

/** A message about a file without the file's path: the path is printed beside it. */
const withoutPath = (message: string, path: string): string =>
  message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;

/** The facts that all files of one call have in common. */
type Call = {
  readonly dataset: string;
  readonly choose: ChooseMapping;
  readonly storeUrl: string;
  readonly flags: ImportFlags;
  readonly given: ReturnType<typeof readImportFlags>;
  readonly recordedFlags: RecordedFlags;
};

/** The numbers of rows that are summed over several files. */
const summed = ['rowsNew', 'rowsReplaced', 'rowsUnchanged', 'rowsRefused'] as const;

type FileStep = Extract<Step, { kind: 'file' }>;

/** What a step of a group comes to: `settle` once the group is durable, `drop` where it was undone. */
type Outcome = { settle: () => void; readonly drop?: () => void };

/**
 * The modes of an import: into the store; as a dry run; or to be explained, which touches no store that it
 * would change.
 */
type ImportMode = 'import' | 'dry run' | 'explain';

/** Whether a store can be opened for writing as it is, without an update of its layout. */
async function isReady(url: string): Promise<boolean> {
  try {
    for (const mode of ['inspect', 'write'] as const) await (await openStore(url, mode)).close();
    return true;
  } catch (error) {
    if (error instanceof StoreUnusable) return false;
    throw error;
  }
}

/**
 * Opens the store of an import. Without one, a dry run gets a temporary store, which is removed when it is
 * closed.
 */
async function openForImport(url: string, mode: ImportMode): Promise<Store> {
  const isUsed =
    mode === 'import' || ((await engineAt(url).isMade()) && (mode === 'dry run' || (await isReady(url))));
  if (isUsed) return openToWrite(url, note);
  const { filled: store, close } = await spool(0, (folder) =>
    openStore(`sqlite:${join(folder, 'trial.db')}`, 'write'),
  );
  return {
    ...store,
    async close() {
      await store.close();
      await close();
    },
  };
}

/** One call of the command: each file is an import of its own, and a bad one does not keep the others out. */
class ImportCall {
  readonly #call: Call;
  readonly #command: ImportedCommand = { firstRun: null };
  /** Is told of each name whose files have been taken, and why not all of them were imported, or null. */
  readonly #onTaken: OnTaken;
  /** Opened, and made where there is none, only when there is a file to import. */
  #store: Store | null = null;
  readonly #reports: ImportReport[] = [];
  #failed = 0;
  /** The exit status of the worst file. */
  #worst = 0;
  /** Names whose files have been taken, and which nobody has been told of. */
  readonly #ended: NamedInput[] = [];
  /** The full paths of files of a watch that are recorded as begun. */
  readonly #begun = new Set<string>();

  constructor(call: Call, onTaken: OnTaken) {
    this.#call = call;
    this.#onTaken = onTaken;
  }

  async take(names: AsyncIterable<string> | Iterable<string>, stop?: AbortSignal): Promise<void> {
    const releaseReader = holdReader();
    try {
      for await (const batch of batchesOf(names)) {
        if (this.#call.flags.watch !== undefined) await this.#begin(batch);
        try {
          await this.#takeBatch(batch, stop);
        } finally {
          await this.#forgetBegun();
        }
      }
    } finally {
      releaseReader();
    }
  }

  /**
   * Records the files of a watch as failed before they are read: one that ends the process is known when the
   * watch starts again.
   */
  async #begin(names: readonly string[]): Promise<void> {
    const { dataset, storeUrl } = this.#call;
    for (const name of names) this.#begun.add(resolve(name));
    this.#store ??= await openForImport(storeUrl, 'import');
    await recordFailure(this.#store, dataset, UNFINISHED, [...this.#begun]);
  }

  /**
   * Removes the record of files that a stopped watch has not come to. Where the store is away it stays, and
   * the next start tells.
   */
  async #forgetBegun(): Promise<void> {
    const paths = [...this.#begun];
    this.#begun.clear();
    if (paths.length > 0) await clearFailures(this.#store!, this.#call.dataset, paths).catch(() => undefined);
  }

  async #takeBatch(names: readonly string[], stop: AbortSignal | undefined): Promise<void> {
    const steps = stepsOf(names, this.#call.choose, stop);
    const next = async (): Promise<Step | null> => {
      const { value, done } = await steps.next();
      return done === true ? null : value;
    };
    try {
      for (let step = await next(); step !== null; ) {
        if (step.kind === 'file' && !this.#call.flags.explain) step = await this.#takeGroup(step, next);
        else {
          await this.#takeAlone(step);
          step = await next();
        }
        await this.#tellEnded();
      }
    } finally {
      await steps.return(undefined);
    }
  }

  /** Takes a step that writes nothing. */
  async #takeAlone(step: Step): Promise<void> {
    if (step.kind === 'problem') this.#fail(step.of, step.error);
    if (step.kind === 'end') this.#ended.push(step.of);
    if (step.kind !== 'file') return;
    try {
      await closing(step.file, (file) => this.#explainFile(file));
    } catch (error) {
      this.#fail(step.of, error);
    }
  }

  /**
   * Imports a file, and those that `next` gives after it, in one write, up to the bounds of a group. Gives
   * the step that it has not taken, null where there is none. Files are opened outside the write where that
   * may take long: others wait for its end.
   */
  async #takeGroup(first: FileStep, next: () => Promise<Step | null>): Promise<Step | null> {
    const { storeUrl, flags } = this.#call;
    const taken: Step[] = [];
    const outcomes: Outcome[] = [];
    let following: Step | null | undefined;
    let unopened: { readonly error: unknown } | null = null;
    let isFull = false;
    const takeAll = async (group: ImportGroup): Promise<void> => {
      for (let step: Step = first; ; step = following) {
        taken.push(step);
        following = undefined;
        outcomes.push(await this.#outcomeOf(step, group));
        ({ isFull } = group);
        // Standard input cannot be read again, where its group must be.
        if (isFull || step.of.name === STANDARD_INPUT) return;
        following = await next().catch((error: unknown) => {
          unopened = { error };
          return null;
        });
        if (following === null) return;
      }
    };
    await closing(first.file, async () => {
      this.#store ??= await openForImport(storeUrl, flags.dryRun ? 'dry run' : 'import');
      try {
        await writeGroup(this.#store, takeAll, noteWait(this.#store));
      } catch (error) {
        for (const { drop } of outcomes) drop?.();
        if (taken.filter(({ kind }) => kind === 'file').length > 1) return this.#takeSingly(taken);
        outcomes[0] = { settle: () => this.#fail(first.of, error) };
      }
      for (const { settle } of outcomes) settle();
    });
    if (unopened !== null) throw (unopened as { readonly error: unknown }).error;
    if (following !== undefined) return following;
    if (isFull) await sleep(historyLimits.groupPauseMs);
    return next();
  }

  /**
   * Takes the steps of a group that was undone, each file in a write of its own: one of them, or all
   * together, cannot be written.
   */
  async #takeSingly(taken: readonly Step[]): Promise<void> {
    for (let at = 0; at < taken.length; at++) {
      const step = taken[at]!;
      if (step.kind !== 'file') {
        await this.#takeAlone(step);
        continue;
      }
      let last = step.place;
      for (let more = taken[at + 1]; more?.of === step.of && 'place' in more; more = taken[at + 1]) {
        last = more.place;
        at++;
      }
      for await (const again of filesOf({ of: step.of, from: step.place, to: last }, this.#call.choose)) {
        if (again.kind === 'file') await this.#takeGroup(again, async () => null);
        else await this.#takeAlone(again);
      }
    }
  }

  /** Imports the file of a step as one of a group. */
  async #outcomeOf(step: Step, group: ImportGroup): Promise<Outcome> {
    if (step.kind === 'end') return { settle: () => void this.#ended.push(step.of) };
    try {
      if (step.kind === 'problem') throw step.error;
      return await closing(step.file, (file) => this.#importFile(step, file, group));
    } catch (error) {
      if (!this.#isOfFile(error)) throw error;
      return { settle: () => this.#fail(step.of, error) };
    }
  }

  /**
   * Whether an error is of one file, and the write of its group can go on. In a watched folder how the call
   * was meant for other files may be wrong for one.
   */
  #isOfFile(error: unknown): error is FileProblem {
    return error instanceof FileProblem && (error.kind !== 'usage' || this.#call.flags.watch !== undefined);
  }

  /**
   * Reports why a file was not imported. Other files may not need damaged data. @throws an error that is of
   * no file
   */
  #fail({ problems }: NamedInput, error: unknown): void {
    if (!this.#isOfFile(error) && !(error instanceof DamagedData)) throw error;
    problems.push(error.message);
    this.#failed++;
    this.#worst = Math.max(this.#worst, printProblem(this.#call.flags, error));
  }

  /** Tells of the names whose files have been taken. */
  async #tellEnded(): Promise<void> {
    const ended = this.#ended.splice(0);
    const { dataset, flags } = this.#call;
    const done = ended.filter(({ problems }) => problems.length === 0).map(({ name }) => resolve(name));
    if (this.#store !== null && !flags.dryRun) await clearFailures(this.#store, dataset, done);
    for (const { name, problems } of ended) {
      this.#begun.delete(resolve(name));
      const [problem, ...others] = problems;
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      await this.#onTaken(name, problem === undefined ? null : withoutPath(problem, name) + more);
    }
  }

  #requestOf(opened: MappedFile) {
    const { flags, given } = this.#call;
    const { prices, volumes, symbols, label } = flags;
    const request = requestOf(opened, { zone: given.zone, prices, volumes, symbols, label });
    return { ...request, currency: given.currency, flags: given.fieldFlags };
  }

  /**
   * Prints how the file would be read, and what its import would refuse. One that cannot be imported fails as
   * its import would.
   */
  async #explainFile(opened: MappedFile): Promise<void> {
    const { dataset, flags, given } = this.#call;
    const { fields } = given;
    const { problem, ...explained } = await explainFile({ ...this.#requestOf(opened), fields });
    const written = flags.writeMap === undefined ? null : writeMap(dataset, opened, given, flags);
    const done = problem ?? (await this.#trialOf(opened));
    const isDone = !(done instanceof FileProblem);
    const { rowsRead = null, rowsRefused = null, refusals = [] } = isDone ? done : {};
    const record = { ...explained, rowsRead, rowsRefused, refusals, problem: isDone ? null : done.message };
    print(flags, record, describeExplained(explained, isDone ? done : null));
    if (written !== null) note(written);
    if (!isDone) throw done;
    this.#reports.push(done);
  }

  /** The report of a dry run that writes no file of refused rows, or why the file cannot be imported. */
  async #trialOf(opened: MappedFile): Promise<ImportReport | FileProblem> {
    try {
      this.#store ??= await openForImport(this.#call.storeUrl, 'explain');
      return await this.#trialIn(this.#store, opened);
    } catch (error) {
      if (error instanceof FileProblem && error.kind !== 'usage') return error;
      throw error;
    }
  }

  async #trialIn(store: Store, opened: MappedFile): Promise<ImportReport> {
    const request = { ...this.#importOf(opened), dryRun: true, keepsRefused: false };
    return importFile(store, this.#call.dataset, request, noteWait(store));
  }

  #importOf(opened: MappedFile) {
    const { flags, given, recordedFlags } = this.#call;
    const { completeFromMs, completeThroughMs, replace } = given;
    return {
      ...this.#requestOf(opened),
      dryRun: flags.dryRun === true,
      source: flags.source ?? null,
      ...{ completeFromMs, completeThroughMs, replace },
      command: this.#command,
      recordedFlags,
      nowMs: Date.now,
    };
  }

  async #importFile({ of, openedMs }: FileStep, opened: MappedFile, group: ImportGroup): Promise<Outcome> {
    const { dataset } = this.#call;
    const skipped = await this.#skippedBy(opened, group.writer);
    if (skipped !== null) return { settle: () => note(skipText(opened.name, skipped)) };
    const { settle, drop } = await withProgress(opened, ({ reached }) =>
      importInto(group, dataset, { ...this.#importOf(opened), openedMs, onRows: reached }),
    );
    return { settle: () => this.#report(of, opened, settle()), drop };
  }

  #report({ problems }: NamedInput, opened: MappedFile, report: ImportReport): void {
    const { dataset, flags } = this.#call;
    const { path } = opened.origin;
    const given = path === null ? null : relative(process.cwd(), path) || path;
    const text = describeImport(report, { dataset, path: given, flags });
    // A watched folder has many runs: each is one line.
    const line = text
      .trimEnd()
      .replaceAll(/(?<!:)\n\s*/g, '; ')
      .replaceAll(/\n\s*/g, ' ');
    print(flags, report, flags.watch === undefined ? text : `${line}\n`);
    this.#reports.push(report);
    const [first] = report.refused;
    if (report.runId === null && first !== undefined)
      problems.push(
        `${report.file}: ${report.rowsRefused < report.rowsRead ? 'a row was refused, and --replace stores all or nothing' : 'every row was refused'}: data row ${first.row}, column ${first.column}: ${first.reason}`,
      );
  }

  /**
   * The run because of which a watch passes over a member of an archive: an earlier watch ended within the
   * archive, or another member failed.
   */
  async #skippedBy(opened: MappedFile, reader: Reader): Promise<number | null> {
    const { dataset, flags, recordedFlags } = this.#call;
    const { recordedAs, origin } = opened;
    if (flags.watch === undefined || origin.path === null || origin.archiveSha256 === null) return null;
    const { sha256 } = await opened.digest();
    return runOfFile(reader, { dataset, flags: recordedFlags, path: origin.path, recordedAs, sha256 });
  }

  /**
   * Tells the findings in the bars that the files of the call have brought or changed: once for all of them.
   */
  async tellFindings(): Promise<void> {
    const { dataset, flags } = this.#call;
    if (this.#store === null || dataset !== BARS || !flags.check) return;
    const runIds = this.#reports.flatMap(({ runId, rowsWritten }) =>
      runId !== null && rowsWritten > 0 ? [runId] : [],
    );
    await tellFindings(this.#store, runIds, flags.json === true);
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  /** Prints the sums of several files, and sets the exit status. */
  conclude(): void {
    const sumOf = (rows: (typeof summed)[number] | 'rowsRemoved'): number =>
      this.#reports.reduce((sum, report) => sum + (report[rows] ?? 0), 0);
    const failed = this.#failed;
    const files = this.#reports.length + failed;
    const { flags } = this.#call;
    if (files > 1) {
      const names = flags.replace === undefined ? summed : ([...summed, 'rowsRemoved'] as const);
      const rows = names.map((name) => [name, sumOf(name)] as const);
      const words = rows.map(([name, sum]) => `${count(sum)} ${name.slice('rows'.length).toLowerCase()}`);
      const text = `${count(files)} files: ${count(failed)} failed; rows: ${words.join(', ')}\n`;
      print(flags, { files, failed, ...Object.fromEntries(rows) }, text, 0, process.stderr);
    }
    // With --replace a refused row keeps out all of its file.
    const allowed = flags.replace === undefined ? flags.allowRejects! : 0;
    const isPartly = this.#reports.some((report) => report.rowsRefused > allowed);
    // Where something was imported, the call was right.
    if (isPartly || (failed > 0 && this.#reports.length > 0)) process.exitCode = EXIT_PARTLY;
    else if (failed > 0) process.exitCode = this.#worst;
  }
}

/**
 * Imports the files of some names, until `stop`, and tells the findings in them. @throws FileProblem where
 * the call is wrong, not a file
 */
export async function runImport(
  call: Call,
  names: AsyncIterable<string> | Iterable<string>,
  onTaken: OnTaken,
  stop?: AbortSignal,
): Promise<ImportCall> {
  const run = new ImportCall(call, onTaken);
  try {
    await run.take(names, stop);
    await run.tellFindings();
    return run;
  } finally {
    await run.close();
  }
}
