// The bounds of lists by date and by instant as half-open ranges of what is stored (contract 2.2, 2.3).
import { DAY_MS, formatDay, type ParsedInstant } from '../base/instant.ts';
import { Refusal } from '../contract/errors.ts';

/** `from` included, `to` not; an end that is missing has no bound. */
export type Bounds = { readonly from?: number; readonly to?: number };

/** Days from one date to another, both included. @throws Refusal where they are in the wrong order */
export function dayBounds(from: number | undefined, to: number | undefined): Bounds {
  if (from !== undefined && to !== undefined && from > to) throw wrongOrder(formatDay(from), formatDay(to));
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to: to + 1 }) };
}

type Sent = ParsedInstant & { readonly text: string };

/** Instants from one to another, both included; a date counts in UTC, a last one whole. @throws Refusal where they are in the wrong order */
export function instantBounds(from: Sent, to: Sent): Required<Bounds> {
  const fromMs = from.kind === 'date' ? from.day * DAY_MS : from.ms;
  const toMs = to.kind === 'date' ? (to.day + 1) * DAY_MS : to.ms + 1;
  if (fromMs >= toMs) throw wrongOrder(from.text, to.text);
  return { from: fromMs, to: toMs };
}

function wrongOrder(from: string, to: string): Refusal {
  return new Refusal('invalid_parameter', {
    message: `from_date lies after to_date: ${from} is later than ${to}.`,
    param: 'from_date',
    got: from,
    hint: 'Exchange the two dates.',
  });
}
