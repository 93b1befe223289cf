// The progress of long work as one line on a terminal; nothing where there is no terminal.
import { formatBytes } from '../../base/size.ts';
import { isQuiet } from './output.ts';
import { count, printable } from './table.ts';

/** How often the line is written again. */
const EVERY_MS = 200;

/** Work that ends sooner shows no line. */
const QUIET_MS = 500;

function seconds(value: number): string {
  const whole = Math.ceil(value);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The file that is being read or written, and its size; null where that is not known. */
type Task = {
  readonly name: string;
  readonly bytes: number | null;
  readonly rowsAbout: number | null;
};

/** Describes the progress of a task: rows, rows a second, bytes, time left. */
export function progressText({ name, bytes, rowsAbout }: Task, rows: number, elapsedMs: number): string {
  const perSecond = (rows / elapsedMs) * 1000;
  const done = rowsAbout === null ? null : Math.min(rows / rowsAbout, 1);
  const parts = [`${count(rows)} rows`, `${count(perSecond)} rows/s`];
  if (done !== null && done > 0) {
    parts.unshift(
      bytes === null
        ? `${Math.floor(100 * done)} %`
        : `${formatBytes(done * bytes)} of ${formatBytes(bytes)}`,
    );
    parts.push(`${seconds((elapsedMs / 1000) * (1 / done - 1))} left`);
  }
  return `${printable(name)}: ${parts.join(', ')}`;
}

/** Shows the progress of a task while `work` tells of it. */
export async function withProgress<T>(
  task: Task,
  work: (onRows: (rows: number) => void) => Promise<T>,
): Promise<T> {
  const progress = new Progress(task);
  try {
    return await work((rows) => progress.reached(rows));
  } finally {
    progress.end();
  }
}

/** The progress of one task on standard error. */
export class Progress {
  readonly #task: Task;
  readonly #isShown = process.stderr.isTTY && !isQuiet();
  readonly #startedMs = performance.now();
  #shownMs = this.#startedMs + QUIET_MS - EVERY_MS;

  constructor(task: Task) {
    this.#task = task;
  }

  /** Shows the number of rows that were read. */
  reached(rows: number): void {
    const nowMs = performance.now();
    if (!this.#isShown || nowMs - this.#shownMs < EVERY_MS) return;
    this.#shownMs = nowMs;
    const text = progressText(this.#task, rows, nowMs - this.#startedMs);
    process.stderr.write(`\r\x1b[K${text.slice(0, process.stderr.columns - 1)}`);
  }

  /** Removes the line. */
  end(): void {
    if (this.#isShown) process.stderr.write('\r\x1b[K');
  }
}
