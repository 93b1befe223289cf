// `bourse check`: what is wrong, or may be wrong, with stored data (contract 9.10).
import { Argument, Command } from 'commander';
import type { Instrument } from '../datasets/reference.ts';
import { actionKinds, type Finding } from '../findings/finding.ts';
import { instrumentsIn, storeFindings } from '../findings/store-findings.ts';
import { FoundDamage } from '../series/damaged-bars.ts';
import { readSettings } from './config.ts';
import { damageRecord, noteDamage } from './damage.ts';
import { type Counts, countWords, lineOf, nameOf, recordOf, SHOWN_MAX } from './finding-words.ts';
import { examples, jsonOption, storeOption, withQuiet } from './flags.ts';
import { readStore } from './opened-store.ts';
import { EXIT_PARTLY } from './problem.ts';
import { Progress } from './progress.ts';
import { readCountry, readSchema, readSymbol } from './read-flags.ts';
import { count, printable } from './table.ts';

type Flags = {
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

/** Prints findings as they come: a list of any length takes no memory. */
class Printer {
  readonly #json: boolean;
  #any = false;
  readonly counts: Counts = { info: 0, warning: 0, error: 0 };

  constructor({ json = false }: Flags) {
    this.#json = json;
    if (json) process.stdout.write('{"findings":[');
  }

  /** Prints the findings of one instrument. */
  print(instrument: Instrument, findings: readonly Finding[]): void {
    for (const { severity } of findings) this.counts[severity]++;
    if (this.#json) for (const finding of findings) this.#printRecord(instrument, finding);
    else this.#printLines(instrument, findings);
  }

  #printRecord(instrument: Instrument, finding: Finding): void {
    process.stdout.write(`${this.#any ? ',' : ''}\n${JSON.stringify(recordOf(instrument, finding))}`);
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

  end(rest: Readonly<Record<string, unknown>>): void {
    const { counts } = this;
    if (this.#json) process.stdout.write(`\n],${JSON.stringify({ counts, ...rest }).slice(1)}\n`);
    else process.stdout.write(`${countWords(counts)}\n`);
  }
}

async function check(dataset: string | undefined, flags: Flags): Promise<void> {
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
  const isAsked = dataset === undefined ? () => true : datasets[dataset]!;
  await readStore(readSettings(flags).store, 'read', async (reader) => {
    const found = new FoundDamage();
    const progress = new Progress({ name: 'check', bytes: null, rowsAbout: null });
    let bars = 0;
    const printer = new Printer(flags);
    const options = {
      nowMs: Date.now(),
      onBars: (count: number) => {
        bars += count;
        progress.reached(bars);
      },
      onOthers: () => undefined,
      onDamage: (damage: Parameters<typeof found.add>[0]) => found.add(damage, {}),
    };
    for await (const { instrument, findings } of storeFindings(
      reader,
      instrumentsIn(reader, where),
      options,
    )) {
      progress.end();
      printer.print(instrument, findings.filter(isAsked));
    }
    progress.end();
    const damaged = await found.named(reader);
    printer.end({ bars, damaged: damaged.map(damageRecord) });
    noteDamage(damaged, 'not checked');
    if (printer.counts.warning + printer.counts.error > 0) process.exitCode = EXIT_PARTLY;
  });
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
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(
      ...examples('bourse check', 'bourse check bars --symbol AAPL --country US', 'bourse check --json'),
    )
    .action(check);
}
