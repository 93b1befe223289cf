// Ten questions as people ask them, the calls that an assistant makes for them, and the answers, known before
// (contract 9.23).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Workshop } from '../service.ts';
import { Assistant, fill } from './world.ts';

const shop = new Workshop();
const assistant = new Assistant();
before(async () => {
  await fill(shop);
  await assistant.start(shop);
});
after(async () => {
  await assistant.client.close();
  shop.close();
});

const ACME = { schema_asset: 'stock', country_symbol: 'US:ACME' };
const WEEK = { ...ACME, interval: 'DAY', from_date: '2025-03-03', to_date: '2025-03-07' };

/** A call, and what its answer must have, each with why. */
type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>, has: readonly RegExp[]];

const questions: readonly (readonly [question: string, calls: readonly Call[]])[] = [
  [
    'What did the rocket company close at on 7 March 2025?',
    [
      ['search_instruments', { schema_asset: 'stock', query: 'rocket' }, [/^symbol: ACME$/m]],
      ['get_ohlc', { ...WEEK, from_date: '2025-03-07' }, [/^close: 22\.25$/m]],
    ],
  ],
  [
    'What was the highest price of ACME in the week of 3 March 2025, in shares of today?',
    // 43.25 before the split 2 for 1 is 21.625; the highest is that of Friday.
    [['get_ohlc', { ...WEEK, adjust: 'split' }, [/,21\.625,/, /^2025-03-07T14:30Z,[^,]+,[\d.]+,22\.5,/m]]],
  ],
  [
    'What is the newest price of ACME?',
    [
      ['get_latest_ohlc', { ...ACME, interval: 'DAY', limit: 1 }, [/^close: 22\.25$/m]],
      [
        'get_latest_ohlc_of_many',
        { schema_asset: 'stock', symbols: 'US:ACME,US:NONE', interval: 'DAY' },
        [/^close: 22\.25$/m, /^Symbols without bars: US:NONE$/m],
      ],
    ],
  ],
  [
    'Which dividends did ACME pay in 2025?',
    [
      [
        'get_corporate_actions',
        {
          country_symbol: 'US:ACME',
          from_date: '2025-01-01',
          to_date: '2025-12-31',
          action_type: 'dividend',
        },
        [/^Rows: 1, all\./, /^ex_date: 2025-02-14$/m, /^cash_amount: 0\.37$/m],
      ],
    ],
  ],
  [
    // The exchange's own calendar: closed on 18 April 2025.
    'Is the New York Stock Exchange open on Good Friday 2025?',
    [
      [
        'get_holidays',
        { full_symbol: 'stock:US:*', from_date: '2025-04-01', to_date: '2025-04-30' },
        [/^name: Good Friday$/m, /^calendar_date: 2025-04-18$/m, /^session_template: CLOSED$/m],
      ],
    ],
  ],
  [
    'Did US payrolls for February 2025 surprise?',
    [
      ['get_economic_calendar_event_codes', { country_iso_code: 'US' }, [/^EMPLOYMENT_NFP_HEADLINE,/m]],
      [
        'get_economic_calendar_event_list',
        { event_code: 'EMPLOYMENT_NFP_HEADLINE', from_date: '2025-03-01', to_date: '2025-03-31' },
        [/^actual_value: 151$/m, /^forecast_value: 160$/m],
      ],
    ],
  ],
  [
    'What is the next event to come, and the last past one?',
    [
      ['get_upcoming_economic_calendar_event_list', { limit: 1 }, [/^event_timestamp: 2099-04-03T12:30Z$/m]],
      ['get_latest_economic_calendar_event_list', { limit: 1 }, [/^event_name: Payrolls for February$/m]],
    ],
  ],
  [
    'Which calls on ACME are out of the money, and when do they expire?',
    [
      ['get_option_expirations', ACME, [/^expiration_date: 2099-12-18$/m]],
      [
        'search_options',
        { ...ACME, option_type: 'call', moneyness: 'out_of_the_money', ref_asset_price: 22.25 },
        [/^Rows: 1, all\./, /^symbol: ACME991218C00025000$/m, /^strike_price: 25$/m],
      ],
    ],
  ],
  [
    'What news of ACME was known at noon of 5 March 2025?',
    [
      [
        'get_news_list',
        {
          ...{ full_symbol: 'stock:US:ACME', from_date: '2025-03-01', to_date: '2025-03-31' },
          as_of: '2025-03-05T12:00:00Z',
        },
        [/^Rows: 1, all\./, /^As of: 2025-03-05T12:00:00/m, /^title: ACME wins a contract$/m],
      ],
    ],
  ],
  [
    'Are the prices of ACME complete?',
    [
      ['get_series_coverage', { schema_asset: 'stock', query: 'ACME' }, [/^interval: DAY$/m, /^bars: 4$/m]],
      ['get_session_coverage', ACME, [/^2025-03-04,(missing|untraded),0,/m]],
      ['get_findings', ACME, [/^Rows: \d/]],
    ],
  ],
];

for (const [question, calls] of questions)
  test(`${question} (contract 9.23)`, async () => {
    for (const [tool, args, has] of calls) {
      const text = await assistant.ask(tool, args);
      for (const form of has) assert.match(text, form, `${tool}: ${text}`);
    }
  });

test('there are ten questions, and they use every tool but the two of the newest news and one instrument', async () => {
  assert.equal(questions.length, 10);
  const used = new Set(questions.flatMap(([, calls]) => calls.map(([tool]) => tool)));
  const { tools } = await assistant.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name).filter((name) => !used.has(name)),
    ['get_instrument', 'get_latest_news_list'],
  );
});
