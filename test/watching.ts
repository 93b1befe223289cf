// A watched folder of a test: `bourse import bars --watch`, and what it says.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import type { Workshop } from './service.ts';

const PATIENCE_MS = 60_000;

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
    const endMs = performance.now() + PATIENCE_MS;
    while (!said.test(this.said)) {
      assert.ok(performance.now() < endMs, `${said} was not said: ${this.said}`);
      await wait(50);
    }
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
