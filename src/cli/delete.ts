// `bourse delete DATASET`: bars and instruments; the other datasets are in `delete-rows.ts`.
import { Command } from 'commander';
import {
  type DeleteReport,
  type DeleteRequest,
  deleteBars,
  deleteInstrument,
} from '../history/delete-bars.ts';
import type { Store } from '../store/store.ts';
import { rowCommands } from './delete-rows.ts';
import { withExistingStore } from './existing-store.ts';
import { jsonOption, storeOption } from './options.ts';
import { readBound, readCountry, readInterval, readSchema, readSymbol } from './selection.ts';
import { countOf, printable } from './table.ts';
import { tellWait } from './waiting.ts';

type Flags = {
  readonly store?: string;
  readonly symbol: string;
  readonly country: string;
  readonly schema?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

type BarFlags = Flags & { readonly interval?: string; readonly from?: string; readonly to?: string };

function requestOf(flags: Flags, words: readonly (string | undefined)[]): DeleteRequest {
  const schema = readSchema(flags.schema);
  const country = readCountry(flags.country)!;
  const symbol = readSymbol(flags.symbol)!;
  const name = [schema, country, symbol].filter((part) => part !== null).join(':');
  return {
    assetSchema: schema,
    country,
    symbol,
    words: [name, ...words].filter((word) => word !== undefined).join(' '),
    dryRun: flags.dryRun === true,
    nowMs: Date.now,
  };
}

/** The account of a deletion in words. */
function describe(report: DeleteReport, isTrial: boolean): string {
  const { instrument, bars, runId } = report;
  const what = [
    ...bars.map(({ interval, count }) => `${countOf(count, 'bar')} at ${interval}`),
    ...(report.instrumentsDeleted > 0 ? ['the instrument'] : []),
  ];
  if (what.length === 0) return `${instrument}: there is nothing to delete in this range`;
  const end = isTrial
    ? 'would be deleted; nothing was stored'
    : `deleted (run ${runId}). Undo with: bourse undo ${runId}`;
  return `${instrument}: ${what.join(', ')} ${end}`;
}

const run = (flags: Flags, work: (store: Store) => Promise<DeleteReport>): Promise<void> =>
  withExistingStore(flags, async (store) => {
    const report = await work(store);
    const text = flags.json ? JSON.stringify(report) : printable(describe(report, flags.dryRun === true));
    process.stdout.write(`${text}\n`);
  });

/** A command with the flags that name one instrument. */
const deletion = (name: string): Command =>
  new Command(name)
    .requiredOption('--symbol <symbol>', 'the instrument')
    .requiredOption('--country <code>', 'its country, such as US; GLOBAL for crypto and forex')
    .option('--schema <type>', 'its asset type, where several have the symbol')
    .option('--dry-run', 'say what would be deleted, store nothing')
    .addOption(storeOption())
    .addOption(jsonOption());

const barsCommand = (): Command =>
  deletion('bars')
    .description('Delete bars of one instrument, at one interval or all that are stored.')
    .option('--interval <interval>', 'this interval alone: 1M is one minute, 60M an hour, DAY, WEEK, MON')
    .option(
      '--from <time>',
      'the first: a date in the market’s zone, a label date for DAY and above, or a time',
    )
    .option('--to <time>', 'the last, likewise: a date is included whole')
    .addHelpText(
      'before',
      `Examples:
  bourse delete bars --symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run
  bourse delete bars --symbol BTCUSD --country GLOBAL --to 2019-12-31
`,
    )
    .action((flags: BarFlags) => {
      const interval = readInterval(flags.interval);
      const words = [
        interval ?? undefined,
        ...(flags.from === undefined ? [] : ['from', flags.from]),
        ...(flags.to === undefined ? [] : ['to', flags.to]),
      ];
      const from = readBound('--from', flags.from);
      const to = readBound('--to', flags.to);
      const request = { ...requestOf(flags, words), interval, from, to };
      return run(flags, (store) => deleteBars(store, { ...request, onWait: tellWait(store) }));
    });

const instrumentsCommand = (): Command =>
  deletion('instruments')
    .description('Delete one instrument that has no bars, and that no row of another dataset names.')
    .addHelpText('before', 'Examples:\n  bourse delete instruments --symbol AAPLX --country US\n')
    .action((flags: Flags) => {
      const request = requestOf(flags, []);
      return run(flags, (store) => deleteInstrument(store, { ...request, onWait: tellWait(store) }));
    });

export function deleteCommand(): Command {
  const command = new Command('delete')
    .addHelpText(
      'before',
      `Examples:
  bourse delete bars --symbol AAPL --country US --interval 1M --from 2025-03-03 --to 2025-03-03 --dry-run
  bourse delete news --to 2019-12-31
  bourse delete corporate-actions --symbol AAPL --country US --from 2020-08-31 --to 2020-08-31
  bourse delete instruments --symbol AAPLX --country US
`,
    )
    .addCommand(barsCommand())
    .addCommand(instrumentsCommand());
  for (const rows of rowCommands()) command.addCommand(rows);
  return command;
}
