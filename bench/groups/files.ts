// Many small files, one for each symbol and day, against the same rows in one file.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { SESSION_MINUTES } from '../minutes.ts';
import { interleave } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { importStartUpMs, withoutStartUp } from '../start-up.ts';
import { median, medianRatio } from '../statistics.ts';

const SYMBOLS = 50;

type Measured = { readonly files: number; readonly many: readonly number[]; readonly one: readonly number[] };

const lines: readonly Line<Measured>[] = [
  {
    name: 'small files of 390 rows',
    unit: 'files/s',
    target: { atLeast: 100 },
    measure: ({ files, many }) => ({ measured: (files / median(many)) * 1000 }),
  },
  {
    name: 'small files of 390 rows',
    unit: 'bars/s',
    comparedWith: 'the same rows in one file',
    target: { atLeast: 0.3 },
    measure: ({ files, many, one }) => ({
      measured: ((files * SESSION_MINUTES) / median(many)) * 1000,
      ratio: medianRatio(one, many),
    }),
  },
];

/** Writes a file of each session of each symbol; the pattern that fits them. */
function split(csv: string, folder: string): string {
  mkdirSync(folder);
  const [header, ...rows] = readFileSync(csv, 'utf8').trimEnd().split('\n');
  for (let at = 0; at < rows.length; at += SESSION_MINUTES) {
    const own = rows.slice(at, at + SESSION_MINUTES);
    writeFileSync(join(folder, `${at / SESSION_MINUTES}.csv`), `${[header, ...own].join('\n')}\n`);
  }
  return join(folder, '*.csv');
}

async function measure(setting: Setting): Promise<Measured> {
  const { workshop, scale } = setting;
  const startUpMs = await importStartUpMs(setting);
  const files = Math.ceil(scale.files / SYMBOLS) * SYMBOLS;
  const csv = workshop.minutes({ rows: files * SESSION_MINUTES, order: 'symbol', symbols: SYMBOLS });
  const folder = join(workshop.folder, 'small-files');
  const pattern = split(csv, folder);
  const importAll = async (path: string): Promise<number> => {
    const store = workshop.freshStore('files');
    const { wallMs } = await store.importMinutes(path);
    store.remove();
    return withoutStartUp(wallMs, startUpMs);
  };
  const { many, one } = await interleave(
    `files: ${files}`,
    scale.importRounds,
    { one: () => importAll(csv), many: () => importAll(pattern) },
    (ms) => `${(ms / 1000).toFixed(2)} s`,
  );
  rmSync(folder, { recursive: true });
  return { files, many, one };
}

/** The lines of `files`. */
export const files = group('files', 'none', lines, measure);
