// One call of `bourse import`: each file is opened, imported or explained, and reported; the exit status is that of all.
import { relative, resolve } from 'node:path';
import { FileProblem } from '../files/file-problem.ts';
import { openSources } from '../files/source.ts';
import { clearFailure } from '../history/failed-files.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { RecordedFlags } from '../history/run.ts';
import { runOfFile } from '../history/watched-file.ts';
import { importFile, requestOf } from '../loading/importers.ts';
import type { ChooseMapping, MappedFile } from '../mapping/column-mapping.ts';
import { explainFile } from '../mapping/explain-file.ts';
import { namesOf } from '../mapping/field-names.ts';
import { DamagedData } from '../store/damage.ts';
import type { Store } from '../store/store.ts';
import { describeExplained, describeRefusals } from './explain.ts';
import { fieldFlags, fieldsOf, type ImportFlags, readCompleteThrough, zoneNamed } from './import-flags.ts';
import { describeImport } from './import-words.ts';
import { closing, type ImportMode, openForImport } from './opened-store.ts';
import { note, noteWait, print } from './output.ts';
import { EXIT_PARTLY, printProblem } from './problem.ts';
import { Progress } from './progress.ts';
import { count } from './table.ts';
import { skipText, type Watched } from './watch.ts';

/** A message about a file without the file's path: the path is printed beside it. */
const withoutPath = (message: string, path: string): string =>
  message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;

/** What all files of one call have in common. */
export type Call = {
  readonly dataset: string;
  readonly choose: ChooseMapping;
  readonly storeUrl: string;
  readonly flags: ImportFlags;
  readonly recordedFlags: RecordedFlags;
};

/** One call of the command: each file is an import of its own, and a bad one does not keep the others out. */
export class ImportCall {
  readonly #call: Call;
  /** Opened, and made where there is none, only when there is a file to import. */
  #store: Store | null = null;
  readonly #reports: ImportReport[] = [];
  #failed = 0;
  /** The exit status of the worst file. */
  #worst = 0;
  /** Why something of the present name was not imported. */
  #problems: string[] = [];

  constructor(call: Call) {
    this.#call = call;
  }

  /**
   * Imports the files of a name; gives why not all of it was imported, or null.
   * @throws FileProblem where the call is wrong, not the file
   */
  async take(name: string): Promise<string | null> {
    this.#problems = [];
    await this.#takeFiles(name);
    const [problem, ...others] = this.#problems;
    if (problem !== undefined)
      return withoutPath(problem, name) + (others.length > 0 ? ` (and ${others.length} more)` : '');
    const { dataset, flags } = this.#call;
    if (this.#store !== null && !flags.dryRun) await clearFailure(this.#store, dataset, resolve(name));
    return null;
  }

  async #takeFiles(name: string): Promise<void> {
    const files = openSources(name, process.stdin, this.#call.choose);
    for (;;) {
      const next = await this.#orFailed(() => files.next());
      if (next === null || next.done === true) return;
      const opened = next.value;
      await this.#orFailed(async () => {
        if (opened instanceof FileProblem) throw opened;
        const { explain } = this.#call.flags;
        await closing(opened, (file) => (explain ? this.#explainFile(file) : this.#importFile(file)));
      });
    }
  }

  /** Runs a step. A problem of the file is reported, and the step gives null; so is damaged data, which other files may not need. */
  async #orFailed<T>(step: () => Promise<T>): Promise<T | null> {
    try {
      return await step();
    } catch (error) {
      const isOfFile = error instanceof FileProblem && error.kind !== 'usage';
      if (!isOfFile && !(error instanceof DamagedData)) throw error;
      this.#problems.push(error.message);
      this.#failed++;
      this.#worst = Math.max(this.#worst, printProblem(this.#call.flags, error));
      return null;
    }
  }

  #requestOf(opened: MappedFile) {
    const { dataset, flags } = this.#call;
    const { prices, volumes } = flags;
    const request = requestOf(opened, { zone: zoneNamed(flags.zone), prices, volumes });
    return { ...request, flags: fieldFlags(dataset, flags) };
  }

  /** Prints how the file would be read, and what its import would refuse. One that cannot be imported fails as its import would. */
  async #explainFile(opened: MappedFile): Promise<void> {
    const { dataset, flags } = this.#call;
    const fields = namesOf(fieldsOf(dataset));
    const { problem, ...explained } = await explainFile({ ...this.#requestOf(opened), fields });
    const done = problem ?? (await this.#trialOf(opened));
    const isDone = !(done instanceof FileProblem);
    const { rowsRead = null, rowsRefused = null, refusals = [] } = isDone ? done : {};
    const record = { ...explained, rowsRead, rowsRefused, refusals, problem: isDone ? null : done.message };
    print(flags, record, describeExplained(explained) + (isDone ? describeRefusals(done) : ''));
    if (!isDone) throw done;
    this.#reports.push(done);
  }

  /** The report of a dry run that writes no file of refused rows, or why the file cannot be imported. */
  async #trialOf(opened: MappedFile): Promise<ImportReport | FileProblem> {
    try {
      this.#store ??= await openForImport(this.#call.storeUrl, 'explain');
      return await this.#reportOf(this.#store, opened, 'explain');
    } catch (error) {
      if (error instanceof FileProblem && error.kind !== 'usage') return error;
      throw error;
    }
  }

  async #reportOf(store: Store, opened: MappedFile, mode: ImportMode): Promise<ImportReport> {
    const { dataset, flags, recordedFlags } = this.#call;
    const progress = new Progress(opened);
    const request = {
      ...this.#requestOf(opened),
      dryRun: mode !== 'import',
      keepsRefused: mode !== 'explain',
      source: flags.source ?? null,
      completeThroughMs: readCompleteThrough(flags.completeThrough, Date.now()),
      recordedFlags,
      nowMs: Date.now,
      onRows: (rows: number) => progress.reached(rows),
      onWait: noteWait(store),
    };
    return importFile(store, dataset, request).finally(() => progress.end());
  }

  async #importFile(opened: MappedFile): Promise<void> {
    const { dataset, storeUrl, flags } = this.#call;
    const mode = flags.dryRun ? 'dry run' : 'import';
    this.#store ??= await openForImport(storeUrl, mode);
    if (await this.#isSkipped(opened)) return;
    const report = await this.#reportOf(this.#store, opened, mode);
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
      this.#problems.push(
        `${report.file}: every row was refused: data row ${first.row}, column ${first.column}: ${first.reason}`,
      );
  }

  /** Whether a watch passes over a member of an archive, because an earlier watch ended within the archive or another member failed. */
  async #isSkipped(opened: MappedFile): Promise<boolean> {
    const { dataset, flags, recordedFlags } = this.#call;
    const { name, recordedAs, origin } = opened;
    if (flags.watch === undefined || origin.path === null || origin.archiveSha256 === null) return false;
    const { sha256 } = await opened.digest();
    const file = { dataset, flags: recordedFlags, path: origin.path, recordedAs, sha256 };
    const run = await this.#store!.snapshot((reader) => runOfFile(reader, file));
    if (run !== null) note(skipText(name, run));
    return run !== null;
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  /** Prints the sums of several files, and sets the exit status. */
  conclude(): void {
    const sumOf = (rows: 'rowsNew' | 'rowsReplaced' | 'rowsUnchanged' | 'rowsRefused'): number =>
      this.#reports.reduce((sum, report) => sum + report[rows], 0);
    const failed = this.#failed;
    const files = this.#reports.length + failed;
    const { flags } = this.#call;
    if (files > 1) {
      const [rowsNew, rowsReplaced] = [sumOf('rowsNew'), sumOf('rowsReplaced')];
      const [rowsUnchanged, rowsRefused] = [sumOf('rowsUnchanged'), sumOf('rowsRefused')];
      const sums = { files, failed, rowsNew, rowsReplaced, rowsUnchanged, rowsRefused };
      const text = `${count(files)} files: ${count(failed)} failed; rows: ${count(rowsNew)} new, ${count(rowsReplaced)} replaced, ${count(rowsUnchanged)} unchanged, ${count(rowsRefused)} refused\n`;
      print(flags, sums, text, 0, process.stderr);
    }
    const { allowRejects } = flags;
    const isPartly = this.#reports.some((report) => report.rowsRefused > allowRejects);
    // Where something was imported, the call was right.
    if (isPartly || (failed > 0 && this.#reports.length > 0)) process.exitCode = EXIT_PARTLY;
    else if (failed > 0) process.exitCode = this.#worst;
  }
}

/** A folder whose files are each imported by a call of their own. */
export function watchedBy(call: Call, folder: string): Watched {
  const { dataset, storeUrl, flags, recordedFlags } = call;
  return {
    folder,
    dataset,
    flags: recordedFlags,
    storeUrl,
    async take(path) {
      const run = new ImportCall(call);
      try {
        return await run.take(path);
      } catch (error) {
        // How the call was meant for other files may be wrong for this one.
        if (!(error instanceof FileProblem)) throw error;
        printProblem(flags, error);
        return withoutPath(error.message, path);
      } finally {
        await run.close();
      }
    },
  };
}
