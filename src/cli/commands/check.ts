// `bourse check`: what is wrong, or may be wrong, with stored data (contract 9.10).
import { Argument, Command } from 'commander';
import { assetSchemas } from '../../contract/identifiers.ts';
import { actionKinds, type Finding } from '../../queries/findings/finding.ts';
import { instrumentsIn, storeFindings } from '../../queries/findings/store-findings.ts';
import { likeSymbol } from '../../runs/instrument-choice.ts';
import { FoundDamage } from '../../series/damaged-bars.ts';
import { readVersion } from '../../store/changes.ts';
import type { Check } from '../../store/control.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Reader } from '../../store/store.ts';
import { readSettings } from '../config.ts';
import { outputOf } from '../shared/check-output.ts';
import { damageRecord, noteDamage } from '../shared/damage.ts';
import type { Found } from '../shared/finding-table.ts';
import type { Counts } from '../shared/finding-words.ts';
import { examples, jsonOption, storeOption, withQuiet } from '../shared/flags.ts';
import { keepCheck } from '../shared/kept-check.ts';
import { readStore } from '../shared/opened-store.ts';
import { type OutFlags, outWords, refuseOwnFile, requireOut } from '../shared/out-file.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';
import { Progress } from '../shared/progress.ts';
import { readCountry, readSchema, readSymbol } from '../shared/read-flags.ts';

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
