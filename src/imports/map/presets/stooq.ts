// Stooq: the files of its database (daily, hourly, 5 minutes), and the download of one symbol, in English and
// Polish.
import { type Sample, stemOf } from '../../read/sample.ts';
import type { ColumnMapping } from '../column-mapping.ts';
import { firstCells, intervalOfDates, known, type Preset, rowsBelow, strict } from './preset.ts';

const header = '<TICKER>,<PER>,<DATE>,<TIME>,<OPEN>,<HIGH>,<LOW>,<CLOSE>,<VOL>,<OPENINT>';

const intervals = { D: 'DAY', W: 'WEEK', M: 'MON', 5: '5M', 60: '60M' };

/** The market after the symbol. Symbols of other countries keep theirs. */
const SUFFIX = /\.US$/i;

function databaseMap(sample: Sample): ColumnMapping {
  const tickers = rowsBelow(sample).map(([ticker = '']) => ticker);
  const isUs = tickers.length > 0 && tickers.every((ticker) => SUFFIX.test(ticker));
  const isDaily = rowsBelow(sample).every(([, per = '']) => /^[DWM]$/.test(per));
  return {
    columns: {
      // A row of another market keeps its suffix, and is refused.
      symbol: isUs
        ? strict(
            "case when {<TICKER>} ilike '%.US' then left({<TICKER>}, -3) end",
            'does not end in .US as the others do',
          )
        : '<TICKER>',
      interval: { column: '<PER>', lookup: intervals },
      datetime: isDaily
        ? { column: '<DATE>', format: '%Y%m%d' }
        : { column: '<DATE>', join: '<TIME>', format: '%Y%m%d %H%M%S' },
      ...{ open: '<OPEN>', high: '<HIGH>', low: '<LOW>', close: '<CLOSE>', volume: '<VOL>' },
    },
    values: isUs ? { country_iso_code: 'US' } : {},
    prices: 'all',
    notation: 'stooq',
  };
}

export const stooq: Preset = {
  name: 'stooq',
  says: 'Stooq database files: daily, hourly, 5 minutes (these two need --zone)',
  dataset: 'bars',
  example: [header, 'AAPL.US,D,20200831,000000,123.89,127.22,122.37,125.32,232352840,0'],
  fits: (sample) => (firstCells(sample).join() === header ? 'surely' : 'no'),
  mappingOf: databaseMap,
};

/** The columns of the page's download, followed by the volume where a symbol has one. */
const english = 'Date,Open,High,Low,Close';
const polish = 'Data,Otwarcie,Najwyzszy,Najnizszy,Zamkniecie';
const isPage = (sample: Sample, language: string): boolean => {
  const cells = firstCells(sample).join();
  return cells === language || cells === `${language},${language === english ? 'Volume' : 'Wolumen'}`;
};

/** `aapl_us_d`: the page writes the dot of the symbol as an underscore. */
const PAGE_NAME = /^(\^?[a-z0-9-]+(?:_[a-z](?=_us_))?)(_us)?_([dwm])$/;

export const stooqPage: Preset = {
  name: 'stooq-page',
  says: 'Stooq, the download of one symbol: aapl_us_d.csv',
  dataset: 'bars',
  example: [`${english},Volume`, '2020-08-31,123.89,127.22,122.37,125.32,232352840'],
  fits(sample) {
    if (isPage(sample, polish)) return 'surely';
    if (!isPage(sample, english)) return 'no';
    return PAGE_NAME.test(stemOf(sample)) ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [datetime, open, high, low, close, volume] = firstCells(sample);
    const [, symbol, us, code] = PAGE_NAME.exec(stemOf(sample)) ?? [];
    const interval = code === undefined ? intervalOfDates(sample) : intervals[code.toUpperCase() as 'D'];
    return {
      columns: known({ datetime, open, high, low, close, volume }),
      values: known({ symbol, country_iso_code: us === undefined ? null : 'US', interval }),
      prices: 'all',
      notation: 'stooq',
    };
  },
};
