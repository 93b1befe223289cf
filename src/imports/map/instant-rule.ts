// Instants in cells: with an offset, as epochs, or as local times of a zone.
import { MINUTE_MS, SECOND_MS } from '../../base/instant.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import type { FieldRule, InstantRule } from '../../store/schema/dataset.ts';
import { InstantCell, LocalClock } from './instant-cell.ts';

type Unit = InstantRule['unit'];

/** The stored value of epoch milliseconds; undefined where they are refused. */
const keptOf: Readonly<Record<Unit, (ms: number) => number | undefined>> = {
  millisecond: Math.floor,
  second: (ms) => Math.floor(ms / SECOND_MS) * SECOND_MS,
  minute: (ms) => (ms % MINUTE_MS === 0 ? ms : undefined),
};

const encoder = new TextEncoder();

/**
 * The rule of an instant for the rows of one file; `zone` is that of times without an offset. The order of
 * the rows tells the two readings of a repeated hour apart (contract 2.5).
 */
export function instantRule({ unit }: InstantRule, zone: Zone | null): FieldRule {
  const cell = new InstantCell();
  const clock = zone === null ? null : new LocalClock(zone);
  const keep = keptOf[unit];
  const onMinute = unit === 'minute' ? ' on a whole minute' : '';
  let beforeMs = Number.NaN;
  return {
    parse(text) {
      const bytes = encoder.encode(text);
      cell.read(bytes, 0, bytes.length);
      const placed = cell.kind === 'local' ? clock?.place(cell.ms, beforeMs) : cell.ms;
      if (cell.kind === 'bad' || cell.kind === 'date' || typeof placed !== 'number') return undefined;
      beforeMs = placed;
      return keep(placed);
    },
    reason:
      zone === null
        ? `must be an instant with its offset${onMinute}, such as 2025-07-03T12:30:00Z, or an epoch; for local times give --zone`
        : `must be an instant${onMinute}, or a local time that the zone has, and once: in a repeated hour give the offset`,
  };
}
