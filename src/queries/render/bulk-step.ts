// One step of bars in bulk, before it is written in a format (contract 9.11).
import type { TimedBars } from '../../market/bars/grid.ts';
import type { BarConstants } from './bar-records.ts';

/** Some rows of one instrument, at least one. */
export type StepPart = { readonly timed: TimedBars; readonly constants: BarConstants };

/** One step: its rows, and whether it begins and ends the answer. */
export type Step = {
  readonly parts: readonly StepPart[];
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly withSessionDate: boolean;
};
