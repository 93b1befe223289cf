// Up to which day the amounts of corporate actions contain later splits, that no event of a code is lost, and
// names of instruments that are found without marks of their letters.
import type { Step } from './step.ts';

export const store0002: Step = {
  columns: { corporate_actions: { split_adjusted_on: 'day null' } },
  refoldsTerms: true,
  groups: { economic_events: ['country_iso_code', 'event_code'] },
};
