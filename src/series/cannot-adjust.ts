// Why bars cannot be adjusted (contract 9.4). The error has no wording: each caller words it for its own
// users.
import type { Interval } from '../contract/interval.ts';

/**
 * `not-raw`: the stored prices were adjusted before the import, by the basis `prices`. `two-volumes`: a bar
 * has volumes of series that were adjusted for splits before the import, and of others. `later-split`:
 * volumes that were adjusted for splits before the import contain that of `exDay`, which the request leaves
 * out. `no-days`: the bar of the period that begins on `startDay` has sessions on both sides of an ex-date,
 * and no DAY bars are stored to rebuild it from.
 */
export type AdjustObstacle =
  | { readonly kind: 'not-raw'; readonly interval: Interval; readonly prices: string }
  | { readonly kind: 'two-volumes'; readonly interval: Interval }
  | { readonly kind: 'later-split'; readonly exDay: number }
  | {
      readonly kind: 'no-days';
      readonly interval: string;
      readonly startDay: number;
      readonly exDay: number;
    };

/** Thrown when the stored bars cannot give the adjusted bars of a request. */
export class CannotAdjust extends Error {
  readonly obstacle: AdjustObstacle;

  constructor(obstacle: AdjustObstacle) {
    super(`cannot adjust: ${obstacle.kind}`);
    this.name = 'CannotAdjust';
    this.obstacle = obstacle;
  }
}
