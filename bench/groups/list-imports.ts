// Imports of lists through the importer, each into a new store, beside as many bars: without the start-up of
// the process.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { formatDay } from '../../src/base/instant.ts';
import { group } from '../group.ts';
import { FIRST_DAY } from '../lists/store.ts';
import { random, symbolOf } from '../minutes.ts';
import { interleave, type Subjects } from '../rounds.ts';
import type { Setting } from '../setting.ts';
import { importStartUpMs, withoutStartUp } from '../start-up.ts';
import { median, medianRatio } from '../statistics.ts';

const MEGABYTE = 2 ** 20;
const next = random(41);
const dayAt = (offset: number): string => formatDay(FIRST_DAY + offset);
const paragraph = 'The company said on Thursday what it had done in the quarter. '.repeat(4);

/** The header of each dataset's file, and its row of a number: every key differs. */
export const files = {
  news: {
    header: 'published_date,title,publisher_url,asset_name,country_iso_code,symbol,text_content',
    rowOf: (at: number) =>
      [
        `${dayAt(Math.floor(next() * 4_000))}T12:00:00Z,Headline ${at},https://news.example.com/${at}`,
        `stock,US,${symbolOf(at % 3_000)},${paragraph}`,
      ].join(),
  },
  'corporate-actions': {
    header: 'country_iso_code,symbol,action_type,ex_date,cash_amount,currency,declaration_date,pay_date',
    rowOf: (at: number) => {
      const day = (at % 100) * 90;
      const stock = `US,${symbolOf(Math.floor(at / 100))}`;
      return `${stock},dividend,${dayAt(day + 30)},0.25,USD,${dayAt(day)},${dayAt(day + 45)}`;
    },
  },
  'option-contracts': {
    header:
      'symbol,country_iso_code,parent_asset_schema,underlying_name,strike_price,expiration_date,option_type',
    rowOf: (at: number) => {
      const [of, strike] = [symbolOf(Math.floor(at / 2_000)), 50 + (at % 2_000)];
      return `${of}300118C${String(strike * 1000).padStart(8, '0')},US,stock,${of},${strike},2030-01-18,call`;
    },
  },
} as const;

type Name = keyof typeof files;
type Round = { readonly ms: number; readonly peakBytes: number };
type Measured = { readonly rows: number; readonly rounds: Readonly<Record<Name | 'bars', readonly Round[]>> };

const names = Object.keys(files) as Name[];
const times = (rounds: readonly Round[]): number[] => rounds.map(({ ms }) => ms);

async function importOf({ workshop }: Setting, args: readonly string[], rows: number, startUpMs: number) {
  const store = workshop.freshStore('list');
  const { wallMs, peakBytes, stdout } = await store.bourse('import', ...args);
  store.remove();
  assert.match(stdout, new RegExp(`${rows.toLocaleString('en-US')} new`));
  return { ms: withoutStartUp(wallMs, startUpMs), peakBytes };
}

async function measure(setting: Setting): Promise<Measured> {
  const { workshop, scale } = setting;
  const rows = Math.ceil(scale.rows / 10);
  const startUpMs = await importStartUpMs(setting);
  const minutes = workshop.minutes({ order: 'symbol', symbols: 100, rows });
  const ofBars = ['bars', minutes, '--schema', 'stock', '--country', 'US', '--interval', '1M'];
  const importOfFile = (name: Name): (() => Promise<Round>) => {
    const { header, rowOf } = files[name];
    const path = `${workshop.folder}/${name}.csv`;
    writeFileSync(path, [header, ...Array.from({ length: rows }, (_, at) => rowOf(at)), ''].join('\n'));
    return () => importOf(setting, [name, path], rows, startUpMs);
  };
  const subjects: Subjects<Name | 'bars', Round> = {
    bars: () => importOf(setting, ofBars, rows, startUpMs),
    news: importOfFile('news'),
    'corporate-actions': importOfFile('corporate-actions'),
    'option-contracts': importOfFile('option-contracts'),
  };
  const told = ({ ms, peakBytes }: Round) => `${ms.toFixed(0)} ms, ${(peakBytes / MEGABYTE).toFixed(0)} MB`;
  return { rows, rounds: await interleave('lists imported', scale.importRounds, subjects, told) };
}

/** The lines of lists that are imported. */
export const listImports = group<Measured>(
  'import of lists',
  'none',
  names.flatMap((name) => [
    {
      name,
      unit: 'rows/s',
      comparedWith: 'as many bars from CSV',
      target: { atLeast: 0.05 },
      measure: ({ rows, rounds }: Measured) => ({
        measured: (rows / median(times(rounds[name]))) * 1000,
        ratio: medianRatio(times(rounds.bars), times(rounds[name])),
      }),
    },
    {
      name: `${name}, peak memory`,
      unit: 'MB',
      target: { atMost: 400 },
      measure: ({ rounds }: Measured) => ({
        measured: Math.max(...rounds[name].map(({ peakBytes }) => peakBytes)) / MEGABYTE,
      }),
    },
  ]),
  measure,
);
