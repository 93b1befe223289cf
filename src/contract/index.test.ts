// The declared endpoints against sections 2, 4 and 8 of the specification, copied here by hand.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Endpoint, fieldsOf } from './endpoint.ts';
import { type ErrorWord, errors } from './errors.ts';
import type { ObjectSchema } from './fields.ts';
import { allEndpoints, contract, dataEndpoints, type EndpointName } from './index.ts';

/** A parameter of the specification: required, its default, its allowed words, its maximum. */
type Specified = {
  readonly required?: true;
  readonly default?: unknown;
  readonly words?: readonly string[];
  readonly max?: number;
  readonly length?: number;
};

type SpecifiedEndpoint = {
  readonly section: string;
  readonly path: string;
  readonly query: Readonly<Record<string, Specified>>;
  readonly record: readonly string[] | null;
  readonly shape: Endpoint['shape'];
  readonly keyCharactersMin?: number;
};

const needed = { required: true } as const;
const jsonOrCsv = (value: string): Specified => ({ default: value, words: ['json', 'csv'] });
const order = (value: string): Specified => ({ default: value, words: ['asc', 'desc'] });
const atMost = (value: number, max: number): Specified => ({ default: value, max });

const fields = (text: string): string[] => text.trim().split(/\s+/);

const instrument = fields(`
  asset_schema symbol name exchange country_iso_code currency time_zone open_time close_time trading_hours status
  calendar_key session_template support_dst support_week_trading underlying_name instrument_id asset_id is_indices
  daily_minute_count contract_value description asset_subtype industry trading_codes parent_schema_instrument_id
  contract_type price_precision quantity_precision min_initial_open_quantity tick_size lot_size listing_date
  base_currency quote_currency`);

// `ex_date__1` is the one field that the table has not: it follows the date that it repeats (contract 8.2).
const corporateAction = fields(`
  asset_schema country_iso_code symbol exchange action_type ex_date ex_date__1 adjustment_factor cash_amount currency
  declaration_date record_date pay_date split_from split_to reference_price`);

const news = fields(`
  sentiment_label sentiment_score asset_name country_iso_code symbol link_type published_date publisher title
  text_content publisher_url`);

const optionContract = fields(`
  instrument_id asset_id symbol country_iso_code exchange underlying_name calendar_key session_template status
  parent_schema_instrument_id parent_asset_schema daily_minute_count contract_value option_exchange strike_price
  expiration_date expiration_datetime option_type exercise_style`);

/** Fields of an option contract that are "also present", in no order of their own (spec 2.6). */
const optionContractAlso = fields(`
  trading_codes is_indices contract_type price_precision quantity_precision min_initial_open_quantity tick_size
  lot_size listing_date`);

const holiday = fields(`
  name holiday_code calendar_date asset_name country_iso_code symbol priority session_template open_timestamp
  close_timestamp`);

// `session_date` is there only where it was asked for, after `close_datetime` (contract 9.5).
const bar = fields(`
  asset_schema interval country_iso_code exchange symbol datetime close_datetime session_date open high low close
  volume vwap`);

const economicEvent = fields(`
  country_iso_code event_code event_name event_driven_type importance impact event_timestamp actual_value
  previous_value forecast_value change change_percent period unit source_id`);

const specified: Readonly<Partial<Record<EndpointName, SpecifiedEndpoint>>> = {
  instrumentReference: {
    section: '4.2',
    path: '/api/v2/{schema_asset}/reference/{country_symbol}',
    query: {},
    record: instrument,
    shape: 'single',
  },
  corporateActions: {
    section: '4.3',
    path: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
    query: {
      from_date: needed,
      to_date: {},
      action_type: { words: ['dividend', 'split'] },
      format: jsonOrCsv('json'),
      limit: atMost(150, 1000),
      next_page_key: {},
    },
    record: corporateAction,
    shape: 'paged',
  },
  newsList: {
    section: '4.4',
    path: '/api/v2/news/list',
    query: {
      from_date: needed,
      to_date: needed,
      full_symbol: {},
      sort: order('asc'),
      limit: atMost(100, 1001),
      next_page_key: {},
    },
    record: news,
    shape: 'paged',
  },
  latestNews: {
    section: '4.5',
    path: '/api/v2/news/latest',
    query: { full_symbol: {}, sort: order('asc'), limit: atMost(100, 1001) },
    record: news,
    shape: 'list',
  },
  optionSearch: {
    section: '4.6',
    path: '/api/v2/option/search/{schema_asset}/{country_symbol}/{option_type}/moneyness/{moneyness}',
    query: {
      ref_asset_price: {},
      strike_price: {},
      expiration_date: {},
      // The maximum is the contract's (4.4): the specification shows none.
      limit: atMost(100, 1000),
      sort_by: {},
      next_page_key: {},
    },
    record: null,
    shape: 'grouped',
  },
  optionExpirations: {
    section: '4.7',
    path: '/api/v2/option/expiration_date_list/{schema_asset}/{country_symbol}',
    query: {},
    record: ['expiration_date', 'expiration_datetime'],
    shape: 'array',
  },
  holidayList: {
    section: '4.8',
    path: '/api/v2/holiday/list',
    query: {
      full_symbol: needed,
      holiday_code: {},
      from_date: {},
      to_date: {},
      sort: order('asc'),
      limit: atMost(100, 1001),
      format: jsonOrCsv('csv'),
      next_page_key: {},
    },
    record: holiday,
    shape: 'paged',
  },
  holidayCodes: {
    section: '4.9',
    path: '/api/v2/holiday/holiday_codes/{country_iso_code}',
    query: {},
    record: null,
    shape: 'map',
  },
  historicalBars: {
    section: '4.10',
    path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
    query: {
      format: jsonOrCsv('json'),
      limit: atMost(150, 1000),
      sort: order('asc'),
      is_eth: { default: false },
      next_page_key: {},
    },
    record: bar,
    shape: 'paged',
  },
  latestBars: {
    section: '4.11',
    path: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
    query: { format: jsonOrCsv('json'), limit: atMost(150, 1000), is_eth: { default: false } },
    record: bar,
    shape: 'list',
  },
  economicEvents: {
    section: '4.12',
    path: '/api/v2/economic_calendar/event_list',
    query: {
      country_iso_code: {},
      event_code: {},
      source_id: { length: 64 },
      from_date: {},
      to_date: {},
      sort: order('asc'),
      limit: atMost(100, 1001),
      format: jsonOrCsv('csv'),
      next_page_key: {},
    },
    record: economicEvent,
    shape: 'paged',
    keyCharactersMin: 20,
  },
  economicEvent: {
    section: '4.13',
    path: '/api/v2/economic_calendar/event',
    query: {
      country_iso_code: {},
      event_code: {},
      source_id: { length: 64 },
      from_date: {},
      to_date: {},
      sort: order('desc'),
    },
    record: economicEvent,
    shape: 'single',
    keyCharactersMin: 20,
  },
  economicEventCodes: {
    section: '4.14',
    path: '/api/v2/economic_calendar/event_codes/{country_iso_code}',
    query: {},
    record: null,
    shape: 'map',
    keyCharactersMin: 20,
  },
};

const names = Object.keys(contract) as EndpointName[];
const isExtension = (endpoint: Endpoint): boolean => endpoint.extension === true;
const declared = (name: EndpointName): Endpoint => contract[name];

test('the thirteen endpoints of the specification come first, in its order, then the extensions (spec 4)', () => {
  assert.equal(Object.keys(specified).length, 13);
  assert.deepEqual(names.slice(0, 13), Object.keys(specified));
  assert.deepEqual(
    names.filter((name) => !isExtension(declared(name))),
    Object.keys(specified),
  );
});

for (const [name, expected] of Object.entries(specified) as [EndpointName, SpecifiedEndpoint][]) {
  const endpoint = declared(name);
  const own = Object.entries(endpoint.parameters).filter(([, parameter]) => parameter.extension !== true);

  test(`${expected.path} is declared with its shape and key length (spec ${expected.section}, 5)`, () => {
    assert.equal(endpoint.path, expected.path);
    assert.equal(endpoint.shape, expected.shape);
    assert.equal(endpoint.keyCharactersMin, expected.keyCharactersMin);
  });

  test(`the path parameters of ${name} are those of its path, all required (spec ${expected.section})`, () => {
    const inPath = own.filter(([, parameter]) => parameter.in === 'path');
    assert.deepEqual(
      inPath.map(([parameter]) => parameter),
      Array.from(expected.path.matchAll(/\{(\w+)\}/g), (match) => match[1]),
    );
    assert.ok(inPath.every(([, parameter]) => parameter.required && parameter.default === undefined));
  });

  test(`the query parameters of ${name} are those of its table, with defaults and bounds (spec ${expected.section}, 8)`, () => {
    const inQuery = own
      .filter(([, parameter]) => parameter.in === 'query')
      .map(([parameter, kind]): [string, Specified] => {
        const { enum: words, maximum: max, maxLength } = kind.schema as Record<string, unknown>;
        const wanted = expected.query[parameter] ?? {};
        return [
          parameter,
          {
            ...(kind.required ? { required: true } : {}),
            ...(kind.default === undefined ? {} : { default: kind.default }),
            ...(words === undefined ? {} : { words: words as string[] }),
            ...(max === undefined ? {} : { max: max as number }),
            ...(wanted.length === undefined ? {} : { length: maxLength as number }),
          },
        ];
      });
    assert.deepEqual(Object.fromEntries(inQuery), expected.query);
  });

  test(`no extension parameter of ${name} is required, and secret_key is not repeated (contract 9)`, () => {
    for (const [parameter, kind] of Object.entries(endpoint.parameters))
      if (kind.extension === true) assert.deepEqual([kind.in, kind.required], ['query', false], parameter);
    assert.ok(!('secret_key' in endpoint.parameters));
  });

  if (expected.record !== null) {
    const record = expected.record;
    test(`the record of ${name} has the fields of its table in its order (spec 2, contract 5.1)`, () => {
      assert.deepEqual(fieldsOf(endpoint.record as ObjectSchema), record);
    });
  }
}

const optionQuote = [
  ...['bid', 'ask', 'last', 'volume', 'open_interest', 'implied_volatility'],
  ...['delta', 'gamma', 'theta', 'vega', 'rho', 'quote_datetime'],
];

test('an option contract has the fields of its table in its order, then those also present (spec 2.6, contract 9.22)', () => {
  const found = fieldsOf(contract.optionSearch.record);
  assert.deepEqual(found.slice(0, optionContract.length), optionContract);
  assert.deepEqual(found.slice(optionContract.length).sort(), [...optionContractAlso, ...optionQuote].sort());
});

const optionalFields: readonly [name: EndpointName, fields: readonly string[]][] = [
  ['instrumentReference', ['base_currency', 'quote_currency']],
  ['corporateActions', []],
  ['newsList', []],
  ['optionSearch', optionQuote],
  ['holidayList', []],
  ['historicalBars', ['session_date']],
  ['economicEvents', []],
];
for (const [name, expected] of optionalFields) {
  test(`the fields that a record of ${name} may lack are ${expected.join(', ') || 'none'} (contract 8.1, 9.5, 9.22)`, () => {
    const record = declared(name).record as ObjectSchema;
    const must = record.required ?? [];
    assert.deepEqual(
      fieldsOf(record).filter((field) => !must.includes(field)),
      expected,
    );
  });
}

const extensions: readonly [name: EndpointName, path: string, query: Readonly<Record<string, Specified>>][] =
  [
    [
      'instrumentSearch',
      '/api/v2/{schema_asset}/reference/search',
      { query: needed, country_iso_code: {}, limit: { default: 20, max: 100 }, as_of: {}, data_version: {} },
    ],
    [
      'latestEconomicEvents',
      '/api/v2/economic_calendar/latest_event_list',
      {
        country_iso_code: {},
        event_code: {},
        impact: {},
        date_type: { default: 'all' },
        sort: { default: 'asc' },
        limit: { default: 5, max: 1001 },
        format: { default: 'csv' },
        csv_safe: { default: false },
        as_of: {},
        data_version: {},
      },
    ],
    [
      'runs',
      '/api/v2/server/runs',
      {
        sort: { default: 'asc' },
        limit: { default: 150, max: 1000 },
        format: { default: 'json' },
        csv_safe: { default: false },
        next_page_key: {},
        as_of: {},
        data_version: {},
      },
    ],
    ['addressInfo', '/api/v2/server/address_info', { as_of: {} }],
    [
      'seriesCoverage',
      '/api/v2/{schema_asset}/coverage',
      {
        country_iso_code: {},
        query: {},
        interval: {},
        sort: { default: 'asc' },
        limit: { default: 150, max: 1000 },
        format: { default: 'json' },
        csv_safe: { default: false },
        next_page_key: {},
        as_of: {},
        data_version: {},
      },
    ],
    [
      'sessionCoverage',
      '/api/v2/{schema_asset}/coverage/{country_symbol}',
      {
        interval: {},
        from_date: {},
        to_date: {},
        sort: { default: 'asc' },
        limit: { default: 150, max: 1000 },
        format: { default: 'json' },
        csv_safe: { default: false },
        next_page_key: {},
        as_of: {},
        data_version: {},
      },
    ],
    [
      'findings',
      '/api/v2/{schema_asset}/findings/{country_symbol}',
      {
        interval: {},
        from_date: {},
        to_date: {},
        kind: {},
        severity: {},
        sort: { default: 'asc' },
        limit: { default: 150, max: 1000 },
        format: { default: 'json' },
        csv_safe: { default: false },
        next_page_key: {},
        as_of: {},
        data_version: {},
      },
    ],
    [
      'latestOfMany',
      '/api/v2/{schema_asset}/bars/latest',
      {
        symbols: needed,
        interval: needed,
        limit: { default: 1, max: 10 },
        format: { default: 'json' },
        csv_safe: { default: false },
        is_eth: { default: false },
        session_date: { default: false },
        adjust: { default: 'none' },
        adjustment: {},
        adjust_as_of: {},
        as_of: {},
        data_version: {},
        columns: {},
        timestamps: {},
        tz: {},
      },
    ],
  ];
for (const [name, path, query] of extensions) {
  test(`${path} is an extension with its parameters (contract 9.1, 9.2, 9.9, 9.10, 9.12, 9.14, 9.15)`, () => {
    const endpoint = declared(name);
    assert.equal(endpoint.path, path);
    assert.equal(endpoint.extension, true);
    const inQuery = Object.entries(endpoint.parameters).filter(([, parameter]) => parameter.in === 'query');
    assert.deepEqual(
      inQuery.map(([parameter]) => parameter),
      Object.keys(query),
    );
    for (const [parameter, kind] of inQuery) {
      const { maximum } = kind.schema as Record<string, unknown>;
      const wanted = query[parameter]!;
      assert.deepEqual(
        [kind.required, kind.default, maximum],
        [wanted.required ?? false, wanted.default, wanted.max],
        parameter,
      );
    }
  });
}

const marked: readonly (readonly [name: EndpointName, parameter: string, fallback: unknown])[] = [
  ['historicalBars', 'session_date', false],
  ['latestBars', 'session_date', false],
  ['historicalBars', 'adjust', 'none'],
  ['latestBars', 'adjust', 'none'],
  ['historicalBars', 'as_of', undefined],
  ['latestBars', 'as_of', undefined],
  ['historicalBars', 'adjust_as_of', undefined],
  ['latestBars', 'adjust_as_of', undefined],
  ['historicalBars', 'csv_safe', false],
  ['latestBars', 'csv_safe', false],
  ...(['columns', 'timestamps', 'tz'] as const).flatMap((name) =>
    (['historicalBars', 'latestBars'] as const).map((endpoint) => [endpoint, name, undefined] as const),
  ),
  ['corporateActions', 'csv_safe', false],
  ['holidayList', 'csv_safe', false],
  ['economicEvents', 'csv_safe', false],
  ['corporateActions', 'sort', 'asc'],
  ['newsList', 'format', 'json'],
  ['newsList', 'csv_safe', false],
  ['latestNews', 'format', 'json'],
  ['latestNews', 'csv_safe', false],
  ['optionSearch', 'sort', 'asc'],
  ...['strike_from', 'strike_to', 'expiration_from', 'expiration_to'].map(
    (name) => ['optionSearch', name, undefined] as const,
  ),
  ['optionSearch', 'format', 'json'],
  ['optionSearch', 'csv_safe', false],
  ['optionExpirations', 'sort', 'asc'],
  ['optionExpirations', 'format', 'json'],
  ['optionExpirations', 'csv_safe', false],
  ['economicEvents', 'impact', undefined],
  ['economicEvent', 'impact', undefined],
];
for (const [name, parameter, fallback] of marked) {
  test(`${parameter} of ${name} is marked as an extension (contract 4.7, 5.1, 9.1, 9.4, 9.5, 9.16)`, () => {
    const found = declared(name).parameters[parameter];
    assert.deepEqual([found?.extension, found?.required, found?.default], [true, false, fallback]);
  });
}

test('every data endpoint can be asked as of a moment: a key that is pinned to one sees no further anywhere (contract 9.8)', () => {
  for (const [name, { parameters }] of Object.entries<Endpoint>(dataEndpoints))
    assert.deepEqual([name, parameters.as_of?.extension], [name, true]);
});

test('keys of the scope operate have the endpoints below operate/ alone (contract 7.6)', () => {
  const scopes = Object.entries<Endpoint>(allEndpoints).map(([name, { scope = 'data' }]) => [name, scope]);
  const expected = Object.entries<Endpoint>(allEndpoints).map(([name, { path }]) => [
    name,
    path.startsWith('/api/v2/operate/') ? 'operate' : 'data',
  ]);
  assert.deepEqual(scopes, expected);
  assert.deepEqual(
    Object.keys(allEndpoints).filter((name) => !(name in dataEndpoints)),
    ['operateStatus'],
  );
  assert.equal(allEndpoints.operateStatus.extension, true);
});

test('every list with pages or in the specification has sort and format; latest bars ascend (contract 3.11, 4.7)', () => {
  const lists = [...names.filter((name) => 'next_page_key' in declared(name).parameters), 'latestNews'];
  for (const name of [...lists, 'optionExpirations', 'latestEconomicEvents'] as EndpointName[]) {
    const { sort, format } = declared(name).parameters;
    assert.deepEqual([sort?.default, sort?.bindsPage, format?.bindsPage], ['asc', true, false], name);
  }
  assert.equal('sort' in contract.latestBars.parameters, false);
});

/** Parameters that choose no records, and the day that a page key holds itself. */
const free = [
  ...['format', 'csv_safe', 'limit', 'next_page_key', 'session_date', 'adjust_as_of'],
  ...['columns', 'timestamps', 'tz'],
];

test('page keys depend on every parameter that chooses records or their order, and on no other (contract 4.1)', () => {
  const known = [...Object.values(specified).flatMap(({ query }) => Object.keys(query)), 'adjust', 'impact'];
  for (const name of names)
    for (const [parameter, { in: place, bindsPage }] of Object.entries(declared(name).parameters)) {
      if (place === 'path' || known.includes(parameter) || free.includes(parameter))
        assert.equal(bindsPage, !free.includes(parameter), `${name} ${parameter}`);
    }
});

test('every default and every example is a value of its own parameter', () => {
  for (const name of names) {
    for (const [parameter, kind] of Object.entries(declared(name).parameters)) {
      kind.parse(kind.example);
      if (kind.default !== undefined)
        assert.deepEqual(kind.parse(kind.print(kind.default)), kind.default, `${name} ${parameter}`);
    }
  }
});

test('every path begins with /api/v2/ and no two are the same (spec 9)', () => {
  const paths = names.map((name) => declared(name).path);
  assert.ok(paths.every((path) => path.startsWith('/api/v2/')));
  assert.equal(new Set(paths).size, paths.length);
});

test('every error word has its status, and a deterministic mistake is never a 5xx (contract 6.3, 6.4)', () => {
  const statuses: Readonly<Record<ErrorWord, number>> = {
    missing_key: 401,
    invalid_key: 401,
    forbidden: 403,
    invalid_parameter: 400,
    invalid_page_key: 400,
    unknown_interval: 400,
    bad_request: 400,
    unknown_instrument: 404,
    unknown_path: 404,
    no_data: 404,
    method_not_allowed: 405,
    timeout: 408,
    uri_too_long: 414,
    range_not_satisfiable: 416,
    rate_limited: 429,
    headers_too_large: 431,
    internal: 500,
    unavailable: 503,
  };
  const found = Object.fromEntries(Object.entries(errors).map(([word, { status }]) => [word, status]));
  assert.deepEqual(found, statuses);
});
