// Where `bourse check` writes findings: standard output, for people or programs, or a file.

import type { Finding } from '../../queries/findings/finding.ts';
import { findingRecordOf } from '../../queries/findings/finding-record.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import { type Found, findingTable } from './finding-table.ts';
import { type Counts, countWords, lineOf, nameOf, SHOWN_MAX } from './finding-words.ts';
import { type OutFlags, type Written, writeOut } from './out-file.ts';
import { isQuiet, print } from './output.ts';
import type { Progress } from './progress.ts';
import { count, countOf, printable } from './table.ts';

type OutputFlags = Partial<OutFlags> & { readonly json?: boolean };

interface Output {
  /** Writes findings as they come; whether all were taken. */
  take(found: AsyncIterable<Found>): Promise<boolean>;
  /** Says what they come to. */
  end(counts: Counts, rest: Readonly<Record<string, unknown>>): void;
}

/** Prints findings as they come: a list of any length takes no memory. */
class PrintedFindings implements Output {
  readonly #json: boolean;
  readonly #progress: Progress;
  #any = false;

  constructor({ json = false }: OutputFlags, progress: Progress) {
    this.#json = json;
    this.#progress = progress;
    if (json) process.stdout.write('{"findings":[');
  }

  async take(found: AsyncIterable<Found>): Promise<boolean> {
    for await (const { instrument, findings } of found) {
      this.#progress.end();
      if (this.#json) for (const finding of findings) this.#printRecord(instrument, finding);
      else this.#printLines(instrument, findings);
    }
    this.#progress.end();
    return true;
  }

  #printRecord(instrument: Instrument, finding: Finding): void {
    const record = JSON.stringify(findingRecordOf(instrument, finding));
    process.stdout.write(`${this.#any ? ',' : ''}\n${record}`);
    this.#any = true;
  }

  /** A fault of a whole series has a finding a session: people are shown some of each kind. */
  #printLines(instrument: Instrument, findings: readonly Finding[]): void {
    for (const alike of Map.groupBy(findings, ({ kind, interval }) => `${kind} ${interval}`).values()) {
      for (const finding of alike.slice(0, SHOWN_MAX))
        process.stdout.write(`${lineOf(instrument, finding)}\n`);
      const [{ kind, severity, interval }] = alike as [Finding];
      const more = alike.length - SHOWN_MAX;
      if (more > 0)
        process.stdout.write(
          `${severity.padEnd(8)}${kind.padEnd(20)} ${printable(nameOf(instrument))} ${interval}: ${count(more)} more (--json prints all)\n`,
        );
    }
  }

  end(counts: Counts, rest: Readonly<Record<string, unknown>>): void {
    if (this.#json) process.stdout.write(`\n],${JSON.stringify({ counts, ...rest }).slice(1)}\n`);
    else process.stdout.write(`${countWords(counts)}\n`);
  }
}

/** Writes findings as a table. */
class FindingFile implements Output {
  readonly #flags: OutFlags & OutputFlags;
  #written: Written | null = null;

  constructor(flags: OutFlags & OutputFlags) {
    this.#flags = flags;
  }

  async take(found: AsyncIterable<Found>): Promise<boolean> {
    this.#written = await writeOut(this.#flags, findingTable(found), 'findings');
    return this.#written !== null;
  }

  end(counts: Counts, rest: Readonly<Record<string, unknown>>): void {
    const written = this.#written;
    // On standard output are the findings themselves.
    if (written === null || (written.bytes === null && isQuiet())) return;
    const { rows, bytes } = written;
    const place = bytes === null ? 'standard output' : this.#flags.out;
    const record = { file: this.#flags.out, rows, bytes, counts, ...rest };
    const stream = bytes === null ? process.stderr : process.stdout;
    const text = `${printable(place)}: ${countOf(rows, 'row')}; ${countWords(counts)}\n`;
    print(this.#flags, record, text, 0, stream);
  }
}

/** Gives the output for the findings of a check. */
export const outputOf = (flags: OutputFlags, progress: Progress): Output =>
  flags.out === undefined
    ? new PrintedFindings(flags, progress)
    : new FindingFile({ ...flags, out: flags.out });
