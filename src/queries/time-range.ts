// Bounds of a time as a caller writes them, both included -> instants, half-open; a date alone is a UTC day (contract 2.2, 2.3).
import { DAY_MS, type ParsedInstant } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';

/** A bound and how it was written. */
type Bound = ParsedInstant & { readonly text: string };

const startOf = (bound: Bound): number => (bound.kind === 'date' ? bound.day * DAY_MS : bound.ms);
const endOf = (bound: Bound): number => (bound.kind === 'date' ? (bound.day + 1) * DAY_MS : bound.ms + 1);

/** Epoch milliseconds: `from` included, `to` not; what was not asked for is left out. @throws Refusal where from is after to */
export function instantRange(
  from: Bound | undefined,
  to: Bound | undefined,
): { readonly from?: number; readonly to?: number } {
  if (from !== undefined && to !== undefined && startOf(from) >= endOf(to)) {
    throw new Refusal('invalid_parameter', {
      message: `from_date lies after to_date: ${from.text} is later than ${to.text}.`,
      param: 'from_date',
      got: from.text,
      hint: 'Exchange the two dates.',
    });
  }
  return {
    ...(from === undefined ? {} : { from: startOf(from) }),
    ...(to === undefined ? {} : { to: endOf(to) }),
  };
}
