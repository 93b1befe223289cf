// The damage that a serving process knows in its store: found by the newest reading, or met by requests since
// that began.
import type { Scrub } from '../../store/control.ts';
import { damageWords } from '../../store/damage.ts';
import { cliLimits } from '../shared/limits.ts';

/**
 * Damaged parts, in words: a part that is deleted is forgotten by the reading that begins and ends after its
 * deletion.
 */
export class KnownDamage {
  /** Since when each part is known. */
  readonly #parts = new Map<string, number>();
  #readingMs = 0;
  /** When the newest reading ended; null before the first. */
  readMs: number | null = null;

  get parts(): readonly string[] {
    return [...this.#parts.keys()];
  }

  /** Keeps what a request met at a moment. */
  met(words: string, nowMs: number): void {
    if (!this.#parts.has(words) && this.#parts.size < cliLimits.knownDamageMax) this.#parts.set(words, nowMs);
  }

  /** Keeps what a reading found, ended or not. Gives the parts that were not known before. */
  read({ startedMs, finishedMs, damage }: Scrub): readonly string[] {
    const before = new Set(this.#parts.keys());
    if (finishedMs !== null && startedMs !== this.#readingMs) {
      this.readMs = finishedMs;
      this.#readingMs = startedMs;
      for (const [words, knownMs] of this.#parts) if (knownMs < startedMs) this.#parts.delete(words);
    }
    // A reading that goes on still has what an earlier one found: its own end decides whether that is
    // gone.
    const sinceMs = finishedMs === null ? 0 : startedMs;
    const found = damage.map(damageWords);
    for (const words of found) this.met(words, sinceMs);
    return found.filter((words) => !before.has(words));
  }
}
