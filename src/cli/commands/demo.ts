// `bourse demo`: serves a store of its own, the sample files of `examples/`, moved to today, and synthetic
// bars, all imported as files.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { DAY_MS, dayOf, formatDay, parseDay } from '../../base/instant.ts';
import { importFile, requestOf } from '../../imports/load/importers.ts';
import { ownNames } from '../../imports/map/column-mapping.ts';
import { FileProblem } from '../../imports/read/file-problem.ts';
import { openSources } from '../../imports/read/source.ts';
import { spool } from '../../imports/read/spool.ts';
import { newestRuns } from '../../runs/undo-run.ts';
import { KeyRing, replaceKey } from '../../serve/keys/api-keys.ts';
import { readKeys } from '../../store/control.ts';
import { engineAt, openControl, openStore } from '../../store/engines.ts';
import { type RowStore, type Store, StoreUnusable } from '../../store/store.ts';
import { readSettings, type SettingFlags } from '../config.ts';
import { startService, untilStopped, warnOfSettings } from '../serve/serving.ts';
import { type DemoSplit, demoBars, withQuotes } from '../shared/demo-data.ts';
import { command, settingFlags } from '../shared/flags.ts';
import { closing, readStore } from '../shared/opened-store.ts';

/** The demo's store, in the current folder. */
const DEMO_FILE = 'data/demo.db';
const DEMO_STORE = `sqlite:${DEMO_FILE}`;

const SOURCE = 'Synthetic: made by bourse demo';

/** More runs than the demo and its user make in a day. */
const RUNS_MAX = 1000;

/** The sample files are written as of this Monday. */
const WRITTEN_DAY = dayOf(2026, 1, 5);

const samples = ['instruments', 'corporate-actions', 'option-contracts', 'economic-events', 'news'];

/**
 * The text of a sample file, its dates moved to the week of `today`, those in option symbols (contract 1.4)
 * too: a Friday stays one.
 */
export async function sampleText(name: string, today: number): Promise<string> {
  const text = await readFile(new URL(`../../../examples/${name}`, import.meta.url), 'utf8');
  const days = Math.floor((today - WRITTEN_DAY) / 7) * 7;
  const moved = (date: string): string => formatDay(parseDay(date)! + days);
  return text
    .replace(/\d{4}-\d{2}-\d{2}/g, moved)
    .replace(/(\d\d)(\d\d)(\d\d)(?=[CP]\d{8})/g, (_, year, month, day) =>
      moved(`20${year}-${month}-${day}`).slice(2).replaceAll('-', ''),
    );
}

/**
 * A sample as it was at a moment: later events have no result, later news are not there, and contracts have
 * the last quotes.
 */
export function knownAt(dataset: string, text: string, nowMs: number): string {
  const ifPast = (instant: string, cell: string): string => (Date.parse(instant) <= nowMs ? cell : '');
  if (dataset === 'economic-events')
    return text.replace(/(?<=,(20[\dT:-]+Z),\w+,\w+,)[^,]+/g, (result, at) => ifPast(at, result));
  if (dataset === 'news') return text.replace(/^(20[\dT:-]+Z),.*\n/gm, (item, at) => ifPast(at, item));
  return dataset === 'option-contracts' ? withQuotes(text, nowMs) : text;
}

/** The splits in a file of corporate actions. */
const splitsIn = (text: string): DemoSplit[] =>
  Array.from(
    text.matchAll(/^US,(\w+),split,(\d{4}-\d\d-\d\d),,,(\d+),(\d+),/gm),
    ([, symbol, date, from, to]) => ({
      symbol: symbol!,
      day: parseDay(date!)!,
      ratio: Number(to) / Number(from),
    }),
  );

async function importSample(store: Store, dataset: string, path: string, interval?: string): Promise<void> {
  for await (const opened of openSources(path, process.stdin, ownNames)) {
    if (opened instanceof FileProblem) throw opened;
    const flags = new Map(interval === undefined ? [] : [['interval', interval]]);
    const about = { ...requestOf(opened, {}), flags, source: SOURCE, dryRun: false, nowMs: Date.now };
    await closing(opened, () => importFile(store, dataset, about));
  }
}

/** Imports everything that the demo shows at a moment; its files are made in `folder`. */
async function fillDemo(store: Store, folder: string, nowMs: number): Promise<void> {
  const today = Math.floor(nowMs / DAY_MS);
  for (const dataset of samples) {
    const path = join(folder, `${dataset}.csv`);
    await writeFile(path, knownAt(dataset, await sampleText(`${dataset}.csv`, today), nowMs));
    await importSample(store, dataset, path);
  }
  const splits = splitsIn(await sampleText('corporate-actions.csv', today));
  for (const interval of ['DAY', '1M'] as const) {
    const path = join(folder, `bars-${interval}.csv`);
    await writeFile(path, demoBars(interval, nowMs, splits));
    await importSample(store, 'bars', path, interval);
  }
}

/**
 * Makes the demo's store under another name and renames it, so that a server on the old one is not disturbed.
 */
async function makeDemo(nowMs: number): Promise<void> {
  const fresh = `${DEMO_FILE}.new`;
  for (const suffix of ['', '-wal', '-shm']) rmSync(fresh + suffix, { force: true });
  await closing(openStore(`sqlite:${fresh}`, 'write'), async (store) => {
    const { close } = await spool(0, (folder) => fillDemo(store, folder, nowMs));
    await close();
  });
  for (const suffix of ['-wal', '-shm']) rmSync(DEMO_FILE + suffix, { force: true });
  renameSync(fresh, DEMO_FILE);
}

/**
 * The day on which the demo's store was finished: its minutes are imported last. Null where there is none.
 */
async function dayOfDemo(): Promise<number | null> {
  try {
    const runs = await readStore(DEMO_STORE, 'read', (reader) => newestRuns(reader, RUNS_MAX));
    const newest = runs.find(({ source }) => source === SOURCE);
    return newest === undefined ? null : Math.floor(newest.finished_ms / DAY_MS);
  } catch (error) {
    if (error instanceof StoreUnusable) return null;
    throw error;
  }
}

/** Makes the demo's store unless it was made on the day of a moment (UTC). */
async function ensureDemo(nowMs: number): Promise<void> {
  if ((await dayOfDemo()) === Math.floor(nowMs / DAY_MS)) return;
  process.stderr.write('making the demo store, a few seconds\n');
  await makeDemo(nowMs);
}

const DEMO_KEY = 'demo';

/** The one key that is kept in clear: it reads synthetic data. */
const KEY_FILE = 'data/demo.key';

/** The key of the last start, or a new one. */
async function demoSecret(control: RowStore): Promise<string> {
  const kept = existsSync(KEY_FILE) ? readFileSync(KEY_FILE, 'utf8').trim() : '';
  if ((await new KeyRing(() => readKeys(control)).verify(kept, Date.now())) !== null) return kept;
  const { secret } = await replaceKey(control, DEMO_KEY, Date.now());
  rmSync(KEY_FILE, { force: true });
  writeFileSync(KEY_FILE, `${secret}\n`, { mode: 0o600 });
  return secret;
}

/** Requests that are printed without `--examples`. */
const FIRST_REQUESTS = 3;

/** The address, the key and requests to try, each of which answers 200. */
async function introduce(base: string, key: string, today: number, isWhole: boolean): Promise<string> {
  const lines = (await sampleText('requests.txt', today)).replaceAll('<API_KEY>', key).trimEnd().split('\n');
  const shown = isWhole ? lines : lines.slice(0, 2 * FIRST_REQUESTS);
  const requests = shown
    .map((line) => (line.startsWith('/') ? `    ${base}${line}` : `  ${line}`))
    .join('\n');
  return `Bourse serves a demo on ${base} - open it in a browser
Everything in it is synthetic: three years of prices up to ${formatDay(today - 1)} (AAPL, MSFT, SPY, BTCUSD, EURUSD), options, dividends, news, events.
Your key is ${key}

Try these in a browser, or in quotes after curl -s${isWhole ? '' : ' (all: bourse demo --examples)'}:
${requests}

Your own data: bourse import --help. To stop: Ctrl-C.
`;
}

export const demoCommand = (): Command =>
  command(
    'demo',
    {
      ...settingFlags('host', 'port', 'logLevel'),
      '--examples': 'print a request for each area, not only the first three',
    },
    'bourse demo',
    'bourse demo --port 9000 --examples',
  ).action(async ({ examples = false, ...flags }: SettingFlags & { readonly examples?: boolean }) => {
    const settings = { ...readSettings(flags), store: engineAt(DEMO_STORE).address };
    const nowMs = Date.now();
    const today = Math.floor(nowMs / DAY_MS);
    await ensureDemo(nowMs);
    await warnOfSettings(settings);
    let filledIn: string | null = null;
    const service = await startService(settings, () => filledIn);
    await untilStopped(service, async () => {
      filledIn = await closing(openControl(settings.store, 'write'), demoSecret);
      process.stdout.write(await introduce(service.url, filledIn, today, examples));
    });
  });
