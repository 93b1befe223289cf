// What commands that select rows share: the bounds of a selection, and the columns that it says something of.
import { endOf, type ParsedInstant, startOf, type TimeKind } from '../base/instant.ts';
import { RequestProblem } from './request-problem.ts';

/** `from` included, `to` not; an end that is missing has no bound. */
export type RowRange = { readonly from?: number; readonly to?: number };

type Bound = ParsedInstant | null | undefined;

/** The range of two inclusive bounds. @throws RequestProblem where they are the wrong way round */
export function rangeOf(from: Bound, to: Bound, kind: TimeKind): RowRange {
  const range = { ...(from && { from: startOf(from, kind) }), ...(to && { to: endOf(to, kind) }) };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new RequestProblem('--from lies after --to: exchange the two');
  return range;
}

/** The columns that are given. */
export const given = (columns: Readonly<Record<string, string | null | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(columns).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
