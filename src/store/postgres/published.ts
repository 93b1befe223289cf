// Which versions of blocks count, and which data they are of.

/** Versions from one to another, the latter excluded. */
export type Range = { readonly from: number; readonly to: number };

/** Versions up to one count, without those whose writer was cut off. */
export type Versions = { readonly version: number; readonly abandoned: readonly Range[] };

/** The published versions, as one server has them. */
export type Published = Versions & {
  /** The version of the data (docs/decisions/0029), which answers and caches go by. */
  readonly dataVersion: number;
  /** As `Session.server`. */
  readonly server: number;
  /** The table that they were read from: a restore makes another. */
  readonly table: number;
};

/** Published versions, and what names the data that they are of. */
export type Identified = Published & { readonly id: string };

/** Ranges as PostgreSQL writes and reads them: `{[3,5),[9,10)}`. */
export const rangesText = (ranges: readonly Range[]): string =>
  `{${ranges.map(({ from, to }) => `[${from},${to})`).join()}}`;

/**
 * Names the data that published versions are of. Another run of a server may have other data, as may a table
 * that was made anew. In one table of one run versions only rise; where they went back, somebody has put
 * older rows into it.
 */
export class DataNames {
  #newest: Published | null = null;
  #timesBack = 0;

  /** What `read` gives, with the name of its data. */
  async identify(read: Promise<Published>): Promise<Identified> {
    // What others were told before the question was asked is in the answer.
    const before = this.#newest;
    const found = await read;
    if (before === null || !isSameTable(before, found)) this.#newest = found;
    else if (found.version < before.version || found.dataVersion < before.dataVersion) {
      this.#newest = found;
      this.#timesBack++;
    } else if (found.version > this.#newest!.version) this.#newest = found;
    return { ...found, id: `${found.server} ${found.table} ${this.#timesBack}` };
  }
}

const isSameTable = (one: Published, other: Published): boolean =>
  one.server === other.server && one.table === other.table;
