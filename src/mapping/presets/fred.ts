// FRED (Federal Reserve Bank of St. Louis): the CSV of one series as economic events.
import { unfitProblem } from '../../files/file-problem.ts';
import { reasonColumns } from '../../files/rejected-file.ts';
import type { Sample } from '../../files/sample.ts';
import { type Fit, firstCells, type Preset } from './preset.ts';

/** The columns of a file, also of one of its refused rows. */
const seriesOf = (sample: Sample): string[] =>
  firstCells(sample).filter((name) => !reasonColumns.includes(name));

export const fred: Preset = {
  name: 'fred',
  says: 'FRED, the CSV of one series; its identifier is the code unless --code says another',
  dataset: 'economic-events',
  example: ['observation_date,CPIAUCSL', '2024-07-01,313.566'],
  fits(sample): Fit {
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
    return {
      columns: {
        event_timestamp: {
          sql: `strftime(strptime({${date}}, '%Y-%m-%d'), '%Y-%m-%dT00:00:00Z')`,
          isStrict: true,
          reason: 'must be a date YYYY-MM-DD',
        },
        actual_value: { sql: `nullif({${series}}, '.')` },
      },
      values: { event_code: series, event_name: series },
    };
  },
};
