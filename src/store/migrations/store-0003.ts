// Layout 3 of a store: instruments have the day of their delisting, series the basis of their volumes.
import type { Step } from './step.ts';

export const store0003: Step = {
  columns: { instruments: { delisting_date: 'text null' }, series: { volumes: 'text null' } },
};
