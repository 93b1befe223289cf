// QuantConnect LEAN data folders: minute, hour and daily bars, and option universes, the contracts of an
// underlying on a day. The folder says what a file is: those of bars have no header.
import { resolve } from 'node:path';
import { DAY_MS, formatDay, parseDay } from '../../../base/instant.ts';
import { indexOfRoot } from '../../../store/schema/options.ts';
import { unfitProblem } from '../../read/file-problem.ts';
import { linesOf, type Sample } from '../../read/sample.ts';
import { quoted } from '../../read/scan.ts';
import type { Cell } from '../cell.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { contains, given, isMended, known, leavingOut, type Preset, strict } from './preset.ts';

const prices = ['open', 'high', 'low', 'close'];
const columns = ['time', ...prices, 'volume'];
const quotes = [
  'time',
  ...['bid', 'ask'].flatMap((side) => [...prices, 'size'].map((one) => `${side}_${one}`)),
];

/**
 * `equity/usa/minute/spy/20131007_trade.zip`, `equity/usa/daily/spy.zip`, each followed by the name inside
 * the zip.
 */
const MINUTES =
  /(equity|crypto|forex)\/([a-z]+)\/minute\/([^/]+)\/(\d{8})_(?:[^/]*_)?(trade|quote)(?:\.rejected[.\d]*)?\.(?:zip|csv)/;
const PERIODS =
  /(equity|crypto|forex)\/([a-z]+)\/(hour|daily)\/([^/]+?)(?:_(trade|quote))?(?:\.rejected[.\d]*)?\.(?:zip|csv)/;

/** What a file's folder and name say; only files of minutes have a date. */
type Place = NonNullable<ReturnType<typeof locate>>;

function locate({ name }: Sample) {
  const path = resolve(name).replaceAll('\\', '/').toLowerCase();
  const minutes = MINUTES.exec(path);
  if (minutes !== null) {
    const [, type, market, symbol, date, kind] = minutes;
    return { type, market, symbol: symbol!, interval: '1M', date: date!, isQuote: kind === 'quote' };
  }
  const [, type, market, unit, symbol, kind] = PERIODS.exec(path) ?? [];
  if (symbol === undefined) return null;
  const isQuote = kind === 'quote' || (kind === undefined && type === 'forex');
  return { type, market, symbol, interval: unit === 'daily' ? 'DAY' : '60M', date: null, isQuote };
}

/**
 * Makes local times of milliseconds since the midnight of a date `20131007`; undefined for other texts, and
 * where that is no date.
 */
function timesOf(date: string): (time: string) => string | undefined {
  const dashed = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`;
  const midnightMs = Date.parse(`${dashed}T00:00:00.000Z`);
  const isDate = Number.isFinite(midnightMs) && formatDay(midnightMs / DAY_MS) === dashed;
  return (time) =>
    isDate && /^\d{1,8}$/.test(time)
      ? new Date(midnightMs + Number(time)).toISOString().slice(0, -1)
      : undefined;
}

function datetimeOf({ date, interval }: Place): Cell {
  // Milliseconds since midnight of the file's date, on the clock of its market.
  if (date !== null)
    return {
      sql: `strftime(strptime('${date}', '%Y%m%d') + to_milliseconds(cast(#{time} as bigint)), '%Y-%m-%dT%H:%M:%S.%g')`,
      isStrict: true,
      plain: timesOf(date),
    };
  return interval === 'DAY'
    ? { column: 'time', remove: ' 00:00$', format: '%Y%m%d' }
    : { column: 'time', format: '%Y%m%d %H:%M' };
}

function mappingOf(sample: Sample): ColumnMapping {
  const place = locate(sample);
  if (place === null)
    throw unfitProblem(
      sample.name,
      'a LEAN file is recognized by its folder. Keep it in one such as equity/usa/minute/spy/20131007_trade.zip',
    );
  const isEquity = place.type === 'equity';
  const isUs = isEquity && place.market === 'usa';
  // FXCM's clock is EST the whole year.
  const zone = isUs ? 'America/New_York' : place.market === 'fxcm' ? 'Etc/GMT+5' : 'UTC';
  const scaled = (column: string): Cell => (isEquity ? { column, scale: 0.0001 } : column);
  const side = place.isQuote ? 'bid_' : '';
  return {
    header: place.isQuote ? quotes : columns,
    columns: {
      datetime: datetimeOf(place),
      ...Object.fromEntries(prices.map((price) => [price, scaled(side + price)])),
      ...(place.isQuote ? {} : { volume: 'volume' }),
    },
    values: known({
      asset_schema: isEquity ? 'stock' : place.type,
      country_iso_code: isUs ? 'US' : isEquity ? null : 'GLOBAL',
      symbol: place.symbol.toUpperCase(),
      interval: place.interval,
    }),
    ...(isEquity && !isUs ? {} : { zone }),
    prices: 'raw',
    symbols: 'then',
  };
}

const ROW = /^(\d{1,8}|\d{8} \d\d:\d\d),[\d.]+,/;

export const lean: Preset = {
  name: 'lean',
  says: 'QuantConnect LEAN minute, hour and daily zips of equity, crypto and forex, in their folders',
  dataset: 'bars',
  isOpenEnded: true,
  example: ['34200000,1680400,1680800,1680300,1680700,152036'],
  fits(sample) {
    if (!ROW.test(linesOf(sample)[0] ?? '') && !isMended(sample, columns) && !isMended(sample, quotes))
      return 'no';
    return locate(sample) === null ? 'perhaps' : 'surely';
  },
  mappingOf,
};

/** `option/usa/universes/aapl/20140605.csv`, `indexoption/usa/universes/spxw/20210104.csv`. */
const UNIVERSE = /(?:index)?option\/usa\/universes\/([a-z.]+)\/(\d{8})(?:\.rejected[.\d]*)?\.(?:csv|zip)/;

/** Prices are those of quotes too, so none of them is that of a trade. */
const universeQuotes = Object.fromEntries(
  [...['volume', 'open_interest', 'implied_volatility'], ...['delta', 'gamma', 'vega', 'theta', 'rho']].map(
    (field) => [field, field],
  ),
);

/**
 * The moment of a universe's quotes: LEAN has the values of a day from its end on (`OptionUniverse.EndTime`).
 */
function dayAfter(date: string): { quote_datetime?: string } {
  const day = parseDay(`${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}`);
  return day === null ? {} : { quote_datetime: `${formatDay(day + 1)}T00:00:00` };
}

const expiration = "strptime({#expiry}, '%Y%m%d')";

export const leanUniverse: Preset = {
  name: 'lean-universe',
  says: 'QuantConnect LEAN option universes of the USA, in their folders',
  dataset: 'option-contracts',
  example: ['#expiry,strike,right,open,high,low,close,volume,open_interest', '20140606,492.5,C,1,1,1,1,0,'],
  fits: contains('#expiry', 'strike', 'right', 'open_interest'),
  mappingOf(sample) {
    const [, place, date = ''] =
      UNIVERSE.exec(resolve(sample.name).replaceAll('\\', '/').toLowerCase()) ?? [];
    const ticker = place?.toUpperCase();
    if (ticker === undefined)
      throw unfitProblem(
        sample.name,
        'a LEAN universe is recognized by its folder. Keep it in one such as option/usa/universes/aapl/20140605.csv; options on futures cannot be imported',
      );
    // A symbol has no point before the class of a share.
    const root = ticker.replaceAll('.', '');
    return {
      columns: {
        symbol: strict(
          `${quoted(root)} || strftime(${expiration}, '%y%m%d') || {right} || lpad(cast(cast(round(#{strike} * 1000) as bigint) as varchar), 8, '0')`,
          'gives no symbol with its strike',
        ),
        expiration_date: { column: '#expiry', format: '%Y%m%d' },
        strike_price: 'strike',
        option_type: { column: 'right', lookup: { C: 'call', P: 'put' } },
        ...given(sample, universeQuotes),
      },
      values: {
        country_iso_code: 'US',
        parent_asset_schema: 'stock',
        underlying_name: indexOfRoot(root) ?? ticker,
        ...dayAfter(date),
      },
      zone: 'America/New_York',
      symbols: 'then',
      namesRoots: true,
      convert: leavingOut(sample.name, 'prices of the underlying, left out', ([expiry]) => expiry === ''),
    };
  },
};
