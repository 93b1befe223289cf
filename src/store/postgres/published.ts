// Which versions of blocks count.

/** Versions from one to another, the latter excluded. */
export type Range = { readonly from: number; readonly to: number };

/** Versions up to one count, without those whose writer was cut off. */
export type Published = {
  readonly version: number;
  readonly abandoned: readonly Range[];
  /** The version of the data (docs/decisions/0029), which answers and caches go by. */
  readonly dataVersion: number;
};

export const isAbandoned = ({ abandoned }: Published, version: number): boolean =>
  abandoned.some(({ from, to }) => from <= version && version < to);
