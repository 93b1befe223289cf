// The clock of the processes of the year: loaded by `--import` in NODE_OPTIONS, it is ahead of the machine's
// by the number in the file that YEAR_CLOCK names, which moves all of them at once. A watch waits for seconds
// of the monotonic clock: YEAR_SPEED shortens them.
import { openSync, readSync } from 'node:fs';
import { realMs, setClock } from '../false-clock.ts';

const file = openSync(process.env.YEAR_CLOCK!, 'r');
/** The file has so many bytes: they are written at once, so that nobody reads half of a number. */
const bytes = Buffer.alloc(16);

setClock(() => {
  readSync(file, bytes, 0, bytes.length, 0);
  return realMs() + Number(bytes.toString());
});

const speed = Number(process.env.YEAR_SPEED ?? 1);
const now = performance.now.bind(performance);
if (speed !== 1) performance.now = () => speed * now();
