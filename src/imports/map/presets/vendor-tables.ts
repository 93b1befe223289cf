// Files that are tables of names: columns, clock, price basis and units of one vendor each. `source` is where
// the vendor's program or documentation shows the form.
import { unfitProblem } from '../../read/file-problem.ts';
import { cellsOf, linesOf, type Sample, stemOf } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import {
  cellsBelow,
  codes,
  contains,
  firstCells,
  given,
  intervalOfDates,
  intervalOfDays,
  isMended,
  isObject,
  known,
  leavingOut,
  lower,
  minutesOf,
  named,
  type Preset,
  strict,
  titled,
} from './preset.ts';

const tagged = { open: '<OPEN>', high: '<HIGH>', low: '<LOW>', close: '<CLOSE>' };
/** Volume of Chinese vendors: hands of 100 shares. */
const hands = (column: string): Cell => ({ column, scale: 100 });

/** Makes the preset of a table whose header has columns that no other vendor's has. */
const table = (
  preset: Pick<Preset, 'name' | 'says' | 'example'>,
  columns: readonly string[],
  mappingOf: Preset['mappingOf'],
): Preset => ({ ...preset, dataset: 'bars', fits: contains(...columns), mappingOf });

/**
 * Source: MetaTrader 5, window "Symbols", tab "Bars", "Export Bars";
 * mql5.com/en/docs/constants/structures/mqlrates: a bar's time is the start of its period. The clock is that
 * of the broker.
 */
const metatrader5: Preset = {
  name: 'metatrader5',
  says: 'MetaTrader 5, export of bars (these need --schema, --country, and --zone for minutes)',
  dataset: 'bars',
  example: [
    '<DATE>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>',
    '2024.01.03\t1.09410\t1.09660\t1.08930\t1.09210\t81234\t0\t0',
  ],
  fits: (sample) => {
    const cells = new Set(firstCells(sample, '\t'));
    return ['<DATE>', '<CLOSE>', '<TICKVOL>', '<SPREAD>'].every((one) => cells.has(one)) ? 'surely' : 'no';
  },
  mappingOf(sample) {
    const header = firstCells(sample, '\t');
    const hasTime = header.includes('<TIME>');
    const rows = linesOf(sample).slice(1);
    const real = rows.map((row) => Number(row.split('\t')[header.indexOf('<VOL>')]));
    const hasReal = real.every((volume) => volume > 0);
    return {
      delimiter: '\t',
      columns: {
        ...tagged,
        datetime: hasTime
          ? { column: '<DATE>', join: '<TIME>', format: '%Y.%m.%d %H:%M:%S' }
          : { column: '<DATE>', format: '%Y.%m.%d' },
        // Of exchanges the real volume; of others, where that is 0, the number of price changes.
        volume: hasReal ? '<VOL>' : '<TICKVOL>',
      },
      values: named(sample, /^([^_]+)_(M\d+|H\d+|Daily|Weekly|Monthly)_\d{12}_\d{12}$/),
      prices: 'raw',
      label: 'open',
    };
  },
};

const metatrader4Columns = ['date', 'time', 'open', 'high', 'low', 'close', 'volume'];

/**
 * Source: MetaTrader 4, "History Center", export: `EURUSD60.csv`;
 * histdata.com/f-a-q/data-files-detailed-specification shows such rows as those of MetaTrader. The clock is
 * that of the broker; docs.mql4.com/series/copytime: the time of a bar is that of its opening.
 */
const metatrader4: Preset = {
  name: 'metatrader4',
  says: 'MetaTrader 4, export of the History Center (these need --schema, --country, and --zone for minutes)',
  dataset: 'bars',
  example: ['2024.01.03,00:00,1.09410,1.09660,1.08930,1.09210,81234'],
  fits(sample) {
    const [date = '', time = '', ...rest] = firstCells(sample);
    const isRow = /^\d{4}\.\d\d\.\d\d$/.test(date) && /^\d\d:\d\d$/.test(time) && rest.length === 5;
    return isRow || isMended(sample, metatrader4Columns) ? 'surely' : 'no';
  },
  mappingOf: (sample) => ({
    header: metatrader4Columns,
    columns: { ...lower, datetime: { column: 'date', join: 'time', format: '%Y.%m.%d %H:%M' } },
    values: named(sample, /^([A-Za-z#._-]+?)(\d+)$/),
    prices: 'raw',
    label: 'open',
  }),
};

/** Source: docs.tiingo.com, end of day prices, `format=csv`. */
const tiingo = table(
  {
    name: 'tiingo',
    says: 'Tiingo end of day prices, CSV',
    example: [
      'date,close,high,low,open,volume,adjClose,adjHigh,adjLow,adjOpen,adjVolume,divCash,splitFactor',
      '2020-08-28,499.23,505.77,498.31,504.05,46907479,121.02,122.61,120.8,122.19,187629916,0.0,1.0',
    ],
  },
  ['date', 'close', 'adjClose', 'adjOpen', 'divCash', 'splitFactor'],
  (sample) => ({
    columns: { ...lower, datetime: 'date' },
    values: known({ interval: intervalOfDates(sample) }),
    prices: 'raw',
    symbols: 'now',
  }),
);

/**
 * Source: alphavantage.co/documentation, TIME_SERIES_DAILY_ADJUSTED, `datatype=csv`: raw prices, newest
 * first.
 */
const alphaVantage = table(
  {
    name: 'alpha-vantage',
    says: 'Alpha Vantage adjusted days, CSV: daily_adjusted_IBM.csv',
    example: [
      'timestamp,open,high,low,close,adjusted_close,volume,dividend_amount,split_coefficient',
      '2020-08-31,127.58,131.0,126.0,129.04,125.8,225702688,0.0000,4.0',
    ],
  },
  ['timestamp', 'close', 'adjusted_close', 'dividend_amount', 'split_coefficient'],
  (sample) => ({
    columns: { ...lower, datetime: 'timestamp' },
    values: { interval: 'DAY', ...named(sample, /^daily_adjusted_([A-Z0-9.-]+)$/) },
    prices: 'raw',
    symbols: 'now',
  }),
);

const dollars = (column: string): Cell => ({ column, remove: '\\$', thousands: ',' });

/**
 * Source: nasdaq.com/market-activity/stocks/aapl/historical, "Download historical data": newest first,
 * dollar signs. How prices are adjusted is nowhere said.
 */
const nasdaqCom = table(
  {
    name: 'nasdaq-com',
    says: 'Nasdaq.com historical quotes of one symbol, days',
    example: ['Date,Close/Last,Volume,Open,High,Low', '12/13/2024,$191.38,18883220,$192.71,$194.34,$191.26'],
  },
  ['Date', 'Close/Last', 'Volume', 'Open', 'High', 'Low'],
  () => ({
    columns: {
      datetime: { column: 'Date', format: '%m/%d/%Y' },
      open: dollars('Open'),
      high: dollars('High'),
      low: dollars('Low'),
      close: dollars('Close/Last'),
      volume: { column: 'Volume', remove: '^N/A$', thousands: ',' },
    },
    values: { country_iso_code: 'US', interval: 'DAY' },
    prices: 'split',
    symbols: 'now',
  }),
);

const india = { asset_schema: 'stock', country_iso_code: 'IN', exchange: 'XNSE', interval: 'DAY' };

/** The mapping of a bhavcopy: another series of a symbol is another security. */
const bhavcopy = (name: string, series: string, columns: ColumnMapping['columns']): ColumnMapping => ({
  columns,
  values: india,
  zone: 'Asia/Kolkata',
  prices: 'raw',
  symbols: 'then',
  ownColumns: [series],
  convert: leavingOut(
    name,
    'of series other than EQ, left out',
    (cells, header) => cells[header.indexOf(series)] !== 'EQ',
  ),
});

/** Source: nsearchives.nseindia.com, `cm01JAN2024bhav.csv`, until July 2024. */
const nseBhavcopy = table(
  {
    name: 'nse-bhavcopy',
    says: 'NSE of India, bhavcopy of one day: the series EQ',
    example: [
      'SYMBOL,SERIES,OPEN,HIGH,LOW,CLOSE,LAST,PREVCLOSE,TOTTRDQTY,TOTTRDVAL,TIMESTAMP,TOTALTRADES,ISIN,',
      'SBIN,EQ,641.95,643.5,635.6,640.9,641.4,642.05,10345678,6612345678.9,01-JAN-2024,150234,INE062A01020,',
    ],
  },
  ['SYMBOL', 'SERIES', 'PREVCLOSE', 'TOTTRDQTY', 'TIMESTAMP'],
  ({ name }) =>
    bhavcopy(name, 'SERIES', {
      symbol: 'SYMBOL',
      datetime: { column: 'TIMESTAMP', format: '%d-%b-%Y' },
      ...{ open: 'OPEN', high: 'HIGH', low: 'LOW', close: 'CLOSE', volume: 'TOTTRDQTY' },
    }),
);

/** Source: nsearchives.nseindia.com/products/content, `sec_bhavdata_full_02022024.csv`. */
const nseBhavdata = table(
  {
    name: 'nse-bhavdata',
    says: 'NSE of India, full bhavcopy of one day with deliveries: the series EQ',
    example: [
      'SYMBOL, SERIES, DATE1, PREV_CLOSE, OPEN_PRICE, HIGH_PRICE, LOW_PRICE, LAST_PRICE, CLOSE_PRICE, AVG_PRICE, TTL_TRD_QNTY, TURNOVER_LACS, NO_OF_TRADES, DELIV_QTY, DELIV_PER',
      'SBIN, EQ, 02-Feb-2024, 648, 652, 659, 645, 649, 650, 652, 23456789, 15299.99, 311220, 9876543, 42.1',
    ],
  },
  ['SYMBOL', 'SERIES', 'DATE1', 'CLOSE_PRICE', 'TTL_TRD_QNTY', 'DELIV_QTY'],
  ({ name }) =>
    bhavcopy(name, 'SERIES', {
      symbol: 'SYMBOL',
      datetime: { column: 'DATE1', format: '%d-%b-%Y' },
      ...{ open: 'OPEN_PRICE', high: 'HIGH_PRICE', low: 'LOW_PRICE', close: 'CLOSE_PRICE' },
      volume: 'TTL_TRD_QNTY',
    }),
);

/**
 * Source: tushare.pro/document/2?doc_id=27: not adjusted, volume in hands, turnover in thousands of yuan;
 * doc_id=192, hk_daily: shares and dollars.
 */
const tushare = table(
  {
    name: 'tushare',
    says: 'Tushare, days of Chinese stocks: pro.daily(…).to_csv()',
    example: [
      ',ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount',
      '0,000001.SZ,20240703,10.27,10.33,10.2,10.29,10.28,0.01,0.1,812345.0,834276.012',
    ],
  },
  ['ts_code', 'trade_date', 'pre_close', 'pct_chg', 'vol', 'amount'],
  (sample) => {
    const isHongKong = cellsBelow(sample, 'ts_code')[0]?.endsWith('.HK') === true;
    const dates = cellsBelow(sample, 'trade_date').map((day) => day.replace(/^(\d{4})(\d\d)/, '$1-$2-'));
    if (![null, 'DAY'].includes(intervalOfDays(dates)))
      throw unfitProblem(sample.name, 'has weeks or months: the preset tushare reads days. Use --map');
    const markets = isHongKong ? ['HK'] : ['SZ', 'SH', 'BJ', 'CSI', 'SI'];
    const price = `#{amount}${isHongKong ? '' : ' * 10'} / nullif(#{vol}, 0)`;
    return {
      columns: {
        ...lower,
        // Each market has its unit.
        symbol: strict(
          `case when regexp_matches({ts_code}, '[.](${markets.join('|')})$')
            and not regexp_matches({ts_code}, '^1.*[.]SH$|^1[0-4].*[.]SZ$') then {ts_code} end`,
          `is not of ${markets.join(', ')}, or is a bond: these have another unit of volumes`,
        ),
        datetime: { column: 'trade_date', format: '%Y%m%d' },
        volume: isHongKong ? 'vol' : hands('vol'),
        // The turnover of an index is that of its shares.
        vwap: {
          sql: `case when ${price} between #{low} - 0.001 and #{high} + 0.001 then round(${price}, 10) end`,
        },
      },
      values: { asset_schema: 'stock', country_iso_code: isHongKong ? 'HK' : 'CN', interval: 'DAY' },
      prices: 'raw',
    };
  },
);

/**
 * Source: akshare.akfamily.xyz, stock_zh_a_hist: by default not adjusted; volume in hands. Tables without
 * symbols are those of former versions, of funds and indices in hands, and of Hong Kong and the US in shares.
 */
const akshare = table(
  {
    name: 'akshare',
    says: 'AKShare, days of Chinese stocks: stock_zh_a_hist(…).to_csv()',
    example: [
      ',日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅,涨跌幅,涨跌额,换手率',
      '0,2024-07-03,000001,10.27,10.29,10.33,10.2,812345,834276012.0,1.26,0.1,0.01,0.42',
    ],
  },
  ['日期', '开盘', '收盘', '成交量', '成交额', '换手率'],
  (sample) => {
    const hasSymbols = firstCells(sample).includes('股票代码');
    const [lows, highs, volumes, turnovers] = ['最低', '最高', '成交量', '成交额'].map((name) =>
      cellsBelow(sample, name).map(Number),
    ) as [number[], number[], number[], number[]];
    // Without a trade there is no price.
    const traded = [...volumes.keys()].filter((row) => volumes[row]! > 0);
    const isOf = (unit: number): boolean =>
      traded.length > 0 &&
      traded.every((row) => {
        const price = turnovers[row]! / volumes[row]! / unit;
        return price >= lows[row]! - 0.01 && price <= highs[row]! + 0.01;
      });
    // Of very low prices both may hold. Shares of China (600000) are in hands: adjusted prices may fit both.
    const [areHands, areShares] = [isOf(100), isOf(1)];
    const isChina = cellsBelow(sample, '股票代码').some((code) => code.length === 6);
    const isHands = hasSymbols ? areHands || !areShares : areHands && !areShares;
    const isKnown = isHands || (areShares && !areHands && !isChina);
    const doubt = isKnown
      ? 'its turnover does not fit its prices: if they are adjusted (qfq, hfq), give --prices all'
      : 'its turnover does not show whether its volumes are hands or shares: they are not stored. Use a map to say which';
    return {
      columns: {
        ...(hasSymbols && { symbol: '股票代码' }),
        datetime: '日期',
        ...{ open: '开盘', high: '最高', low: '最低', close: '收盘' },
        ...(isKnown && { volume: isHands ? hands('成交量') : '成交量' }),
      },
      values: { asset_schema: 'stock', ...(hasSymbols && isHands && { country_iso_code: 'CN' }) },
      prices: 'raw',
      ...((!isKnown || (traded.length > 0 && !areHands && !areShares)) && { doubt }),
    };
  },
);

const finamHeader = ['<TICKER>', '<PER>', '<DATE>', '<TIME>', '<OPEN>', '<HIGH>', '<LOW>', '<CLOSE>'];

/**
 * Source: finam.ru, "Экспорт котировок", whose form asks for the candle's time, its beginning (`MSOR=0`) or
 * its end (`MSOR=1`), and for Moscow time (`mstime=on`), beside `dtf=1`, the date as yyyymmdd, and `tmf=1`,
 * the time as hhmmss.
 */
const finam: Preset = {
  name: 'finam',
  says: 'Finam, export of quotes, dates as yyyymmdd and times as hhmmss (these need --schema, --country)',
  dataset: 'bars',
  example: [
    '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>',
    'SBER,D,20240103,000000,271.9,274.7,271,274.56,20134560',
  ],
  // With <OPENINT> it is Stooq's.
  fits(sample) {
    const header = firstCells(sample, finamDelimiter(sample));
    const isFinam = finamHeader.every((name, at) => header[at] === name) && !header.includes('<OPENINT>');
    return isFinam ? 'surely' : 'no';
  },
  mappingOf(sample): ColumnMapping {
    const delimiter = finamDelimiter(sample);
    const rows = linesOf(sample)
      .slice(1)
      .map((line) => cellsOf(line, delimiter) ?? []);
    const isDaily = rows.every(([, per = '']) => /^[DWM]$/.test(per));
    if (rows.some(([, , date = '']) => !/^\d{8}$/.test(date)))
      throw unfitProblem(
        sample.name,
        'has dates in another form than yyyymmdd: export it with these, or use --map',
      );
    return {
      delimiter,
      columns: {
        ...tagged,
        symbol: '<TICKER>',
        interval: { column: '<PER>', lookup: { D: 'DAY', W: 'WEEK', M: 'MON', ...codes } },
        datetime: isDaily
          ? { column: '<DATE>', format: '%Y%m%d' }
          : { column: '<DATE>', join: '<TIME>', format: '%Y%m%d %H%M%S' },
        ...(firstCells(sample, delimiter).includes('<VOL>') && { volume: '<VOL>' }),
      },
      values: {},
      zone: 'Europe/Moscow',
      prices: 'raw',
      ...(!isDaily && {
        doubt:
          'its times are read as the beginning of each candle: if you chose the end for the export, give --label close',
      }),
    };
  },
};

const finamDelimiter = (sample: Sample): string => ((linesOf(sample)[0] ?? '').includes(';') ? ';' : ',');

const candles = { datetime: 't', open: 'o', high: 'h', low: 'l', close: 'c', volume: 'v' };

/**
 * Source: finnhub.io/docs/api/stock-candles, and the answers of the vendor in
 * github.com/finnhubio/Finnhub-API, issues 439 and 502: days are adjusted for splits, minutes and hours are
 * not; times are the open in seconds.
 */
const finnhub: Preset = {
  name: 'finnhub',
  says: 'Finnhub candles of one symbol, JSON or CSV (these need --schema, --country, --symbol, --interval)',
  dataset: 'bars',
  example: ['t,o,h,l,c,v', '1325548800,14.6,14.75,14.6,14.7,10794967'],
  fits(sample) {
    const isJson = isObject(sample) && /"s"\s*:\s*"ok"/.test(sample.text);
    const isAnswer = isJson && Object.values(candles).every((key) => sample.text.includes(`"${key}":`));
    // Others write such names too.
    return isAnswer || contains(...Object.values(candles))(sample) === 'surely' ? 'perhaps' : 'no';
  },
  mappingOf(sample) {
    const isJson = isObject(sample);
    const times = isJson
      ? (/"t"\s*:\s*\[([\d,\s]*)/.exec(sample.text)?.[1] ?? '').split(',')
      : cellsBelow(sample, 't');
    // Days begin at midnight of UTC.
    const isDaily = times.every((at) => Number(at) % 86_400 === 0);
    return {
      columns: candles,
      values: known({ interval: minutesOf(times.map(Number)) }),
      prices: isDaily ? 'split' : 'raw',
      symbols: 'now',
    };
  },
};

/** Intervals of Twelve Data. */
const spans: Readonly<Record<string, string>> = {
  ...Object.fromEntries([1, 5, 15, 30, 45].map((minutes) => [`${minutes}min`, `${minutes}M`])),
  ...Object.fromEntries([1, 2, 4, 5, 8].map((hours) => [`${hours}h`, `${hours * 60}M`])),
  ...{ '1day': 'DAY', '1week': 'WEEK', '1month': 'MON' },
};

/** An answer, or several by their symbols, the first of which may have failed. */
const TWELVE_START = /^[\s\ufeff]*\{(?:\s*"[^"]*"\s*:\s*\{[^{}]*\}\s*,)*\s*(?:"([^"]*)"\s*:\s*\{\s*)?"meta"/;

/**
 * Source: twelvedata.com/docs, time_series, and github.com/twelvedata/twelvedata-python, README.md and
 * src/twelvedata/mixins.py: newest first; times are the open, by the clock of the exchange unless the
 * request named another. support.twelvedata.com/en/articles/5179064: days, weeks and months are adjusted
 * for splits, minutes and hours are not.
 */
const twelveData: Preset = {
  name: 'twelve-data',
  says: 'Twelve Data time series of one symbol or several, JSON (these need --schema, --country)',
  dataset: 'bars',
  example: [
    '{"meta":{"symbol":"AAPL","interval":"1day","exchange_timezone":"America/New_York"},"values":[{"datetime":"2020-04-23","open":"68.9","high":"70.4","low":"68.7","close":"68.8","volume":"124814400"}],"status":"ok"}',
  ],
  fits({ text }) {
    const isAnswer = ['meta', 'values', 'datetime', 'interval', 'close'].every((key) =>
      text.includes(`"${key}"`),
    );
    return TWELVE_START.test(text) && isAnswer ? 'surely' : 'no';
  },
  mappingOf({ text }) {
    const found = text.matchAll(/"(symbol|interval|exchange_timezone)"\s*:\s*"([^"]+)"/g);
    // Of several symbols those of the first.
    const meta = new Map(Array.from(found, ([, key, value]) => [key, value!] as const).reverse());
    const zone = meta.get('exchange_timezone');
    const interval = meta.get('interval') ?? '';
    const { volume, ...prices } = lower;
    const isBatch = TWELVE_START.exec(text)?.[1] !== undefined;
    const alike = ['interval', 'exchange_timezone'].map((key) => {
      const first = meta.get(key);
      return `{meta.${key}} is not distinct from ${first === undefined ? 'null' : quoted(first)}`;
    });
    const symbol: Cell = strict(
      `case when ${alike.join(' and ')} then {meta.symbol} end`,
      'has another interval or exchange_timezone than the first symbol: put it into a file of its own',
    );
    return {
      columns: {
        ...prices,
        datetime: 'datetime',
        ...(text.includes('"volume"') && { volume }),
        ...(isBatch && { symbol }),
      },
      values: known({ symbol: isBatch ? null : meta.get('symbol'), interval: spans[interval] }),
      ...(zone !== undefined && { zone }),
      prices: /\d(min|h)$/.test(interval) ? 'raw' : 'split',
      symbols: 'now',
      label: 'open',
    };
  },
};

/**
 * Source: nsearchives.nseindia.com, `BhavCopy_NSE_CM_0_0_0_20240708_F_0000.csv.zip`, from July 2024: the
 * columns are those of SEBI's UDiFF.
 */
const nseUdiff: Preset = {
  name: 'nse-udiff',
  says: 'NSE of India, UDiFF bhavcopy of one day: the series EQ',
  dataset: 'bars',
  example: [
    'TradDt,BizDt,Sgmt,Src,FinInstrmTp,FinInstrmId,ISIN,TckrSymb,SctySrs,XpryDt,FininstrmActlXpryDt,StrkPric,OptnTp,FinInstrmNm,OpnPric,HghPric,LwPric,ClsPric,LastPric,PrvsClsgPric,UndrlygPric,SttlmPric,OpnIntrst,ChngInOpnIntrst,TtlTradgVol,TtlTrfVal,TtlNbOfTxsExctd,SsnId,NewBrdLotQty,Rmks,Rsvd1,Rsvd2,Rsvd3,Rsvd4',
    '2024-07-08,2024-07-08,CM,NSE,STK,3045,INE062A01020,SBIN,EQ,,,,,STATE BANK,641.95,643.5,635.6,640.9,641.4,642.05,,640.9,,,10345678,6612345678.9,150234,F1,1,,,,,',
  ],
  fits(sample) {
    const isOf = (column: string, all: string) => cellsBelow(sample, column).every((one) => one === all);
    const isUdiff = contains('TradDt', 'TckrSymb', 'SctySrs', 'OpnPric', 'ClsPric', 'TtlTradgVol')(sample);
    return isUdiff === 'surely' && isOf('Sgmt', 'CM') && isOf('Src', 'NSE') ? 'surely' : 'no';
  },
  mappingOf: ({ name }) =>
    bhavcopy(name, 'SctySrs', {
      symbol: 'TckrSymb',
      datetime: 'TradDt',
      ...{ open: 'OpnPric', high: 'HghPric', low: 'LwPric', close: 'ClsPric', volume: 'TtlTradgVol' },
    }),
};

/** Numbers with commas between thousands. */
const grouped = (columns: Readonly<Record<string, string>>): Record<string, Cell> =>
  Object.fromEntries(
    Object.entries(columns).map(([field, column]) => [field, { column, thousands: ',' as const }]),
  );

/** The doubt about a vendor that does not say how prices are adjusted. */
const rawDoubt = (vendor: string): string =>
  `${vendor} does not say how prices of stocks are adjusted: they count as raw unless --prices says otherwise`;

/** The form of Investing.com's dates: each edition has its own; null where the rows do not tell it. */
function investingForm(dates: readonly string[]): string | null {
  if (dates.every((date) => /^[A-Z][a-z]{2} \d\d, \d{4}$/.test(date))) return '%b %d, %Y';
  const parts = dates.map((date) => /^(\d\d)([./-])(\d\d)\2\d{4}$/.exec(date));
  if (parts.length === 0 || parts.includes(null)) return null;
  const mark = parts[0]![2]!;
  const [isDay, isMonth] = [1, 3].map((place) => parts.some((part) => Number(part![place]) > 12));
  if (isDay === isMonth) return null;
  return (isDay ? ['%d', '%m', '%Y'] : ['%m', '%d', '%Y']).join(mark);
}

/** A date of some form as `YYYY-MM-DD`. */
function isoOf(date: string, form: string): string {
  if (form.startsWith('%b')) return new Date(`${date} UTC`).toISOString().slice(0, 10);
  const [first, second, year] = date.split(/\D/);
  return form.startsWith('%d') ? `${year}-${second}-${first}` : `${year}-${first}-${second}`;
}

/**
 * Source: investing.com, "Historical Data", download, whose header is this one in the English editions. How
 * prices are adjusted is nowhere said.
 */
const investing: Preset = {
  name: 'investing',
  says: 'Investing.com historical data of one instrument (these need --schema, --country, --symbol)',
  dataset: 'bars',
  example: [
    '"Date","Price","Open","High","Low","Vol.","Change %"',
    '"12/31/2024","7,278.20","7,277.58","7,281.20","7,275.47","190.28M","1.52%"',
  ],
  fits: contains('Date', 'Price', 'Open', 'High', 'Low', 'Vol.', 'Change %'),
  mappingOf(sample) {
    const dates = cellsBelow(sample, 'Date');
    const format = investingForm(dates);
    if (format === null)
      throw unfitProblem(
        sample.name,
        `has dates (${dates[0]}) that may begin with the day or with the month: use --preset none with --date-format`,
      );
    return {
      columns: {
        ...grouped({ open: 'Open', high: 'High', low: 'Low', close: 'Price' }),
        datetime: { column: 'Date', format },
        volume: { column: 'Vol.', scale: 'suffix' },
      },
      values: known({ interval: intervalOfDays(dates.map((date) => isoOf(date, format))) }),
      doubt: rawDoubt('Investing.com'),
    };
  },
};

const KIBOT = /^\d\d\/\d\d\/\d{4}$/;

/**
 * Source: kibot.com/Data_Format.aspx: no header, days without a time, Eastern time, the time of the open,
 * prices and volumes adjusted for splits and dividends.
 */
const kibot: Preset = {
  name: 'kibot',
  says: 'Kibot history of one symbol: MSFT.txt (these need --schema, --country)',
  dataset: 'bars',
  example: ['01/12/2010,09:30,54.56,54.63,54.5,54.6,246400'],
  fits(sample) {
    const [date = '', ...cells] = firstCells(sample);
    const isTimed = /^\d\d:\d\d$/.test(cells[0] ?? '') && cells.length === 6;
    return KIBOT.test(date) && (isTimed || cells.length === 5) ? 'perhaps' : 'no';
  },
  mappingOf(sample) {
    const rows = linesOf(sample).map((line) => cellsOf(line, ',') ?? []);
    const isTimed = rows[0]!.length === 7;
    const times = rows.map(([date = '', at = '']) => Date.parse(`${isoOf(date, '%m')}T${at}Z`) / 1000);
    return {
      header: ['date', ...(isTimed ? ['time'] : []), ...Object.keys(lower)],
      columns: {
        ...lower,
        datetime: isTimed
          ? { column: 'date', join: 'time', format: '%m/%d/%Y %H:%M' }
          : { column: 'date', format: '%m/%d/%Y' },
      },
      values: known({
        symbol: /^[A-Z][A-Z0-9.]*$/.exec(stemOf(sample))?.[0],
        interval: isTimed ? minutesOf(times) : intervalOfDays(rows.map(([date = '']) => isoOf(date, '%m'))),
      }),
      zone: 'America/New_York',
      prices: 'all',
      label: 'open',
    };
  },
};

const firstRateSpans: Readonly<Record<string, string>> = {
  ...{ '1min': '1M', '5min': '5M', '30min': '30M', '1hour': '60M', '1day': 'DAY' },
};
const firstRateBases = { adjsplitdiv: 'all', adjsplit: 'split', UNADJUSTED: 'raw' } as const;
const FIRSTRATE = /^([A-Z0-9.-]+)_[a-z]+_(1min|5min|30min|1hour|1day)_(adjsplitdiv|adjsplit|UNADJUSTED)$/;

/**
 * Source: firstratedata.com, files of stocks and ETFs, as programs that read them show them: no header, the
 * clock of New York, the time of the open; names say how prices are adjusted.
 */
const firstRate: Preset = {
  name: 'firstrate',
  says: 'FirstRate Data, stocks and ETFs: AAPL_full_1min_adjsplitdiv.txt (these need --schema, --country)',
  dataset: 'bars',
  example: ['2023-01-03 09:30:00,130.28,130.9,129.77,130.5,3112800'],
  fits(sample) {
    const [at = '', ...cells] = firstCells(sample);
    const isRow = /^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?$/.test(at) && cells.length === 5;
    const isOne = isRow || isMended(sample, ['datetime', ...Object.keys(lower)]);
    if (!isOne) return 'no';
    return FIRSTRATE.test(stemOf(sample)) ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [, symbol, code = '', basis = ''] = FIRSTRATE.exec(stemOf(sample)) ?? [];
    return {
      header: ['datetime', ...Object.keys(lower)],
      columns: { ...lower, datetime: 'datetime' },
      values: known({ symbol, interval: firstRateSpans[code] }),
      zone: 'America/New_York',
      ...(basis !== '' && { prices: firstRateBases[basis as keyof typeof firstRateBases] }),
      label: 'open',
    };
  },
};

/** The last line of a download. */
const isBarchartEnd = ([first = '']: readonly string[]): boolean =>
  first.startsWith('Downloaded from Barchart.com');

/**
 * Source: barchart.com, "Historical Download", whose files begin with these columns and end with a line
 * that says where and when they were made. The clock of their times, and how prices of stocks are adjusted,
 * is nowhere said.
 */
const barchart: Preset = {
  name: 'barchart',
  says: 'Barchart historical download of one symbol (these need --schema, --country, --symbol, --zone for minutes)',
  dataset: 'bars',
  example: [
    'Time,Open,High,Low,Latest,Change,%Change,Volume',
    '2026-05-04,17.54,18.09,17.35,18.07,0.31,+1.75%,"1,195,900"',
  ],
  fits(sample) {
    const columns = ['Time', 'Open', 'High', 'Low', 'Change', 'Volume'];
    const isOne = [
      ['Latest', '%Change'],
      ['Last', '%Chg'],
    ].some((more) => contains(...columns, ...more)(sample) === 'surely');
    return isOne ? 'surely' : 'no';
  },
  mappingOf(sample) {
    const days = cellsBelow(sample, 'Time').filter((at) => at !== '' && !isBarchartEnd([at]));
    const isTimed = days.some((at) => at.includes(':'));
    const isIso = days.every((at) => /^\d{4}-/.test(at));
    const isUs = days.every((at) => /^\d\d\/\d\d\/\d{4}/.test(at));
    if (!isIso && !isUs)
      throw unfitProblem(
        sample.name,
        `has times in another form than YYYY-MM-DD or MM/DD/YYYY, such as ${days[0]}`,
      );
    const form = isIso ? '%Y-%m-%d' : '%m/%d/%Y';
    const [, minutes] = /_intraday-(\d+)min_/.exec(stemOf(sample)) ?? [];
    return {
      columns: {
        ...given(sample, { symbol: 'Symbol' }),
        ...grouped({ ...titled, ...given(sample, { close: 'Latest' }), ...given(sample, { close: 'Last' }) }),
        datetime: { column: 'Time', format: isTimed ? `${form} %H:%M` : form },
      },
      values: known({
        interval: isTimed
          ? minutes && `${minutes}M`
          : intervalOfDays(days.map((at) => (isIso ? at.slice(0, 10) : isoOf(at, '%m')))),
      }),
      convert: leavingOut(sample.name, 'the line that says when it was downloaded, left out', isBarchartEnd),
      doubt: rawDoubt('Barchart'),
    };
  },
};

export const tables: readonly Preset[] = [
  metatrader5,
  metatrader4,
  tiingo,
  alphaVantage,
  nasdaqCom,
  nseBhavcopy,
  nseBhavdata,
  tushare,
  akshare,
  finam,
  finnhub,
  twelveData,
  nseUdiff,
  investing,
  kibot,
  firstRate,
  barchart,
];
