// The data that the fuzzer asks for: a few instruments of every kind, as a file that the import reads.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storedNames } from './grammar.ts';

const HEADER = 'asset_schema,country_iso_code,symbol,interval,datetime,open,high,low,close,volume';
const MINUTES = 60;
const DAYS = ['03', '04', '05', '06', '07'];

/** Interval and time of each bar that every instrument has: minutes of two days, and days. */
const times: readonly string[] = [
  ...['03', '04'].flatMap((day) =>
    Array.from({ length: MINUTES }, (_, index) => {
      const atMs = Date.parse(`2025-03-${day}T14:30:00Z`) + index * 60_000;
      return `1M,${new Date(atMs).toISOString()}`;
    }),
  ),
  ...DAYS.map((day) => `DAY,2025-03-${day}`),
];

/** Writes the bars into a file in the folder; its path. */
export function writeBars(folder: string): string {
  const rows = storedNames.flatMap((name) =>
    times.map((time, index) => `${name.replaceAll(':', ',')},${time},1,3.5,0.5,2,${index}`),
  );
  const file = join(folder, 'bars.csv');
  writeFileSync(file, [HEADER, ...rows, ''].join('\n'));
  return file;
}
