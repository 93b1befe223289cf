// A watched folder of a test: `bourse import bars --watch`, and what it says.
import type { ChildProcess } from 'node:child_process';
import type { Workshop } from './service.ts';
import { until } from './until.ts';

const children: ChildProcess[] = [];

/** Ends every watch of this process. */
export function endWatches(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** A watch under way, and what it says. */
export class Watch {
  said = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;

  constructor(shop: Workshop, folder: string, symbol = 'A', more: readonly string[] = []) {
    const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', symbol];
    this.#child = shop.start(['import', 'bars', '--watch', folder, ...flags, ...more]);
    children.push(this.#child);
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (piece) => {
        this.said += piece;
      });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  async until(said: RegExp): Promise<void> {
    await until(
      () => `${said} is said: ${this.said}`,
      () => said.test(this.said),
    );
  }

  /** The number of times that something was said. */
  times(said: RegExp): number {
    return Array.from(this.said.matchAll(new RegExp(said, 'g'))).length;
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    this.#child.kill(signal);
    return this.#ended;
  }
}
