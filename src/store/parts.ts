// The parts of the data that a row belongs to, and that a read depends on: both by the rules that the
// datasets declare (docs/decisions/0029).
import { crc32 } from 'node:zlib';
import type { Dataset, PartKind, PartRule } from './schema/dataset.ts';

/** A part in one text: a dataset's name, or kind and number such as `instrument 100001`. */
export type Part = string;

/** A part and the version of a write that changed it. */
export type Change = { readonly part: Part; readonly version: number };

/** The part that is all data. */
export const EVERYTHING: Part = '*';

type Values = Readonly<Record<string, unknown>>;

export const partOf = (kind: PartKind, id: number): Part => `${kind} ${id}`;

/** The bars of a series, which of them are unfinished included. */
export const barsOf = (seriesId: number): Part => partOf('series', seriesId);

/** The number of a part; null for rows that belong to none, and for reads that name no single one. */
export function partId({ of, where = {} }: PartRule, values: Values): number | null {
  for (const column in where) if (values[column] !== where[column]) return null;
  if (of.length === 1) return (values[of[0] as string] as number | undefined) ?? null;
  let text = '';
  for (const one of of) {
    const value = typeof one === 'string' ? values[one] : one.is;
    if (value === undefined) return null;
    text += `${value as string | number}\n`;
  }
  // Two names of one number are forgotten together, which does no harm.
  return crc32(text);
}

/**
 * The part that a read depends on whose columns equal `where`: one part where a rule tells it, else the
 * whole dataset.
 */
export function partRead({ name, parts = [] }: Dataset, where: Values = {}): Part {
  for (const rule of parts) {
    const id = partId(rule, where);
    if (id !== null) return partOf(rule.kind, id);
  }
  return name;
}

/** The values that all of some keys have. */
export const sharedBy = (keys: readonly Values[]): Values =>
  Object.fromEntries(
    Object.entries(keys[0] ?? {}).filter(([column, value]) => keys.every((key) => key[column] === value)),
  );

const moving = new WeakMap<Dataset, readonly string[]>();

/** Columns outside the key that decide the part of a row: an upsert may move it from one part to another. */
export function movingColumns(dataset: Dataset): readonly string[] {
  const known = moving.get(dataset);
  if (known !== undefined) return known;
  const { parts = [], key } = dataset;
  const columns = parts.flatMap(({ of }) => of).filter((one) => typeof one === 'string');
  const found = columns.filter((column) => !key.includes(column));
  moving.set(dataset, found);
  return found;
}
