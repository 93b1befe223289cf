// Calendar overrides: closings, shortened days and cancellations that an operator imported (contract 8.6,
// 11).

import { sessionTemplates } from '../../contract/holidays.ts';
import { symbolAllowed } from '../../contract/identifiers.ts';
import {
  capitals,
  countryField,
  dataset,
  dayRule,
  optional,
  required,
  symbolRule,
  underlyingSchemaRule,
} from './dataset.ts';

export const holidays = dataset({
  name: 'holidays',
  columns: {
    country_iso_code: 'text',
    /** Asset type in lower case. */
    asset_name: 'text',
    /** `*`: every instrument of the asset type and country. */
    symbol: 'text',
    calendar_date: 'day',
    priority: 'integer',
    name: 'text',
    holiday_code: 'text',
    /** `CLOSED`, `EARLY_CLOSE`, `LATE_OPEN` or `REGULAR`. */
    session_template: 'text',
    open_timestamp: 'instant null',
    close_timestamp: 'instant null',
    /** The date from which it was known (contract 9.8); null where the file does not say. */
    announced: 'day null',
  },
  key: ['country_iso_code', 'asset_name', 'symbol', 'calendar_date', 'priority'],
  group: ['country_iso_code', 'asset_name'],
  parts: [{ kind: 'overrides', of: ['country_iso_code', 'asset_name'] }],
  file: {
    fields: {
      name: required({ parse: (text) => text.trim() || undefined, reason: 'is missing' }),
      holiday_code: required(
        capitals(/^HOLIDAY_[A-Z0-9_]{1,90}$/i, 'must begin with HOLIDAY_, such as HOLIDAY_CHRISTMAS'),
      ),
      calendar_date: required(dayRule),
      asset_name: required(underlyingSchemaRule('options keep the days of their underlying'), {
        flag: '--schema',
      }),
      country_iso_code: countryField,
      symbol: required(
        {
          parse: (text) => (text === '*' ? text : symbolRule.parse(text)),
          reason: `must be * for the whole market, or ${symbolAllowed}`,
        },
        { flag: '--symbol' },
      ),
      session_template: required({
        parse: (text) => sessionTemplates.find((template) => template === text.toUpperCase()),
        reason: `must be ${sessionTemplates.join(', ')}`,
      }),
      priority: optional({
        parse: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
        reason: 'must be a whole number, such as 10',
      }),
      open_timestamp: optional({ unit: 'minute' }),
      close_timestamp: optional({ unit: 'minute' }),
      announced: optional(dayRule),
    },
    time: 'calendar_date',
    subject: ['country_iso_code', 'asset_name', 'symbol'],
    names: [
      {
        assetSchema: { column: 'asset_name' },
        symbol: 'symbol',
        on: ['calendar_date'],
        mayBeMarket: true,
      },
    ],
    repeated: {
      column: 'calendar_date',
      reason: 'the file has this day with this priority already, with other values',
    },
    deletion: {
      about: 'Delete calendar overrides of a market or of one instrument. Shipped holidays stay.',
      rows: 'days',
      needs: ['--country', '--schema', '--symbol'],
      flags: {
        '--country': 'its country, such as US',
        '--schema': 'the asset type of the market',
        '--symbol': "the instrument; '*' for days of the whole market",
      },
      examples: ["--schema stock --country US --symbol '*' --from 2025-01-09 --to 2025-01-09"],
    },
  },
});
