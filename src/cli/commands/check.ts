// `bourse check`: what is wrong, or may be wrong, with stored data (contract 9.10).
import { Argument, Command } from 'commander';
import { assetSchemas } from '../../contract/identifiers.ts';
import { actionKinds, type Finding } from '../../queries/findings/finding.ts';
import { findingRecordOf } from '../../queries/findings/finding-record.ts';
import { instrumentsIn, storeFindings } from '../../queries/findings/store-findings.ts';
import { likeSymbol } from '../../runs/instrument-choice.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { readVersion } from '../../store/changes.ts';
import type { Check } from '../../store/control.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { damageRecord, noteDamage } from '../shared/damage.ts';
import { type Found, findingTable } from '../shared/finding-table.ts';
import { type Counts, countWords, lineOf, nameOf, SHOWN_MAX } from '../shared/finding-words.ts';
import { examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { keepCheck } from '../shared/kept-check.ts';
import { readStore } from '../shared/opened-store.ts';
import {
  type OutFlags,
  outWords,
  refuseOwnFile,
  requireOut,
  type Written,
  writeOut,
} from '../shared/out-file.ts';
import { isQuiet, print } from '../shared/output.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';
import { Progress } from '../shared/progress.ts';
import { readCountry, readSchema, readSymbol } from '../shared/read-flags.ts';
import { count, countOf, printable } from '../shared/table.ts';

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

type Flags = Partial<OutFlags> & {
  readonly store?: string;
  readonly schema?: string;
  readonly country?: string;
  readonly symbol?: string;
  readonly json?: boolean;
};

/** The datasets that findings are about. */
const datasets: Readonly<Record<string, (finding: Finding) => boolean>> = {
  bars: ({ kind }) => !actionKinds.has(kind),
  'corporate-actions': ({ kind }) => actionKinds.has(kind),
};

/** Findings about a dataset; all without one. */
async function* about(dataset: string | undefined, found: AsyncIterable<Found>): AsyncGenerator<Found> {
  const isAsked = dataset === undefined ? () => true : datasets[dataset]!;
  for await (const { instrument, findings } of found)
    yield { instrument, findings: findings.filter(isAsked) };
}

/** Counts findings as they come. */
async function* counted(found: AsyncIterable<Found>, counts: Counts): AsyncGenerator<Found> {
  for await (const one of found) {
    for (const { severity } of one.findings) counts[severity]++;
    yield one;
  }
}

/** What a check looks at: `where` of the instruments, and the findings about a dataset. */
type Subject = { readonly dataset: string | undefined; readonly where: Parameters<typeof instrumentsIn>[1] };

function subjectOf(dataset: string | undefined, flags: Flags): Subject {
  const [schema, country, symbol] = [
    readSchema(flags.schema),
    readCountry(flags.country),
    readSymbol(flags.symbol),
  ];
  const where = {
    ...(schema !== null && { asset_schema: schema }),
    ...(country !== null && { country_iso_code: country }),
    ...(symbol !== null && { symbol }),
  };
  return { dataset, where };
}

/** The columns with the symbol of the instrument that they name by another one (contract 9.21). */
async function ownSymbol(reader: Reader, where: Subject['where']): Promise<Subject['where']> {
  const { asset_schema, country_iso_code, symbol } = where;
  if (country_iso_code === undefined || symbol === undefined) return where;
  const types = asset_schema === undefined ? assetSchemas : [asset_schema];
  const markets = types.map((type) => ({ asset_schema: type, country_iso_code }));
  return { ...where, ...(await likeSymbol(reader, markets, symbol)) };
}

/** Writes the findings of a store. What they come to, where it is known for all that was looked at. */
async function writeFindings(
  reader: Reader,
  flags: Flags,
  { dataset, where }: Subject,
): Promise<Check | null> {
  const damage = new FoundDamage();
  const progress = new Progress({ name: 'check', bytes: null, rowsAbout: null });
  const output = outputOf(flags, progress);
  let bars = 0;
  const nowMs = Date.now();
  const options = {
    nowMs,
    onBars: (count: number) => {
      bars += count;
      if (flags.out === undefined) progress.reached(bars);
    },
    onOthers: () => undefined,
    onDamage: damage.add,
  };
  const counts: Counts = { info: 0, warning: 0, error: 0 };
  const all = storeFindings(reader, instrumentsIn(reader, where), options);
  const isWhole = await output.take(counted(about(dataset, all), counts));
  const damaged = await damage.named(reader);
  output.end(counts, { bars, damaged: damaged.map(damageRecord) });
  noteDamage(damaged, 'not checked');
  if (counts.warning + counts.error > 0) process.exitCode ||= EXIT_PARTLY;
  const data_version = await readVersion(reader);
  const [run] = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 });
  if (!isWhole || damaged.length > 0 || data_version === null || run === undefined) return null;
  const { run_id, started_ms: run_started_ms } = run;
  return { checked_ms: nowMs, data_version, run_id, run_started_ms, ...counts };
}

async function check(dataset: string | undefined, flags: Flags): Promise<void> {
  const subject = subjectOf(dataset, flags);
  const url = readSettings(flags).store;
  const { out } = flags;
  if (out !== undefined) {
    requireOut({ ...flags, out });
    await refuseOwnFile(url, out);
  }
  const found = await readStore(url, 'read', async (reader) =>
    writeFindings(reader, flags, { ...subject, where: await ownSymbol(reader, subject.where) }),
  );
  const isWhole = dataset === undefined && Object.keys(subject.where).length === 0;
  if (isWhole && found !== null) await keepCheck(url, found);
}

export function checkCommand(): Command {
  return withQuiet(new Command('check'))
    .addArgument(
      new Argument('[dataset]', `only findings about it: ${Object.keys(datasets).join(', ')}`).choices(
        Object.keys(datasets),
      ),
    )
    .option('--schema <type>', 'only this asset type: stock, future, crypto, forex or option')
    .option('--country <code>', 'only this country, such as US; GLOBAL for crypto and forex')
    .option('--symbol <symbol>', 'only this instrument')
    .option('--out <file>', `write them to a file: ${outWords}`)
    .option('--force', 'replace the file if it exists')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse check',
        'bourse check bars --symbol AAPL --country US',
        'bourse check --out findings.parquet',
      ),
    )
    .action(check);
}
