// The economic calendar: its events, and the descriptions of codes that files give (contract 11).
import { numberOf } from '../../base/decimal.ts';
import {
  anyNumber,
  asText,
  capitals,
  countryField,
  dataset,
  optional,
  required,
  someText,
  type Values,
  wordRule,
} from './dataset.ts';
import shipped from './economic-event-codes.json' with { type: 'json' };

/** By importance, from 1 on (contract 8.7). */
export const impacts: readonly string[] = ['low', 'medium', 'high'];
/** The rank of an event whose importance is not known. */
export const RANK_UNKNOWN = 3;

/** The importance of an event, 1 to 3; null where it is not known. */
const importanceOf = ({ rank }: Values): number | null =>
  rank === RANK_UNKNOWN ? null : RANK_UNKNOWN - (rank as number);

const code = capitals(
  /^[A-Z0-9_]{1,100}$/i,
  'must be letters, digits and underscores, at most 100, such as EMPLOYMENT_NFP_HEADLINE',
);

const codeSelector = {
  column: 'event_code',
  takes: 'code',
  about: 'such as EMPLOYMENT_NFP_HEADLINE',
} as const;

export const events = dataset({
  name: 'economic_events',
  columns: {
    /** 64 hexadecimal digits in lower case (contract 8.7). */
    source_id: 'text',
    country_iso_code: 'text',
    event_code: 'text',
    event_name: 'text',
    event_driven_type: 'text null',
    /** 0 high, 1 medium, 2 low, 3 not known: the order of events at one time (contract 8.8). */
    rank: 'integer',
    /** Whole seconds. */
    event_timestamp: 'instant',
    actual_value: 'real null',
    previous_value: 'real null',
    forecast_value: 'real null',
    /** As in the file; else they are calculated when they are read. */
    change: 'real null',
    change_percent: 'real null',
    period: 'text null',
    unit: 'text null',
  },
  key: ['source_id'],
  // One for each set of filters. With a country or a code the rank is compared in the index
  // (`queries/economic.ts`). SQLite takes the first of indexes that it estimates equal: the most specific
  // ones come first.
  indexes: [
    ['country_iso_code', 'event_code', 'event_timestamp', 'rank', 'source_id'],
    ['event_code', 'event_timestamp', 'rank', 'source_id'],
    ['country_iso_code', 'event_timestamp', 'rank', 'event_code', 'source_id'],
    ['rank', 'event_timestamp', 'event_code', 'source_id'],
    ['event_timestamp', 'rank', 'event_code', 'source_id'],
  ],
  // What was measured before an event, and what is expected of it, is known when no other event of its code
  // comes before it.
  group: ['country_iso_code', 'event_code'],
  keptAsTheyCome: true,
  // An event that data bring about is not known before it happens.
  knownBy: ({ event_timestamp, event_driven_type }, { ms }) =>
    (event_timestamp as number) <= ms || event_driven_type !== 'data_driven',
  file: {
    fields: {
      country_iso_code: countryField,
      event_code: required(code, { flag: '--code' }),
      event_name: required(someText),
      event_timestamp: required({ unit: 'second' }),
      event_driven_type: optional(wordRule(['time_driven', 'data_driven'])),
      importance: optional(
        {
          parse: (text) => [1, 2, 3].find((importance) => importance === numberOf(text)),
          reason: 'must be 1, 2 or 3: 3 is the highest',
        },
        { written: { kind: 'integer', of: importanceOf } },
      ),
      impact: optional(
        wordRule(impacts),
        asText((row) => impacts[(importanceOf(row) ?? 0) - 1] ?? null),
      ),
      actual_value: optional(anyNumber),
      previous_value: optional(anyNumber),
      forecast_value: optional(anyNumber),
      change: optional(anyNumber),
      change_percent: optional(anyNumber),
      period: optional(someText),
      unit: optional(someText),
      source_id: optional({
        parse: (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : undefined),
        reason: 'must be 64 hexadecimal digits',
      }),
    },
    time: 'event_timestamp',
    subject: ['country_iso_code', 'event_code'],
    repeated: {
      column: 'event_code',
      reason:
        'the file has this event already, with other values: an event is identified by its source_id, else by country, code, period and its year, or by its time if its period is unknown; if both are right, give them different codes',
    },
    deletion: {
      about: 'Delete economic events by code, time or identifier.',
      rows: 'events',
      needs: [],
      flags: { '--country': 'its country, such as US' },
      selectors: {
        '--event-code': codeSelector,
        '--source-id': { column: 'source_id', takes: 'id', about: 'one event', isAlone: true },
      },
      examples: [
        '--country US --event-code EMPLOYMENT_NFP_HEADLINE --from 2025-03-07 --to 2025-03-07',
        '--country JP --all --dry-run',
      ],
    },
  },
});

/** Descriptions of codes from files, which replace those that ship (`economic-event-codes.json`). */
export const eventCodes = dataset({
  name: 'economic_event_codes',
  columns: { country_iso_code: 'text', event_code: 'text', description: 'text' },
  key: ['country_iso_code', 'event_code'],
  group: ['country_iso_code'],
  file: {
    fields: {
      country_iso_code: countryField,
      event_code: required(code, { flag: '--code' }),
      description: required(someText),
    },
    repeated: {
      column: 'event_code',
      reason: 'the file has this code already, with another description',
    },
    deletion: {
      about: 'Delete imported descriptions of event codes. The shipped ones stay.',
      rows: 'codes',
      needs: ['--country'],
      flags: { '--country': 'its country, such as US' },
      selectors: { '--event-code': codeSelector },
      examples: ['--country US --event-code OWN_CODE'],
    },
  },
});

/**
 * Code to description of one country as they ship, in the order of the file. Each code begins with its
 * category, or with its central bank (spec 2.9). Imported descriptions replace them (contract 11).
 */
export const shippedEventCodes = (country: string): Record<string, string> =>
  Object.fromEntries(
    shipped.filter((row) => row.country_iso_code === country).map((row) => [row.event_code, row.description]),
  );
