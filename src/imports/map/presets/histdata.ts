// HistData.com, Generic ASCII, bars of a minute: no header, Eastern Standard Time the whole year.
import { linesOf, stemOf } from '../../read/sample.ts';
import { forex, isMended, known, type Preset } from './preset.ts';

const columns = ['datetime', 'open', 'high', 'low', 'close', 'volume'];
const ROW = /^\d{8} \d{4}00;(?:\d+(?:\.\d*)?;){4}\d+$/;

/** `DAT_ASCII_EURUSD_M1_201202`. */
const NAME = /^DAT_ASCII_([A-Z]{6})_M1_\d{4,6}$/;

export const histdata: Preset = {
  name: 'histdata',
  says: 'HistData.com Generic ASCII, bars of a minute; their clock is EST the whole year',
  dataset: 'bars',
  example: ['20120201 000000;1.306600;1.306600;1.306560;1.306560;0'],
  fits: (sample) => (ROW.test(linesOf(sample)[0] ?? '') || isMended(sample, columns) ? 'surely' : 'no'),
  mappingOf: (sample) => ({
    header: columns,
    delimiter: ';',
    columns: { datetime: { column: 'datetime', format: '%Y%m%d %H%M%S' } },
    values: known({ ...forex, interval: '1M', symbol: NAME.exec(stemOf(sample))?.[1] }),
    zone: 'Etc/GMT+5',
    prices: 'raw',
  }),
};
