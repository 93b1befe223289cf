// Written by `npm run client` from the contract, and compared by a test: what it says of endpoints.

export type AssetSchema = 'stock' | 'future' | 'crypto' | 'forex' | 'option';

/** An interval as a program writes it. Other minutes than 1..1440 are refused. */
export type IntervalCode = `${number}M` | 'DAY' | 'WEEK' | 'MON';

/** A word of the service's catalogue (contract 6.3). */
export type ErrorWord =
  | 'bad_request' | 'invalid_parameter' | 'invalid_page_key' | 'unknown_interval' | 'missing_key'
  | 'invalid_key' | 'forbidden' | 'unknown_instrument' | 'unknown_path' | 'no_data' | 'method_not_allowed'
  | 'timeout' | 'uri_too_long' | 'range_not_satisfiable' | 'rate_limited' | 'headers_too_large' | 'internal'
  | 'unavailable';

/** A date or a date-time as text; a `Date` is an instant. */
type When = string | Date;

/** The paths of the endpoints. */
export const paths = {
  instrumentReference: '/api/v2/{schema_asset}/reference/{country_symbol}',
  corporateActions: '/api/v2/stock/stock_corporate_action/list/{country_symbol}',
  newsList: '/api/v2/news/list',
  latestNews: '/api/v2/news/latest',
  optionSearch: '/api/v2/option/search/{schema_asset}/{country_symbol}/{option_type}/moneyness/{moneyness}',
  optionExpirations: '/api/v2/option/expiration_date_list/{schema_asset}/{country_symbol}',
  holidayList: '/api/v2/holiday/list',
  holidayCodes: '/api/v2/holiday/holiday_codes/{country_iso_code}',
  historicalBars: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/from/{from_date}/to/{to_date}',
  latestBars: '/api/v2/{schema_asset}/bars/{country_symbol}/{interval}/latest',
  economicEvents: '/api/v2/economic_calendar/event_list',
  economicEvent: '/api/v2/economic_calendar/event',
  economicEventCodes: '/api/v2/economic_calendar/event_codes/{country_iso_code}',
  instrumentSearch: '/api/v2/{schema_asset}/reference/search',
  latestEconomicEvents: '/api/v2/economic_calendar/latest_event_list',
  runs: '/api/v2/server/runs',
  addressInfo: '/api/v2/server/address_info',
  seriesCoverage: '/api/v2/{schema_asset}/coverage',
  sessionCoverage: '/api/v2/{schema_asset}/coverage/{country_symbol}',
  findings: '/api/v2/{schema_asset}/findings/{country_symbol}',
  latestOfMany: '/api/v2/{schema_asset}/bars/latest',
  bulkBars: '/api/v2/{schema_asset}/bulk/bars/{country_iso_code}/{interval}/from/{from_date}/to/{to_date}',
} as const;

type Instrument = {
  asset_schema: string; symbol: string; name: string | null; exchange: string | null;
  country_iso_code: string; currency: string | null; time_zone: string; open_time: string | null;
  close_time: string | null; trading_hours: { regular_trading?: string[]; pre_market_trading?: string[];
  post_market_trading?: string[] }; status: 'active' | 'inactive'; calendar_key: string | null;
  session_template: string | null; support_dst: boolean; support_week_trading: boolean;
  underlying_name: string | null; instrument_id: number; asset_id: number; is_indices: boolean;
  daily_minute_count: number | null; contract_value: string | null; description: string | null;
  asset_subtype: string | null; industry: string | null; trading_codes: string | null;
  parent_schema_instrument_id: string | null; contract_type: string | null; price_precision: number | null;
  quantity_precision: number | null; min_initial_open_quantity: number | null; tick_size: number | null;
  lot_size: number | null; listing_date: string | null; base_currency?: string | null; quote_currency?: string
  | null;
};

type CorporateAction = {
  asset_schema: string; country_iso_code: string; symbol: string; exchange: string | null;
  action_type: 'dividend' | 'split' | 'spinoff' | 'stock_dividend' | 'special_dividend'; ex_date: string;
  ex_date__1: string; adjustment_factor: string; cash_amount: number | null; currency: string | null;
  declaration_date: string | null; record_date: string | null; pay_date: string | null; split_from: number
  | null; split_to: number | null; reference_price: number | null;
};

type NewsItem = {
  sentiment_label: 'positive' | 'neutral' | 'negative' | null; sentiment_score: number | null;
  asset_name: string | null; country_iso_code: string | null; symbol: string | null; link_type: string | null;
  published_date: string; publisher: string | null; title: string; text_content: string | null;
  publisher_url: string;
};

type OptionContract = {
  instrument_id: number; asset_id: number; symbol: string; country_iso_code: string; exchange: string | null;
  underlying_name: string; calendar_key: string | null; session_template: string | null; status: 'active'
  | 'inactive'; parent_schema_instrument_id: string; parent_asset_schema: string; daily_minute_count: number
  | null; contract_value: number; option_exchange: string | null; strike_price: number;
  expiration_date: string; expiration_datetime: string; option_type: 'call' | 'put';
  exercise_style: 'american' | 'european'; trading_codes: string | null; is_indices: boolean;
  contract_type: string | null; price_precision: number | null; quantity_precision: number | null;
  min_initial_open_quantity: number | null; tick_size: number | null; lot_size: number | null;
  listing_date: string | null; bid?: number | null; ask?: number | null; last?: number | null; volume?: number
  | null; open_interest?: number | null; implied_volatility?: number | null; delta?: number | null;
  gamma?: number | null; theta?: number | null; vega?: number | null; rho?: number | null;
  quote_datetime?: string | null;
};

type Expiration = { expiration_date: string; expiration_datetime: string };

type Holiday = {
  name: string; holiday_code: string; calendar_date: string; asset_name: string; country_iso_code: string;
  symbol: string; priority: number; session_template: string; open_timestamp: string | null;
  close_timestamp: string | null;
};

type Codes = Record<string, string>;

export type Bar = {
  asset_schema: string; interval: string; country_iso_code: string; exchange: string | null; symbol: string;
  datetime: string; close_datetime: string; session_date?: string; open: number; high: number; low: number;
  close: number; volume: number | null; vwap: number | null;
};

type EconomicEvent = {
  country_iso_code: string; event_code: string; event_name: string; event_driven_type: 'time_driven'
  | 'data_driven' | null; importance: number | null; impact: 'low' | 'medium' | 'high' | null;
  event_timestamp: string; actual_value: number | null; previous_value: number | null; forecast_value: number
  | null; change: number | null; change_percent: number | null; period: string | null; unit: string | null;
  source_id: string;
};

type Run = {
  run: number; kind: 'import' | 'delete'; dataset: string; file: string; rows: number; finished_at: string;
  undone: boolean; data_version: number | null;
};

type AddressInfo = { base_address: string; version: string };

type Series = {
  asset_schema: string; country_iso_code: string; symbol: string; interval: string; bars: number;
  first_datetime: string; last_datetime: string; complete_through: string | null; price_basis: 'raw' | 'split'
  | 'all'; runs: number;
};

type Session = {
  session_date: string; interval: string; source: 'stored' | 'derived'; condition: 'available' | 'degraded'
  | 'untraded' | 'missing' | 'pending'; bars: number; expected_bars: number; first_datetime: string | null;
  last_datetime: string | null; longest_gap_minutes: number | null; run_id: number | null; file: string
  | null; last_modified_date: string | null;
};

type Finding = {
  kind: 'isolated_wick' | 'unrecorded_split' | 'action_without_jump' | 'identity_break' | 'missing_session'
  | 'behind' | 'short_session' | 'gap' | 'closed_day' | 'outside_session' | 'off_grid' | 'minute_day_mismatch'
  | 'stale' | 'vwap_outside' | 'impossible_dividend' | 'conflicting_imports' | 'split_basis'
  | 'dividend_currency' | 'factor_mismatch' | 'doubled_dividend' | 'close_labelled'; severity: 'info'
  | 'warning' | 'error'; interval: string; from_datetime: string; to_datetime: string; value: number | null;
  expected: number | null; message: string; run_id: number | null;
};

/** Each endpoint: its record, what a program must give, and what it may give. */
export type Endpoints = {
  instrumentReference: {
    record: Instrument;
    needs: { schema_asset: AssetSchema; country_symbol: string };
    takes: { as_of: When; data_version: number };
  };
  corporateActions: {
    record: CorporateAction;
    needs: { country_symbol: string; from: When };
    takes: {
      to: When; action_type: 'dividend' | 'split' | 'spinoff' | 'stock_dividend' | 'special_dividend';
      extended: boolean; sort: 'asc' | 'desc'; limit: number; as_of: When; data_version: number;
    };
  };
  newsList: {
    record: NewsItem;
    needs: { from: When; to: When };
    takes: { full_symbol: string; sort: 'asc' | 'desc'; limit: number; as_of: When; data_version: number };
  };
  latestNews: {
    record: NewsItem;
    needs: object;
    takes: { full_symbol: string; sort: 'asc' | 'desc'; limit: number; as_of: When; data_version: number };
  };
  optionSearch: {
    record: OptionContract;
    needs: {
      schema_asset: AssetSchema; country_symbol: string; option_type: 'call' | 'put' | 'any';
      moneyness: 'in_the_money' | 'out_of_the_money' | 'any';
    };
    takes: {
      ref_asset_price: number; strike_price: number; expiration_date: When; strike_from: number;
      strike_to: number; expiration_from: When; expiration_to: When; adjusted: boolean; quotes: boolean;
      limit: number; sort_by: string; sort: 'asc' | 'desc'; as_of: When; data_version: number;
    };
  };
  optionExpirations: {
    record: Expiration;
    needs: { schema_asset: AssetSchema; country_symbol: string };
    takes: { adjusted: boolean; sort: 'asc' | 'desc'; as_of: When; data_version: number };
  };
  holidayList: {
    record: Holiday;
    needs: { full_symbol: string };
    takes: {
      holiday_code: string; from: When; to: When; sort: 'asc' | 'desc'; limit: number; as_of: When;
      data_version: number;
    };
  };
  holidayCodes: {
    record: Codes;
    needs: { country_iso_code: string };
    takes: { as_of: When; data_version: number };
  };
  historicalBars: {
    record: Bar;
    needs: {
      schema_asset: AssetSchema; country_symbol: string; interval: IntervalCode; from: When; to: When;
    };
    takes: {
      limit: number; is_eth: boolean; session_date: boolean; adjust: 'none' | 'split' | 'dividend' | 'all';
      adjust_as_of: When; as_of: When; data_version: number; columns: readonly (keyof Bar)[];
      timestamps: 'iso' | 'unix' | 'unix_ms'; tz: string; sort: 'asc' | 'desc';
    };
  };
  latestBars: {
    record: Bar;
    needs: { schema_asset: AssetSchema; country_symbol: string; interval: IntervalCode };
    takes: {
      limit: number; is_eth: boolean; session_date: boolean; adjust: 'none' | 'split' | 'dividend' | 'all';
      adjust_as_of: When; as_of: When; data_version: number; columns: readonly (keyof Bar)[];
      timestamps: 'iso' | 'unix' | 'unix_ms'; tz: string;
    };
  };
  economicEvents: {
    record: EconomicEvent;
    needs: object;
    takes: {
      country_iso_code: string; event_code: string; source_id: string; from: When; to: When; impact: 'low'
      | 'medium' | 'high' | 'all'; as_of: When; data_version: number; sort: 'asc' | 'desc'; limit: number;
    };
  };
  economicEvent: {
    record: EconomicEvent;
    needs: object;
    takes: {
      country_iso_code: string; event_code: string; source_id: string; from: When; to: When; impact: 'low'
      | 'medium' | 'high' | 'all'; as_of: When; data_version: number; sort: 'asc' | 'desc';
    };
  };
  economicEventCodes: {
    record: Codes;
    needs: { country_iso_code: string };
    takes: { as_of: When; data_version: number };
  };
  instrumentSearch: {
    record: Instrument;
    needs: { schema_asset: AssetSchema; query: string };
    takes: { country_iso_code: string; limit: number; as_of: When; data_version: number };
  };
  latestEconomicEvents: {
    record: EconomicEvent;
    needs: object;
    takes: {
      country_iso_code: string; event_code: string; impact: 'low' | 'medium' | 'high' | 'all';
      date_type: 'upcoming' | 'historical' | 'all'; sort: 'asc' | 'desc'; limit: number; as_of: When;
      data_version: number;
    };
  };
  runs: {
    record: Run;
    needs: object;
    takes: { sort: 'asc' | 'desc'; limit: number; as_of: When; data_version: number };
  };
  addressInfo: {
    record: AddressInfo;
    needs: object;
    takes: { as_of: When };
  };
  seriesCoverage: {
    record: Series;
    needs: { schema_asset: AssetSchema };
    takes: {
      country_iso_code: string; query: string; interval: IntervalCode; sort: 'asc' | 'desc'; limit: number;
      as_of: When; data_version: number;
    };
  };
  sessionCoverage: {
    record: Session;
    needs: { schema_asset: AssetSchema; country_symbol: string };
    takes: {
      interval: IntervalCode; from: When; to: When; sort: 'asc' | 'desc'; limit: number; as_of: When;
      data_version: number;
    };
  };
  findings: {
    record: Finding;
    needs: { schema_asset: AssetSchema; country_symbol: string };
    takes: {
      interval: IntervalCode; from: When; to: When; kind: 'isolated_wick' | 'unrecorded_split'
      | 'action_without_jump' | 'identity_break' | 'missing_session' | 'behind' | 'short_session' | 'gap'
      | 'closed_day' | 'outside_session' | 'off_grid' | 'minute_day_mismatch' | 'stale' | 'vwap_outside'
      | 'impossible_dividend' | 'conflicting_imports' | 'split_basis' | 'dividend_currency'
      | 'factor_mismatch' | 'doubled_dividend' | 'close_labelled'; severity: 'info' | 'warning' | 'error';
      sort: 'asc' | 'desc'; limit: number; as_of: When; data_version: number;
    };
  };
  latestOfMany: {
    record: Bar;
    needs: { schema_asset: AssetSchema; symbols: readonly string[]; interval: IntervalCode };
    takes: {
      limit: number; is_eth: boolean; session_date: boolean; adjust: 'none' | 'split' | 'dividend' | 'all';
      adjust_as_of: When; as_of: When; data_version: number; columns: readonly (keyof Bar)[];
      timestamps: 'iso' | 'unix' | 'unix_ms'; tz: string;
    };
  };
  bulkBars: {
    record: Bar;
    needs: {
      schema_asset: AssetSchema; country_iso_code: string; interval: IntervalCode; from: When; to: When;
      format: 'csv' | 'arrow' | 'parquet';
    };
    takes: {
      symbols: readonly string[]; is_eth: boolean; session_date: boolean; adjust: 'none' | 'split'
      | 'dividend' | 'all'; adjust_as_of: When; as_of: When; data_version: number;
      columns: readonly (keyof Bar)[]; timestamps: 'iso' | 'unix' | 'unix_ms'; tz: string;
    };
  };
};
