// The dates of a request as half-open ranges of stored days or instants (contract 2.2, 2.3).
import { endOf, formatDay, type ParsedInstant, startOf } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';

/** From `from` up to but not including `to`; a missing end is unbounded. */
export type Bounds = { readonly from?: number; readonly to?: number };

/** Bounds of those ends that are given. */
export const boundsOf = (from: number | undefined, to: number | undefined): Bounds => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
});

/** The days from one date to another, both included. @throws Refusal where `from` is after `to` */
export function dayBounds(from: number | undefined, to: number | undefined): Bounds {
  if (from !== undefined && to !== undefined && from > to) throw wrongOrder(formatDay(from), formatDay(to));
  return boundsOf(from, to === undefined ? undefined : to + 1);
}

type Sent = ParsedInstant & { readonly text: string };

/**
 * The instants from one to another, both included; a date is a UTC day. @throws Refusal where `from` is after
 * `to`
 */
export function instantBounds(from: Sent | undefined, to: Sent | undefined): Bounds {
  const bounds = boundsOf(from && startOf(from, 'instant'), to && endOf(to, 'instant'));
  if (from !== undefined && to !== undefined && bounds.from! >= bounds.to!)
    throw wrongOrder(from.text, to.text);
  return bounds;
}

/** The refusal of a range whose end is before its start. */
export function wrongOrder(from: string, to: string): Refusal {
  return new Refusal('invalid_parameter', {
    message: `from_date is after to_date: ${from} is later than ${to}.`,
    param: 'from_date',
    got: from,
    hint: 'Swap the two dates.',
  });
}
