// Yahoo Finance historical prices: the former download of its page, which many tools still write.
import { type Sample, stemOf } from '../../read/sample.ts';
import { begins, intervalOfDates, known, type Preset } from './preset.ts';

const header = 'Date,Open,High,Low,Close,Adj Close,Volume';

/** A file named by its symbol as Yahoo writes it: `AAPL`, `BRK-B`, `^GSPC`, `VOD.L`, `EURUSD=X`. */
const SYMBOL = /^\^?[A-Z0-9]{1,10}(?:[.\-=][A-Z0-9]{1,4})?$/;

function symbolNamed(sample: Sample): string | null {
  const stem = stemOf(sample);
  return SYMBOL.test(stem) && !/^\d{4}-|^(DATA|PRICES|TABLE|HISTORY)$/.test(stem) ? stem : null;
}

export const yahoo: Preset = {
  name: 'yahoo',
  says: 'Yahoo Finance historical prices: days, weeks, months',
  dataset: 'bars',
  isOpenEnded: true,
  example: [header, '2020-08-31,127.580002,131.000000,126.000000,129.039993,126.750000,225702700'],
  fits: begins(header),
  mappingOf: (sample) => ({
    columns: { datetime: 'Date', open: 'Open', high: 'High', low: 'Low', close: 'Close', volume: 'Volume' },
    values: known({ symbol: symbolNamed(sample), interval: intervalOfDates(sample) }),
    prices: 'split',
    symbols: 'now',
    notation: 'yahoo',
  }),
};
