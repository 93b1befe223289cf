// Bytes on disk of a minute bar: imported at once, and a day at a time.
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { SESSION_MINUTES } from '../minutes.ts';
import type { Finished } from '../process.ts';
import type { Setting } from '../setting.ts';
import { tell } from '../workshop.ts';

/** Bytes of a bar. */
type Measured = { readonly bulk: number; readonly daily: number };

const lines: readonly Line<Measured>[] = [
  {
    name: 'minute bars, imported at once',
    unit: 'bytes/bar',
    target: { atMost: 11 },
    measure: ({ bulk }) => ({ measured: bulk }),
  },
  {
    name: 'minute bars, appended a day at a time',
    unit: 'bytes/bar',
    target: { atMost: 11 },
    measure: ({ daily }) => ({ measured: daily }),
  },
];

/** A store that tells its size. */
type Sized = {
  importMinutes(path: string): Promise<Finished>;
  readonly bytes: number | Promise<number>;
  remove(): void | Promise<void>;
};

/** Bytes of a bar where a day was imported after the other. */
export async function bytesAppended(
  { workshop, scale: { days, symbolsADay } }: Setting,
  store: Sized,
): Promise<number> {
  const rows = symbolsADay * SESSION_MINUTES;
  for (let day = 0; day < days; day++) {
    const firstMinute = day * SESSION_MINUTES;
    const csv = workshop.minutes({ rows, order: 'time', symbols: symbolsADay, firstMinute });
    const { wallMs } = await store.importMinutes(csv);
    workshop.discard(csv);
    const bytesPerBar = (await store.bytes) / (rows * (day + 1));
    tell(`disk ${day + 1}/${days}: ${(wallMs / 1000).toFixed(2)} s, ${bytesPerBar.toFixed(2)} bytes a bar`);
  }
  const bytes = (await store.bytes) / (rows * days);
  await store.remove();
  return bytes;
}

/** The same of one import. */
async function bytesAtOnce(
  { workshop, scale: { days, symbolsADay } }: Setting,
  store: Sized,
): Promise<number> {
  const rows = symbolsADay * SESSION_MINUTES * days;
  const csv = workshop.minutes({ rows, order: 'symbol', symbols: symbolsADay });
  await store.importMinutes(csv);
  workshop.discard(csv);
  const bytes = (await store.bytes) / rows;
  await store.remove();
  return bytes;
}

/** The lines of `disk`. */
export const disk = group(
  'disk',
  'none',
  lines,
  async (setting): Promise<Measured> => ({
    bulk: await bytesAtOnce(setting, setting.workshop.freshStore('bulk')),
    daily: await bytesAppended(setting, setting.workshop.freshStore('daily')),
  }),
);
