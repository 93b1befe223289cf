// Imports of CSV files as a whole process, against DuckDB's bare scan of the same file.
import assert from 'node:assert/strict';
import { judged, type Line, median } from './line.ts';
import { run, script } from './process.ts';
import { type Options, tell } from './workshop.ts';

const ROUNDS_MAX = 3;
const MEGABYTE = 2 ** 20;

type Kind = {
  readonly name: string;
  readonly order: 'symbol' | 'time';
  readonly symbols: number;
  readonly rows: number;
};

type Round = {
  readonly barsPerSecond: number;
  readonly ratio: number;
  readonly peakBytes: number;
  readonly bytesPerBar: number;
};

async function bareScan(folder: string, csv: string): Promise<{ rows: number; queryMs: number }> {
  const args = [...script(import.meta.resolve('./bare-scan.ts')), csv];
  const { stdout, wallMs } = await run(folder, process.execPath, args);
  const scan = JSON.parse(stdout) as { rows: number; queryMs: number };
  tell(`  bare scan: ${(scan.queryMs / 1000).toFixed(2)} s, as a process ${(wallMs / 1000).toFixed(2)} s`);
  return scan;
}

async function measure(kind: Kind, csv: string, options: Options): Promise<Round> {
  const { workshop } = options;
  const scan = await bareScan(workshop.folder, csv);
  assert.equal(scan.rows, kind.rows);
  const store = workshop.freshStore('import');
  const { wallMs, peakBytes, stdout } = await store.importMinutes(csv);
  const bytesPerBar = store.bytes / kind.rows;
  store.remove();
  assert.match(stdout, new RegExp(`${kind.rows.toLocaleString('en-US')} new`));
  tell(
    `  import: ${(wallMs / 1000).toFixed(2)} s, ${(peakBytes / MEGABYTE).toFixed(0)} MB, ${bytesPerBar.toFixed(2)} bytes a bar`,
  );
  return { barsPerSecond: (kind.rows / wallMs) * 1000, ratio: scan.queryMs / wallMs, peakBytes, bytesPerBar };
}

async function linesOf(kind: Kind, options: Options): Promise<Line[]> {
  const csv = options.workshop.minutes(kind);
  const rounds: Round[] = [];
  const count = Math.min(options.rounds, ROUNDS_MAX);
  for (let round = 0; round < count; round++) {
    tell(`import ${kind.name} ${round + 1}/${count}`);
    rounds.push(await measure(kind, csv, options));
  }
  const line = `import: ${kind.name}`;
  const of = (figure: keyof Round): number => median(rounds.map((round) => round[figure]));
  return [
    judged({
      line,
      measured: of('barsPerSecond'),
      unit: 'bars/s',
      ratio: { value: of('ratio'), to: "DuckDB's bare scan" },
      budget: { atLeast: 0.5 },
    }),
    judged({
      line: `${line}, peak resident`,
      measured: Math.max(...rounds.map((round) => round.peakBytes)) / MEGABYTE,
      unit: 'MB',
      ratio: null,
      budget: { atMost: 1024 },
    }),
    judged({
      line: `${line}, on disk`,
      measured: of('bytesPerBar'),
      unit: 'bytes/bar',
      ratio: null,
      budget: { atMost: 13 },
    }),
  ];
}

/** The lines of `import`. */
export async function benchImport(options: Options): Promise<Line[]> {
  const kinds: readonly Kind[] = [
    { name: 'by symbol', order: 'symbol', symbols: 100, rows: options.rows },
    { name: 'by time, 10,000 symbols', order: 'time', symbols: 10_000, rows: Math.ceil(options.rows / 5) },
  ];
  const lines: Line[] = [];
  for (const kind of kinds) lines.push(...(await linesOf(kind, options)));
  return lines;
}
