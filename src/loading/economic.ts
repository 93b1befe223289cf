// Economic events: their identifiers and their rank (contract 8.7).
import { hash } from 'node:crypto';
import { DAY_MS, dateOf } from '../base/instant.ts';
import { impacts, RANK_UNKNOWN } from '../datasets/economic.ts';
import type { Values } from '../datasets/field.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { Particulars } from './import-rows.ts';

function problemOf({ importance, impact }: Values): RowProblem | null {
  if (importance === undefined || impact === undefined) return null;
  if (impacts[(importance as number) - 1] === impact) return null;
  return { column: 'impact', reason: 'does not go with importance: 1 is low, 2 medium, 3 high' };
}

/** The identifier of an event: where the file has none, one that stays the same if the event moves within its year. */
function sourceIdOf(values: Values): string {
  if (values.source_id !== undefined) return values.source_id as string;
  const { country_iso_code, event_code, period = null } = values;
  const ms = values.event_timestamp as number;
  const { year } = dateOf(Math.floor(ms / DAY_MS));
  const parts = [country_iso_code, event_code, period, year, ...(period === null ? [ms] : [])];
  return hash('sha256', JSON.stringify(parts));
}

function rankOf({ importance, impact }: Values): number {
  if (importance !== undefined) return RANK_UNKNOWN - (importance as number);
  return impact === undefined ? RANK_UNKNOWN : RANK_UNKNOWN - 1 - impacts.indexOf(impact as string);
}

/** What is special about economic events. */
export const economicEvents: Particulars = {
  problemOf,
  complete: (values) => ({ ...values, source_id: sourceIdOf(values), rank: rankOf(values) }),
};
