// The headers of adjusted bars: actions that could not be applied, and applied actions that the default list
// leaves out (contract 8.2, 8.10).
import { queryLimits } from './limits.ts';
import type { ActionNames, Adjusted, AdjustedNames, Answer } from './query.ts';

const headers = { incomplete: 'X-Adjust-Incomplete', unlisted: 'X-Adjusted-By' } as const;

const kinds = ['incomplete', 'unlisted'] as const;

const limited = (names: readonly string[], count: number): ActionNames => ({
  first: names.slice(0, queryLimits.actionsNamedMax),
  count,
});

const namesOf = (names: ReadonlySet<string>): ActionNames => limited([...names], names.size);

const joined = (one: ActionNames, other: ActionNames): ActionNames =>
  limited([...one.first, ...other.first], one.count + other.count);

/** The names of several steps of one answer, in their order. */
export class NamesOfSteps implements AdjustedNames {
  incomplete: ActionNames = limited([], 0);
  unlisted: ActionNames = limited([], 0);

  add(step: AdjustedNames): void {
    for (const kind of kinds) this[kind] = joined(this[kind], step[kind]);
  }
}

function textOf({ first, count }: ActionNames, readThrough: string | null): string {
  const more = count > first.length ? [`and ${count - first.length} more`] : [];
  const unread = `symbols after ${readThrough} are not included (format=parquet includes all)`;
  return [...first, ...more, ...(readThrough === null ? [] : [unread])].join(', ');
}

/**
 * `X-Adjust-Incomplete` and `X-Adjusted-By`, if there is something to tell. `readThrough` is the last symbol
 * whose actions are known; null if those of all are.
 */
export function adjustedHeaders(
  names: AdjustedNames,
  readThrough: string | null = null,
): Record<string, string> {
  const told = kinds.map((kind) => [headers[kind], textOf(names[kind], readThrough)] as const);
  return Object.fromEntries(told.filter(([, text]) => text !== ''));
}

/** The answer with these headers; a step of a streamed answer with the names for them. */
export function tellingAdjusted<A extends Answer & { kind: 'answer' }>(
  answer: A,
  { incomplete, unlisted, readThrough }: Adjusted,
): A {
  const names = { incomplete: namesOf(incomplete), unlisted: namesOf(unlisted) };
  return answer.rows === undefined
    ? { ...answer, headers: { ...answer.headers, ...adjustedHeaders(names) } }
    : { ...answer, adjusted: { ...names, readThrough } };
}
