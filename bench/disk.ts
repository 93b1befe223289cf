// Bytes on disk of minute bars that come a day at a time.
import { judged, type Line } from './line.ts';
import { type Options, tell } from './workshop.ts';

const SYMBOLS = 1_000;
const MINUTES = 390;
const DAYS = 21;

/** The lines of `disk`. */
export async function benchDisk({ workshop }: Options): Promise<Line[]> {
  const store = workshop.freshStore('disk');
  const rows = SYMBOLS * MINUTES;
  for (let day = 0; day < DAYS; day++) {
    const csv = workshop.minutes({ rows, order: 'time', symbols: SYMBOLS, firstMinute: day * MINUTES });
    const { wallMs } = await store.importMinutes(csv);
    tell(
      `disk ${day + 1}/${DAYS}: ${(wallMs / 1000).toFixed(2)} s, ${(store.bytes / (rows * (day + 1))).toFixed(2)} bytes a bar`,
    );
  }
  const measured = store.bytes / (rows * DAYS);
  store.remove();
  return [
    judged({
      line: `disk: ${DAYS} daily appends of ${SYMBOLS.toLocaleString('en-US')} symbols`,
      measured,
      unit: 'bytes/bar',
      ratio: null,
      budget: { atMost: 13 },
    }),
  ];
}
