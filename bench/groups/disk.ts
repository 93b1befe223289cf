// Bytes on disk of a minute bar: imported at once, and a day at a time.
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { SESSION_MINUTES } from '../minutes.ts';
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

async function appended({ workshop, scale: { days, symbolsADay } }: Setting): Promise<number> {
  const store = workshop.freshStore('daily');
  const rows = symbolsADay * SESSION_MINUTES;
  for (let day = 0; day < days; day++) {
    const firstMinute = day * SESSION_MINUTES;
    const csv = workshop.minutes({ rows, order: 'time', symbols: symbolsADay, firstMinute });
    const { wallMs } = await store.importMinutes(csv);
    workshop.discard(csv);
    tell(
      `disk ${day + 1}/${days}: ${(wallMs / 1000).toFixed(2)} s, ${(store.bytes / (rows * (day + 1))).toFixed(2)} bytes a bar`,
    );
  }
  const bytes = store.bytes / (rows * days);
  store.remove();
  return bytes;
}

async function atOnce({ workshop, scale: { days, symbolsADay } }: Setting): Promise<number> {
  const rows = symbolsADay * SESSION_MINUTES * days;
  const store = workshop.freshStore('bulk');
  const csv = workshop.minutes({ rows, order: 'symbol', symbols: symbolsADay });
  await store.importMinutes(csv);
  workshop.discard(csv);
  const bytes = store.bytes / rows;
  store.remove();
  return bytes;
}

/** The lines of `disk`. */
export const disk = group(
  'disk',
  lines,
  async (setting): Promise<Measured> => ({ bulk: await atOnce(setting), daily: await appended(setting) }),
);
