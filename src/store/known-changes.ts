// What one thread knows of the changes of a store: whether a value that was read from one version is still
// that of another.
import { storeLimits } from './limits.ts';
import { EVERYTHING, type Part } from './parts.ts';
import type { DataState, Versioned } from './store.ts';

/** Follows the changes of one store (docs/decisions/0029). What it does not know counts as changed. */
export class KnownChanges {
  /** The version of the last known change of each part, for those since `#fromVersion`. */
  readonly #changed = new Map<Part, number>();
  /** The data that it knows. */
  #id: string | null = null;
  /** Changes are known after the first of these versions, and up to the second. */
  #fromVersion = Number.NaN;
  #version = Number.NaN;

  /** Names the data that were met last (`Versioned`); null before the first. */
  get id(): string | null {
    return this.#id;
  }

  /** The version that was met last; NaN before the first. */
  get version(): number {
    return this.#version;
  }

  /** Reads what has changed up to the version of a state, which it gives; null where damage hides it. */
  async follow(state: Versioned): Promise<number | null> {
    const version = await state.version();
    const { id } = state;
    if (version === null) return null;
    if (id !== this.#id) {
      this.#id = id;
      this.#begin(version);
      return version;
    }
    // An older snapshot may go on beside newer ones.
    if (version <= this.#version) return version;
    const changes = await state.changesAfter(this.#version, storeLimits.changedPartsMax);
    // Another request may have read further meanwhile, or other data.
    if (id !== this.#id || version <= this.#version) return version;
    if (changes === null || this.#changed.size > storeLimits.knownChangesMax) this.#begin(version);
    else for (const change of changes) this.#changed.set(change.part, change.version);
    this.#version = version;
    return version;
  }

  #begin(version: number): void {
    this.#changed.clear();
    this.#fromVersion = version;
    this.#version = version;
  }

  /** Whether parts are the same in two states. */
  isSame(
    parts: Iterable<Part>,
    { id, version: one }: DataState,
    { id: otherId, version: other }: DataState,
  ): boolean {
    if (id !== otherId) return false;
    if (one === other) return true;
    if (id !== this.#id) return false;
    const [from, to] = one < other ? [one, other] : [other, one];
    if (!(from >= this.#fromVersion && to <= this.#version)) return false;
    for (const part of parts)
      if (part === EVERYTHING || (this.#changed.get(part) ?? from) > from) return false;
    return true;
  }
}
