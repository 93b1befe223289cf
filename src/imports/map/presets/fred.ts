// FRED (Federal Reserve Bank of St. Louis): the CSV of one series as economic events.
import { unfitProblem } from '../../read/file-problem.ts';
import { reasonColumns } from '../../read/inputs.ts';
import { type Sample, stemOf } from '../../read/sample.ts';
import { firstCells, known, type Preset } from './preset.ts';

/** The columns of a file, also of one of its refused rows. */
const seriesOf = (sample: Sample): string[] =>
  firstCells(sample).filter((name) => !reasonColumns.includes(name));

/** FRED's former downloads call the column of any series so; the file has the name of the series. */
const ANY_SERIES = 'VALUE';

/** `CPIAUCSL`, and `CPIAUCSL (1)` as browsers name a second download. */
const NAME = /^(?=.*[A-Z])([A-Z0-9_]+)(?: ?\(\d+\))?$/;
/** Names in capitals that name no series. */
const GENERIC = /^(DATA|DATE|DOWNLOAD|EXPORT|FILE|FRED|FREDGRAPH|OBSERVATIONS?|SERIES|TABLE|VALUES?)$/;

/** The identifier of a file's series: of its column, else of its name; null where neither names it. */
function identifierOf(sample: Sample, column: string): string | null {
  if (column !== ANY_SERIES) return column;
  const name = NAME.exec(stemOf(sample))?.[1];
  return name === undefined || GENERIC.test(name) ? null : name;
}

export const fred: Preset = {
  name: 'fred',
  says: 'FRED, the CSV of one series; its identifier is the code unless --code says another',
  dataset: 'economic-events',
  example: ['observation_date,CPIAUCSL', '2024-07-01,313.566'],
  fits(sample) {
    const [date = '', series = '', ...more] = seriesOf(sample);
    if (!/^(observation_date|DATE)$/.test(date) || !/^[A-Z0-9_]+$/.test(series)) return 'no';
    return more.length === 0 ? 'surely' : 'perhaps';
  },
  mappingOf(sample) {
    const [date = '', series = '', ...more] = seriesOf(sample);
    if (more.length > 0)
      throw unfitProblem(
        sample.name,
        `has several series, ${[series, ...more].join(', ')}. Download them one by one`,
      );
    const identifier = identifierOf(sample, series);
    return {
      columns: {
        event_timestamp: {
          sql: `strftime(strptime({${date}}, '%Y-%m-%d'), '%Y-%m-%dT00:00:00Z')`,
          isStrict: true,
          reason: 'must be a date YYYY-MM-DD',
        },
        actual_value: { sql: `nullif({${series}}, '.')` },
      },
      values: known({ event_code: identifier, event_name: identifier ?? series }),
      hint: 'The header does not name the series: name the file by it, such as CPIAUCSL.csv, or give --code CPIAUCSL.',
    };
  },
};
