// `bourse check`: what is wrong, or may be wrong, with stored data (contract 9.10).
import { Argument, type Command } from 'commander';
import { assetSchemas } from '../../contract/identifiers.ts';
import { type Column, type ExportTable, rowLines } from '../../queries/export/export-table.ts';
import { type Finding, type FindingKind, findingRecordOf } from '../../queries/findings/finding.ts';
import { instrumentsIn, storeFindings } from '../../queries/findings/store-findings.ts';
import { likeSymbol } from '../../runs/instrument-choice.ts';
import { nameOf } from '../../runs/new-instrument.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { readVersion } from '../../store/changes.ts';
import { type Check, putCheck } from '../../store/control.ts';
import { engineAt, openControl } from '../../store/engines.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Instrument } from '../../store/schema/reference.ts';
import type { Reader } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { type Counts, countWords, lineOf, someOfEach } from '../shared/checks.ts';
import {
  command,
  type FlagsOf,
  jsonFlag,
  quietFlag,
  readCountry,
  readSchema,
  readSymbol,
  storeFlag,
} from '../shared/flags.ts';
import { closing, readStore } from '../shared/opened-store.ts';
import { outWords, requireOut, type Written, writeOut } from '../shared/out-file.ts';
import {
  count,
  countOf,
  isQuiet,
  note,
  type Progress,
  print,
  printable,
  withProgress,
} from '../shared/output.ts';
import { damageRecord, EXIT_PARTLY, noteDamage } from '../shared/problem.ts';

const options = {
  ...quietFlag,
  '--schema <type>': ['only this asset type: stock, future, crypto, forex or option', readSchema],
  '--country <code>': ['only this country, such as US; GLOBAL for crypto and forex', readCountry],
  '--symbol <symbol>': ['only this instrument', readSymbol],
  '--out <file>': `write the findings to a file: ${outWords}`,
  '--force': 'replace the file if it exists',
  ...storeFlag,
  ...jsonFlag,
} as const;

type Flags = FlagsOf<typeof options>;

/** Kinds about corporate actions; all others are about bars. */
const actionKinds: ReadonlySet<FindingKind> = new Set([
  'action_without_jump',
  'impossible_dividend',
  'dividend_currency',
  'factor_mismatch',
  'doubled_dividend',
]);

type FindingRecord = ReturnType<typeof findingRecordOf>;

const types: Readonly<Record<keyof FindingRecord, string>> = {
  asset_schema: 'VARCHAR',
  country_iso_code: 'VARCHAR',
  symbol: 'VARCHAR',
  kind: 'VARCHAR',
  severity: 'VARCHAR',
  interval: 'VARCHAR',
  from_datetime: 'TIMESTAMP WITH TIME ZONE',
  to_datetime: 'TIMESTAMP WITH TIME ZONE',
  value: 'DOUBLE',
  expected: 'DOUBLE',
  message: 'VARCHAR',
  run_id: 'BIGINT',
};

const columns = Object.entries(types).map(
  ([name, type]): Column<FindingRecord> => ({ name, type, value: (row) => row[name as keyof FindingRecord] }),
);

/** The findings of one instrument. */
type Found = { readonly instrument: Instrument; readonly findings: readonly Finding[] };

async function* recordsOf(found: AsyncIterable<Found>): AsyncGenerator<FindingRecord> {
  for await (const { instrument, findings } of found)
    for (const finding of findings) yield findingRecordOf(instrument, finding);
}

/** Findings as a table, in the order in which they are found. */
const findingTable = (found: AsyncIterable<Found>): ExportTable => ({
  columns,
  rowsAbout: null,
  isMadeEmpty: true,
  lines: (style) => rowLines(recordsOf(found), columns, style),
  flags: [],
});

/** Prints findings as they come: a list of any length takes no memory. */
async function printFindings(
  found: AsyncIterable<Found>,
  json: boolean,
  progress: Progress,
): Promise<undefined> {
  let before = '';
  if (json) process.stdout.write('{"findings":[');
  for await (const { instrument, findings } of found) {
    progress.end();
    if (!json) printLines(instrument, findings);
    else
      for (const finding of findings) {
        process.stdout.write(`${before}\n${JSON.stringify(findingRecordOf(instrument, finding))}`);
        before = ',';
      }
  }
  progress.end();
}

/** A fault of a whole series has a finding a session: people are shown some of each kind. */
function printLines(instrument: Instrument, findings: readonly Finding[]): void {
  for (const { shown, more } of someOfEach(findings, ({ kind, interval }) => `${kind} ${interval}`)) {
    for (const finding of shown) process.stdout.write(`${lineOf(instrument, finding)}\n`);
    const [{ kind, severity, interval }] = shown as [Finding];
    if (more > 0)
      process.stdout.write(
        `${severity.padEnd(8)}${kind.padEnd(20)} ${printable(nameOf(instrument))} ${interval}: ${count(more)} more (--json prints all)\n`,
      );
  }
}

/** Says what findings come to that were printed, or written to a file. */
function tellSums(
  flags: Flags,
  written: Written | undefined,
  counts: Counts,
  rest: Readonly<Record<string, unknown>>,
): void {
  if (written === undefined) {
    const end = `\n],${JSON.stringify({ counts, ...rest }).slice(1)}\n`;
    process.stdout.write(flags.json ? end : `${countWords(counts)}\n`);
    return;
  }
  const { rows, bytes } = written;
  // On standard output are the findings themselves.
  if (bytes === null && isQuiet()) return;
  const [place, stream] = bytes === null ? ['standard output', process.stderr] : [flags.out!, process.stdout];
  const text = `${printable(place)}: ${countOf(rows, 'row')}; ${countWords(counts)}\n`;
  print(flags, { file: flags.out, rows, bytes, counts, ...rest }, text, 0, stream);
}

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

/** Columns of the instruments that a check looks at. */
type Where = Parameters<typeof instrumentsIn>[1];

/** The columns with the symbol of the instrument that they name by another one (contract 9.21). */
async function ownSymbol(reader: Reader, where: Where): Promise<Where> {
  const { asset_schema, country_iso_code, symbol } = where;
  if (country_iso_code === undefined || symbol === undefined) return where;
  const types = asset_schema === undefined ? assetSchemas : [asset_schema];
  const markets = types.map((type) => ({ asset_schema: type, country_iso_code }));
  return { ...where, ...(await likeSymbol(reader, markets, symbol)) };
}

/** Writes the findings of a store. What they come to, where it is known for all that was looked at. */
async function writeFindings(
  reader: Reader,
  dataset: string | undefined,
  where: Where,
  flags: Flags,
): Promise<Check | null> {
  const { out, json = false } = flags;
  const damage = new FoundDamage();
  const nowMs = Date.now();
  const counts: Counts = { info: 0, warning: 0, error: 0 };
  let bars = 0;
  const written = await withProgress({ name: 'check' }, (progress) => {
    const options = {
      nowMs,
      onBars: (count: number) => {
        bars += count;
        if (out === undefined) progress.reached(bars);
      },
      onOthers: () => undefined,
      onDamage: damage.add,
    };
    const all = storeFindings(reader, instrumentsIn(reader, where), options);
    const found = counted(about(dataset, all), counts);
    return out === undefined
      ? printFindings(found, json, progress)
      : writeOut({ ...flags, out }, findingTable(found), 'findings');
  });
  const damaged = await damage.named(reader);
  if (written !== null) tellSums(flags, written, counts, { bars, damaged: damaged.map(damageRecord) });
  noteDamage(damaged, 'not checked');
  if (counts.warning + counts.error > 0) process.exitCode ||= EXIT_PARTLY;
  const data_version = await readVersion(reader);
  const [run] = await reader.rows(importRuns, { order: [['run_id', 'desc']], limit: 1 });
  if (written === null || damaged.length > 0 || data_version === null || run === undefined) return null;
  const { run_id, started_ms: run_started_ms } = run;
  return { checked_ms: nowMs, data_version, run_id, run_started_ms, ...counts };
}

/**
 * Keeps a check. Where that cannot be, such as on a standby or without the right to write, it is noted: the
 * findings are reported all the same.
 */
async function keepCheck(url: string, check: Check): Promise<void> {
  try {
    // Keys of an older layout are not for a command that reads to update: a service may run on them.
    if (await engineAt(url).hasControl()) await (await openControl(url, 'inspect')).close();
    await closing(openControl(url, 'write', note), (control) => putCheck(control, check));
  } catch (error) {
    note(`this check is not kept for bourse status: ${(error as Error).message}`);
  }
}

async function check(dataset: string | undefined, flags: Flags): Promise<void> {
  const { schema, country, symbol, out } = flags;
  const where = {
    ...(schema && { asset_schema: schema }),
    ...(country && { country_iso_code: country }),
    ...(symbol && { symbol }),
  };
  const url = readSettings(flags).store;
  if (out !== undefined) await requireOut(url, { ...flags, out });
  const found = await readStore(url, 'read', async (reader) =>
    writeFindings(reader, dataset, await ownSymbol(reader, where), flags),
  );
  const isWhole = dataset === undefined && Object.keys(where).length === 0;
  if (isWhole && found !== null) await keepCheck(url, found);
}

export const checkCommand = (): Command =>
  command(
    'check',
    options,
    'bourse check',
    'bourse check bars --symbol AAPL --country US',
    'bourse check --out findings.parquet',
  )
    .addArgument(
      new Argument('[dataset]', `only about this dataset: ${Object.keys(datasets).join(', ')}`).choices(
        Object.keys(datasets),
      ),
    )
    .action(check);
