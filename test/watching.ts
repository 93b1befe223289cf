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

  /** Of minutes of a US stock by its symbol; null where each file tells by its columns what it has. */
  constructor(
    shop: Workshop,
    folder: string,
    symbol: string | null = 'A',
    more: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ) {
    const flags = ['--schema', 'stock', '--country', 'US', '--interval', '1M', '--symbol', symbol ?? ''];
    const words = ['import', 'bars', '--watch', folder, ...(symbol === null ? [] : flags), ...more];
    this.#child = shop.start(words, environment);
    children.push(this.#child);
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.on('data', (piece) => {
        this.said += piece;
      });
    this.#ended = new Promise((resolve) => this.#child.once('exit', resolve));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Its exit status, once it has ended. */
  get ended(): Promise<number | null> {
    return this.#ended;
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

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  end(name: NodeJS.Signals): Promise<number | null> {
    this.signal(name);
    return this.#ended;
  }
}
