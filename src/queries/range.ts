// The bounds of lists by date and by instant as half-open ranges of what is stored (contract 2.2, 2.3).
import { endOf, formatDay, type ParsedInstant, startOf } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';

/** `from` included, `to` not; an end that is missing has no bound. */
export type Bounds = { readonly from?: number; readonly to?: number };

const boundsOf = (from: number | undefined, to: number | undefined): Bounds => ({
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
});

/** Days from one date to another, both included. @throws Refusal where they are in the wrong order */
export function dayBounds(from: number | undefined, to: number | undefined): Bounds {
  if (from !== undefined && to !== undefined && from > to) throw wrongOrder(formatDay(from), formatDay(to));
  return boundsOf(from, to === undefined ? undefined : to + 1);
}

/** A bound and how it was written. */
type Sent = ParsedInstant & { readonly text: string };

/** Instants from one to another, both included; a date is a UTC day. @throws Refusal where they are in the wrong order */
export function instantBounds(from: Sent | undefined, to: Sent | undefined): Bounds {
  const bounds = boundsOf(from && startOf(from, 'instant'), to && endOf(to, 'instant'));
  if (from !== undefined && to !== undefined && bounds.from! >= bounds.to!)
    throw wrongOrder(from.text, to.text);
  return bounds;
}

/** The refusal of a range that ends before it begins. */
export function wrongOrder(from: string, to: string): Refusal {
  return new Refusal('invalid_parameter', {
    message: `from_date lies after to_date: ${from} is later than ${to}.`,
    param: 'from_date',
    got: from,
    hint: 'Exchange the two dates.',
  });
}
