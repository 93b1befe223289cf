// Imports of large files, without the start-up of the process: CSV against DuckDB's bare scan of the same
// file, Parquet against CSV.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { run, script } from '../process.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { importStartUpMs, withoutStartUp } from '../start-up.ts';
import { median, medianRatio } from '../statistics.ts';
import { tell } from '../workshop.ts';

const MEGABYTE = 2 ** 20;

const bySymbol = { name: 'ordered by symbol', order: 'symbol', symbols: 100 } as const;
const byTime = { name: 'ordered by time, 10,000 known symbols', order: 'time', symbols: 10_000 } as const;
const PARQUET = 'the same from Parquet';

type Kind = typeof bySymbol | typeof byTime;
type Source = Kind['name'] | typeof PARQUET;

/**
 * One import, or one scan: its time without the start of the process. An import also has its peak memory and
 * bytes of a stored bar.
 */
type Round = { readonly ms: number; readonly peakBytes: number; readonly bytesPerBar: number };
type Measured = {
  readonly rows: number;
  readonly imports: Readonly<Record<Source, readonly Round[]>>;
  readonly scans: Readonly<Record<Kind['name'], readonly Round[]>>;
};

const times = (rounds: readonly Round[]): number[] => rounds.map(({ ms }) => ms);
const barsPerSecond = ({ rows, imports }: Measured, source: Source): number =>
  (rows / median(times(imports[source]))) * 1000;

const linesOf = (source: Kind['name'], atLeast: number): Line<Measured>[] => [
  {
    name: source,
    unit: 'bars/s',
    comparedWith: "DuckDB's bare scan",
    target: { atLeast },
    measure: (measured) => ({
      measured: barsPerSecond(measured, source),
      ratio: medianRatio(times(measured.scans[source]), times(measured.imports[source])),
    }),
  },
  {
    name: `${source}, peak memory`,
    unit: 'MB',
    target: { atMost: 1024 },
    measure: ({ imports }) => ({
      measured: Math.max(...imports[source].map(({ peakBytes }) => peakBytes)) / MEGABYTE,
    }),
  },
  {
    name: `${source}, on disk`,
    unit: 'bytes/bar',
    target: { atMost: 11 },
    measure: ({ imports }) => ({ measured: median(imports[source].map((round) => round.bytesPerBar)) }),
  },
];

const lines: readonly Line<Measured>[] = [
  ...linesOf(bySymbol.name, 0.5),
  ...linesOf(byTime.name, 0.3),
  {
    name: PARQUET,
    unit: 'bars/s',
    comparedWith: 'the rows from CSV',
    target: { atLeast: 1.5 },
    measure: (measured) => ({
      measured: barsPerSecond(measured, PARQUET),
      ratio: medianRatio(times(measured.imports[bySymbol.name]), times(measured.imports[PARQUET])),
    }),
  },
];

async function bareScan(folder: string, csv: string, rows: number): Promise<Round> {
  const args = [...script(import.meta.resolve('../bare-scan.ts')), csv];
  const { stdout, peakBytes } = await run(folder, process.execPath, args);
  const scan = JSON.parse(stdout) as { rows: number; queryMs: number };
  assert.equal(scan.rows, rows);
  return { ms: scan.queryMs, peakBytes, bytesPerBar: 0 };
}

/** Imports a file into a new store, which knows its symbols where a file of one minute of each is given. */
async function importFile(
  { workshop }: Setting,
  path: string,
  rows: number,
  startUpMs: number,
  known: { readonly path: string; readonly rows: number } | null,
): Promise<Round> {
  const store = workshop.freshStore('import');
  if (known !== null) await store.importMinutes(known.path);
  const { wallMs, peakBytes, stdout } = await store.importMinutes(path);
  const bytesPerBar = store.bytes / (rows + (known?.rows ?? 0));
  store.remove();
  assert.match(stdout, new RegExp(`${rows.toLocaleString('en-US')} new`));
  return { ms: withoutStartUp(wallMs, startUpMs), peakBytes, bytesPerBar };
}

async function measure(setting: Setting): Promise<Measured> {
  const { workshop, scale } = setting;
  const { folder } = workshop;
  const startUpMs = await importStartUpMs(setting);
  tell(`imports: ${startUpMs.toFixed(0)} ms of start-up are taken off`);
  const rows = Math.ceil(scale.rows / byTime.symbols) * byTime.symbols;
  const symbolCsv = workshop.minutes({ ...bySymbol, rows });
  const timeCsv = workshop.minutes({ ...byTime, rows, firstMinute: 1 });
  const known = { path: workshop.minutes({ ...byTime, rows: byTime.symbols }), rows: byTime.symbols };
  const parquet = join(folder, 'minutes.parquet');
  await run(folder, process.execPath, [
    ...script(import.meta.resolve('../to-parquet.ts')),
    symbolCsv,
    parquet,
  ]);
  const subjects: Subjects<'scan' | 'scan by time' | Source, Round> = {
    scan: () => bareScan(folder, symbolCsv, rows),
    [bySymbol.name]: () => importFile(setting, symbolCsv, rows, startUpMs, null),
    [PARQUET]: () => importFile(setting, parquet, rows, startUpMs, null),
    'scan by time': () => bareScan(folder, timeCsv, rows),
    [byTime.name]: () => importFile(setting, timeCsv, rows, startUpMs, known),
  };
  const {
    scan,
    'scan by time': scanByTime,
    ...imports
  } = await interleave(
    'imports',
    scale.importRounds,
    subjects,
    ({ ms, peakBytes }) => `${(ms / 1000).toFixed(2)} s, ${(peakBytes / MEGABYTE).toFixed(0)} MB`,
  );
  for (const path of [symbolCsv, timeCsv, parquet]) workshop.discard(path);
  return { rows, imports, scans: { [bySymbol.name]: scan, [byTime.name]: scanByTime } as Measured['scans'] };
}

/** The lines of `import`. */
export const imports = group('import', 'none', lines, measure);
