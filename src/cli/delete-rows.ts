// `bourse delete DATASET` for the datasets beside bars and instruments.
import { Command, Option } from 'commander';
import type { ParsedInstant } from '../base/instant.ts';
import { type AssetSchema, parseSymbol, symbolAllowed } from '../contract/identifiers.ts';
import {
  deleteRows,
  type RowChoice,
  type RowDatasetName,
  type RowDeleteReport,
} from '../history/delete-rows.ts';
import { withExistingStore } from './existing-store.ts';
import { jsonOption, storeOption } from './options.ts';
import { readBound, readCountry, readFlag, readSchema, readSymbol } from './selection.ts';
import { countOf, printable } from './table.ts';
import { tellWait } from './waiting.ts';

type Bound = ParsedInstant & { readonly text: string };

type Flags = Omit<RowChoice, 'assetSchema' | 'from' | 'to'> & {
  readonly schema?: AssetSchema;
  readonly from?: Bound;
  readonly to?: Bound;
  readonly store?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
};

/** An option whose text is read at once. */
function parsed<T>(flags: string, about: string, parse: (text: string) => T | null, allowed: string): Option {
  const [name] = flags.split(' ');
  return new Option(flags, about).argParser((text) => readFlag(name!, text, parse, allowed));
}

function bound(name: '--from' | '--to', about: string): Option {
  return new Option(`${name} <time>`, about).argParser((text) => ({ ...readBound(name, text), text }));
}

/** An option that a reader of flags takes. */
const flag = (flags: string, about: string, read: (text: string) => unknown): Option =>
  new Option(flags, about).argParser((text) => read(text));

const country = (): Option =>
  flag('--country <code>', 'its country, such as US; GLOBAL for crypto and forex', readCountry);

const schema = (about: string): Option => flag('--schema <type>', about, readSchema);

const symbol = (about: string): Option => flag('--symbol <symbol>', about, readSymbol);

const eventCode = (): Option =>
  parsed(
    '--event-code <code>',
    'such as EMPLOYMENT_NFP_HEADLINE',
    (text) => (/^\w{1,100}$/.test(text) ? text.toUpperCase() : null),
    'letters, digits and underscores',
  );

const dates = (what: string): Option[] => [
  bound('--from', `the first ${what}: a date`),
  bound('--to', `the last ${what}, included`),
];

const times = (): Option[] => [
  bound('--from', 'the first, by its time: a date (UTC) or a time'),
  bound('--to', 'the last, likewise: a date is included whole'),
];

const all = (what: string): Option =>
  new Option('--all', `delete all ${what}: needed where nothing else narrows the choice`);

type Declared = {
  readonly about: string;
  readonly options: readonly Option[];
  readonly examples: readonly string[];
};

const required = (option: Option): Option => option.makeOptionMandatory();

const declared: Readonly<Record<RowDatasetName, () => Declared>> = {
  'corporate-actions': () => ({
    about: 'Delete dividends and splits of one stock.',
    options: [
      required(country()),
      required(symbol('the stock')),
      parsed(
        '--action-type <type>',
        'these alone: dividend or split',
        (text) => ['dividend', 'split'].find((type) => type === text.toLowerCase()) ?? null,
        'dividend or split',
      ),
      ...dates('ex-date'),
    ],
    examples: [
      '--symbol AAPL --country US --from 2020-08-31 --to 2020-08-31 --dry-run',
      '--symbol AAPL --country US --action-type split',
    ],
  }),
  news: () => ({
    about: 'Delete news: of one instrument, of a market, or of everything, published in a range.',
    options: [
      country(),
      schema('its asset type; with --country alone a market'),
      symbol('the instrument'),
      ...times(),
      all('news, or all of the market'),
    ],
    examples: [
      '--symbol AAPL --country US --from 2025-03-03T14:00:00Z --to 2025-03-03T15:00:00Z',
      '--to 2019-12-31 --dry-run',
    ],
  }),
  'option-contracts': () => ({
    about: 'Delete option contracts, and their own instruments where nothing else needs them.',
    options: [
      required(country()),
      symbol('the underlying'),
      schema('the asset type of the underlying, where several have the symbol'),
      parsed('--contract <symbol>', 'one contract, in place of an underlying', parseSymbol, symbolAllowed),
      ...dates('expiration'),
    ],
    examples: [
      '--symbol SPY --country US --to 2024-12-31 --dry-run',
      '--contract SPY250919C00450000 --country US',
    ],
  }),
  holidays: () => ({
    about: 'Delete days of your own: of a market, or of one instrument. Days that ship stay.',
    options: [
      required(country()),
      required(schema('the asset type of the market')),
      required(
        parsed(
          '--symbol <symbol>',
          "the instrument; '*' for days of the whole market",
          (text) => (text === '*' ? text : parseSymbol(text)),
          `'*', or ${symbolAllowed}`,
        ),
      ),
      ...dates('day'),
    ],
    examples: ["--schema stock --country US --symbol '*' --from 2025-01-09 --to 2025-01-09"],
  }),
  'economic-events': () => ({
    about: 'Delete economic events by code, time or identifier.',
    options: [
      country(),
      eventCode(),
      parsed(
        '--source-id <id>',
        'one event',
        (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null),
        '64 hexadecimal digits',
      ),
      ...times(),
      all('events, or all of the country'),
    ],
    examples: [
      '--country US --event-code EMPLOYMENT_NFP_HEADLINE --from 2025-03-07 --to 2025-03-07',
      '--country JP --all --dry-run',
    ],
  }),
  'economic-event-codes': () => ({
    about: 'Delete what files say of event codes. Those that ship stay, and mean what they did.',
    options: [required(country()), eventCode(), all('codes of the country')],
    examples: ['--country US --event-code OWN_CODE'],
  }),
};

/** What is asked for, in words. */
function wordsOf(flags: Flags): string {
  const name = [flags.schema, flags.country, flags.symbol].filter((part) => part !== undefined).join(':');
  const { actionType, contract, eventCode: code, sourceId, from, to } = flags;
  const words = [
    ...[name, actionType, contract, code, sourceId],
    ...(from === undefined ? [] : ['from', from.text]),
    ...(to === undefined ? [] : ['to', to.text]),
  ].filter((word) => word !== undefined && word !== '');
  return words.length === 0 ? 'all' : words.join(' ');
}

/** The account of a deletion in words. */
function describe(report: RowDeleteReport, isTrial: boolean): string {
  const { dataset, choice, runId, rowsDeleted, instrumentsDeleted } = report;
  const about = `${dataset} ${choice}`;
  if (rowsDeleted === 0) return `${about}: there is nothing to delete`;
  const own = instrumentsDeleted === 0 ? '' : `, ${countOf(instrumentsDeleted, 'instrument')}`;
  const end = isTrial
    ? 'would be deleted; nothing was stored'
    : `deleted (run ${runId}): bourse undo ${runId} brings back`;
  return `${about}: ${countOf(rowsDeleted, 'row')}${own} ${end}`;
}

const deleteChosen = (dataset: RowDatasetName, flags: Flags): Promise<void> =>
  withExistingStore(flags, async (store) => {
    const { store: _, json, dryRun = false, schema: assetSchema, ...choice } = flags;
    const about = { words: wordsOf(flags), dryRun, nowMs: Date.now, onWait: tellWait(store) };
    const report = await deleteRows(store, { ...choice, assetSchema, dataset, ...about });
    process.stdout.write(`${json ? JSON.stringify(report) : printable(describe(report, dryRun))}\n`);
  });

function commandOf(dataset: RowDatasetName): Command {
  const { about, options, examples } = declared[dataset]();
  const command = new Command(dataset).description(about);
  for (const option of options) command.addOption(option);
  return command
    .option('--dry-run', 'say what would be deleted, store nothing')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText(
      'before',
      `Examples:\n${examples.map((example) => `  bourse delete ${dataset} ${example}\n`).join('')}`,
    )
    .action((flags: Flags) => deleteChosen(dataset, flags));
}

/** A command for each of these datasets. */
export const rowCommands = (): Command[] =>
  Object.keys(declared).map((dataset) => commandOf(dataset as RowDatasetName));
