// Where the bars of a series come from: what its imports were given as their source.
import { decodeIds } from '../../base/id-list.ts';
import { rowWith } from '../../store/all-rows.ts';
import { series } from '../../store/schema/bars.ts';
import { importRuns } from '../../store/schema/internal.ts';
import type { Reader } from '../../store/store.ts';

/** The runs of one state of a store. */
export class RunSources {
  readonly #reader: Reader;
  /** The source of each import that was asked for; undefined of another run. */
  readonly #sources = new Map<number, string | null | undefined>();

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The source of the newest import that holds a series; null without one. */
  async sourceOf({ series_id }: { readonly series_id: number }): Promise<string | null> {
    const row = await rowWith(this.#reader, series, { series_id });
    for (const runId of row === null ? [] : decodeIds(row.runs).reverse()) {
      const source = await this.#read(runId);
      if (source !== undefined) return source;
    }
    return null;
  }

  async #read(run_id: number): Promise<string | null | undefined> {
    if (this.#sources.has(run_id)) return this.#sources.get(run_id);
    const run = await rowWith(this.#reader, importRuns, { run_id });
    const source = run?.kind === 'import' ? run.source : undefined;
    this.#sources.set(run_id, source);
    return source;
  }
}
