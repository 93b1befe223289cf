// `bourse status`: what a store holds, from its rows about series and from indexes; no bar is read, and none of the many rows.
import { Command } from 'commander';
import { formatBytes } from '../base/size.ts';
import { contentHash } from '../store/content.ts';
import { openStore, storeFacts } from '../store/engines.ts';
import type { StoreFacts } from '../store/store.ts';
import { readSettings } from './config.ts';
import { type Holdings, readHoldings } from './holdings.ts';
import { jsonOption, storeOption } from './options.ts';
import { count, formatTable, printable } from './table.ts';

type Flags = {
  readonly store?: string;
  readonly series?: boolean;
  readonly contentHash?: boolean;
  readonly json?: boolean;
};

type Status = {
  readonly store: string;
  readonly facts: StoreFacts;
  readonly holdings: Holdings;
  readonly hash: string | null;
};

async function readStatus(flags: Flags): Promise<Status> {
  const url = readSettings(flags).store;
  const store = await openStore(url, 'read');
  try {
    return await store.snapshot(async (reader) => ({
      store: store.name,
      facts: await storeFacts(url),
      holdings: await readHoldings(reader),
      hash: flags.contentHash ? await contentHash(reader) : null,
    }));
  } finally {
    await store.close();
  }
}

function recordOf({ store, facts, holdings, hash }: Status, flags: Flags) {
  const { series, ...rest } = holdings;
  return {
    store,
    layout: facts.layout,
    files: facts.parts,
    ...rest,
    ...(flags.series ? { series } : {}),
    ...(hash === null ? {} : { content_hash: hash }),
  };
}

function barsTable({ markets }: Holdings): string[][] {
  const rows = markets.flatMap((market) =>
    market.intervals.map((one) => [
      market.asset_schema,
      market.country_iso_code,
      one.interval,
      count(one.series),
      count(one.bars),
      one.first,
      one.last,
    ]),
  );
  return [['TYPE', 'COUNTRY', 'INTERVAL', 'SERIES', 'BARS', 'FIRST', 'LAST'], ...rows];
}

const seriesTable = ({ series }: Holdings): string[][] => [
  ['TYPE', 'COUNTRY', 'SYMBOL', 'INTERVAL', 'BARS', 'FIRST', 'LAST', 'PRICES'],
  ...series.map((one) => [
    one.asset_schema,
    one.country_iso_code,
    one.symbol,
    one.interval,
    count(one.bars),
    one.first,
    one.last,
    one.prices,
  ]),
];

const rowsTable = ({ datasets }: Holdings): string[][] => [
  ['DATASET', 'ROWS', 'FIRST', 'LAST'],
  ...datasets
    .filter(({ rows }) => rows > 0)
    .map(({ dataset, rows, first, last }) => [dataset, count(rows), first ?? '', last ?? '']),
];

const runsTable = ({ runs }: Holdings): string[][] => [
  ['RUN', 'KIND', 'DATASET', 'FILE', 'READ', 'WRITTEN', 'UNCHANGED', 'REFUSED', 'FINISHED', 'UNDONE'],
  ...runs.map((run) => [
    String(run.run_id),
    run.kind,
    run.dataset,
    run.file,
    count(run.rows_read),
    count(run.rows_written),
    count(run.rows_unchanged),
    count(run.rows_refused),
    run.finished,
    run.undone ?? '',
  ]),
];

/** Tables that have a row beside their head, each after an empty line. */
const section = (table: string[][]): string => (table.length > 1 ? `\n${formatTable(table)}` : '');

function describe({ store, facts, holdings, hash }: Status, flags: Flags): string {
  const { totals, data_version, markets } = holdings;
  const instruments = markets.map(
    (market) => `${market.asset_schema} ${market.country_iso_code} ${count(market.instruments)}`,
  );
  const about = [
    ['store', printable(store)],
    ['files', facts.parts.map((part) => `${part.what} ${formatBytes(part.bytes)}`).join(', ')],
    ['layout', `${facts.layout}`],
    ['data version', `${data_version}`],
    ['instruments', [count(totals.instruments), ...instruments].join(', ')],
    ['series', count(totals.series)],
    ['bars', count(totals.bars)],
    ...(hash === null ? [] : [['content hash', hash]]),
  ];
  const head = about.map(([name, value]) => `${name!.padEnd(14)}${value}\n`).join('');
  const data = section(barsTable(holdings)) + section(rowsTable(holdings));
  return head + data + (flags.series ? section(seriesTable(holdings)) : '') + section(runsTable(holdings));
}

export function statusCommand(): Command {
  return new Command('status')
    .addOption(storeOption())
    .option('--series', 'every series too')
    .option(
      '--content-hash',
      'one hash of every instrument, bar and row, whatever the order of imports: reads all of them',
    )
    .addOption(jsonOption())
    .addHelpText('before', 'Examples:\n  bourse status\n  bourse status --series\n  bourse status --json\n')
    .action(async (flags: Flags) => {
      const status = await readStatus(flags);
      process.stdout.write(
        flags.json ? `${JSON.stringify(recordOf(status, flags), null, 2)}\n` : describe(status, flags),
      );
    });
}
