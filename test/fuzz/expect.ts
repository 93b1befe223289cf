// What a good answer must hold: a list's records and their order, or whatever else can be told of it.
import assert from 'node:assert/strict';
import type { Cell } from '../csv.ts';

/** A record as it came: values of JSON, or cells of CSV. */
export type Came = Readonly<Record<string, unknown>>;

/** A good answer, whatever its form. */
export type Good = {
  /** The records of each group; of what is not grouped all of them. */
  readonly groups: readonly (readonly Came[])[];
  /** Whether there is a next page; null where the endpoint has no pages. */
  readonly hasNext: boolean | null;
  /** A map's entries. */
  readonly entries: Came;
};

/**
 * A record that a list must give: the fields that are known of it, and its place. Equal places may come in
 * any order.
 */
export type Expected = { readonly fields: Came; readonly place: string };

/** What must come of a request whose texts are right one by one. */
export type Expectation = {
  /**
   * Refusals that right texts call for together; one of them must come, before any that the data calls for
   * (contract 6.4).
   */
  readonly mistakes?: readonly string[];
  /** Refusals that the data calls for; one of them must come. */
  readonly faults: readonly string[];
  /** It may be good in spite of them. */
  readonly mayBeGood?: boolean;
  /** The whole list in its order, without paging. */
  readonly list?: readonly Expected[];
  /** Where the answer begins in it, of lists without pages. */
  readonly start?: number;
  /** Whatever else a good answer must hold. */
  readonly check?: (good: Good) => void;
};

/** A value as CSV has it. */
const cellOf = (value: unknown): Cell =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);

const fits = ({ fields }: Expected, came: Came): boolean =>
  Object.entries(fields).every(([name, value]) => cellOf(came[name]) === cellOf(value));

/** Which records of the list came. @throws where one is not in it, or comes twice */
function recognize(list: readonly Expected[], group: readonly Came[], used: Set<Expected>): Expected[] {
  return group.map((came) => {
    const found = list.find((one) => !used.has(one) && fits(one, came));
    assert.ok(found !== undefined, `not expected, or twice: ${JSON.stringify(came)}`);
    used.add(found);
    return found;
  });
}

/**
 * Holds records to the list from `start` on: which they are, and in which order each group, and the groups by
 * their first.
 */
export function judgeList(list: readonly Expected[], start: number, limit: number, good: Good): void {
  const wanted = list.slice(start, start + limit);
  const used = new Set<Expected>();
  const groups = good.groups.map((group) => recognize(list, group, used));
  const ranks = new Map<string, number>();
  for (const { place } of list) if (!ranks.has(place)) ranks.set(place, ranks.size);
  const ranksOf = (records: readonly Expected[]): number[] => records.map(({ place }) => ranks.get(place)!);
  const inOrder = (numbers: readonly number[]): number[] => numbers.toSorted((a, b) => a - b);
  assert.deepEqual(inOrder(ranksOf(groups.flat())), inOrder(ranksOf(wanted)), 'these records and no others');
  const heads = groups.flatMap((group) => group.slice(0, 1));
  for (const records of [...groups, heads])
    assert.deepEqual(ranksOf(records), inOrder(ranksOf(records)), 'in order');
  if (good.hasNext !== null)
    assert.equal(good.hasNext, start + limit < list.length, 'a next page where there is more');
}
