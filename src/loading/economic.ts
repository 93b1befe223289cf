// Economic events and what their codes mean: what a file may say of them (contract 8.7, 11).
import { hash } from 'node:crypto';
import { DAY_MS, dateOf } from '../base/instant.ts';
import type { Zone } from '../calendar/zone.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { eventCodes, events } from '../datasets/economic.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { ImportRequest } from '../history/run.ts';
import type { FieldNames } from '../mapping/column-mapping.ts';
import {
  anyNumberRule,
  countryRule,
  type FieldRule,
  servedInstantRule,
  textRule,
  wordRule,
} from '../mapping/field-rules.ts';
import { numberOf } from '../mapping/number-cell.ts';
import type { Store } from '../store/store.ts';
import { importRows, type RowImport, type Values } from './rows.ts';

const numbers = ['actual_value', 'previous_value', 'forecast_value', 'change', 'change_percent'];

/** The fields of an events file (contract 11). */
export const eventFields: FieldNames = {
  required: ['country_iso_code', 'event_code', 'event_name', 'event_timestamp'],
  optional: ['event_driven_type', 'importance', 'impact', ...numbers, 'period', 'unit', 'source_id'],
  flags: { country_iso_code: '--country', event_code: '--code' },
};

/** By importance, from 1 on (contract 8.7). */
export const impacts: readonly string[] = ['low', 'medium', 'high'];
/** The rank of an event whose importance is not known. */
export const RANK_UNKNOWN = 3;

const code: FieldRule = {
  parse: (text) => (/^[A-Z0-9_]{1,100}$/i.test(text) ? text.toUpperCase() : undefined),
  reason: 'must be letters, digits and underscores, at most 100, such as EMPLOYMENT_NFP_HEADLINE',
};

function parseImportance(text: string): number | undefined {
  const number = numberOf(text);
  return number === 1 || number === 2 || number === 3 ? number : undefined;
}

const rules: Readonly<Record<string, FieldRule>> = {
  country_iso_code: countryRule,
  event_code: code,
  event_name: textRule,
  event_driven_type: wordRule(['time_driven', 'data_driven']),
  importance: { parse: parseImportance, reason: 'must be 1, 2 or 3: 3 is the highest' },
  impact: wordRule(impacts),
  period: textRule,
  unit: textRule,
  source_id: {
    parse: (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined),
    reason: 'must be 64 hexadecimal digits',
  },
  ...Object.fromEntries(numbers.map((field) => [field, anyNumberRule])),
};

function problemOf({ importance, impact }: Values): RowProblem | null {
  if (importance === undefined || impact === undefined) return null;
  if (impacts[(importance as number) - 1] === impact) return null;
  return { column: 'impact', reason: 'does not go with importance: 1 is low, 2 medium, 3 high' };
}

/** The identifier of an event that the file gives none: one that is put off keeps it, within its year (contract 8.7). */
function sourceIdOf(values: Values): string {
  if (values.source_id !== undefined) return values.source_id as string;
  const { country_iso_code, event_code, period = null } = values;
  const ms = values.event_timestamp as number;
  const { year } = dateOf(Math.floor(ms / DAY_MS));
  const what = [country_iso_code, event_code, period, year, ...(period === null ? [ms] : [])];
  return hash('sha256', JSON.stringify(what));
}

function rankOf({ importance, impact }: Values): number {
  if (importance !== undefined) return RANK_UNKNOWN - (importance as number);
  return impact === undefined ? RANK_UNKNOWN : RANK_UNKNOWN - 1 - impacts.indexOf(impact as string);
}

const blank = Object.fromEntries(
  Object.entries(events.columns).flatMap(([column, kind]) => ('nullable' in kind ? [[column, null]] : [])),
);

const eventImport = (zone: Zone | null): RowImport<typeof events> => ({
  dataset: events,
  fields: eventFields,
  rules: { ...rules, event_timestamp: servedInstantRule(zone) },
  keyOf: (values) => ({ source_id: sourceIdOf(values) }),
  repeated: {
    column: 'event_code',
    reason:
      'the file has this event already, with other values: an event is told by its source_id, else by country, code, period and year, or its time where it has no period; where both are right, leave their period away',
  },
  problemOf,
  rowOf: (values) =>
    ({ ...blank, ...values, source_id: sourceIdOf(values), rank: rankOf(values) }) as RowOf<typeof events>,
});

/** The fields of a file of codes (contract 11). */
export const eventCodeFields: FieldNames = {
  required: ['country_iso_code', 'event_code', 'description'],
  optional: [],
  flags: { country_iso_code: '--country', event_code: '--code' },
};

const codeImport: RowImport<typeof eventCodes> = {
  dataset: eventCodes,
  fields: eventCodeFields,
  rules: { country_iso_code: countryRule, event_code: code, description: textRule },
  keyOf: ({ country_iso_code, event_code }) =>
    ({ country_iso_code, event_code }) as Partial<RowOf<typeof eventCodes>>,
  repeated: { column: 'event_code', reason: 'the file has this code already, with another description' },
  rowOf: (values) => values as RowOf<typeof eventCodes>,
};

/** Imports one file of economic events; `zone` is that of times without an offset. @throws FileProblem when nothing of it can be imported */
export async function importEconomicEvents(store: Store, request: ImportRequest): Promise<ImportReport> {
  const { newRows: _, ...report } = await importRows(store, request, eventImport(request.zone ?? null));
  return report;
}

/** Imports one file of what codes mean. @throws FileProblem when nothing of it can be imported */
export async function importEconomicEventCodes(store: Store, request: ImportRequest): Promise<ImportReport> {
  const { newRows: _, ...report } = await importRows(store, request, codeImport);
  return report;
}
