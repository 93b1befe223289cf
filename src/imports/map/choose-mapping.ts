// Chooses the column mapping of a file: from --map, from --preset, from the preset that surely fits, or none.
// A mapping file (--map) is JSON with a file's layout and column mapping; messages name the line of a
// mistake.
import { readFileSync } from 'node:fs';
import { nearest } from '../../base/words.ts';
import { barLabels, priceBases, symbolTimes, volumeBases } from '../../contract/file-words.ts';
import { findZone } from '../../market/calendar/zone.ts';
import { barFields } from '../../store/schema/bars.ts';
import { fileDatasetNamed } from '../../store/schema/index.ts';
import { type FileProblem, unfitProblem, usageProblem } from '../read/file-problem.ts';
import type { ReadFirst } from '../read/format.ts';
import { lineOf as csvLine, type Encoding, encodingNamed, encodings, type Sample } from '../read/sample.ts';
import { foundLayout } from './beginning.ts';
import { type Cell, epochMicros, groupedNumbers, inputsOf } from './cell.ts';
import type { Told } from './cell-forms.ts';
import {
  type ChooseMapping,
  type ColumnMapping,
  type FieldNames,
  namesOf,
  noMapping,
} from './column-mapping.ts';
import { foundColumns } from './guess-mapping.ts';
import { presets } from './presets/index.ts';
import { hasNoLines, type Preset } from './presets/preset.ts';

/** Switches the presets off. */
const NONE = 'none';

/** For a mapping that is to be written: a file that no preset reads gets the one that its rows show. */
export function guessedMapping(dataset: string, fields: FieldNames, told: Told): ChooseMapping {
  checkTold(told);
  return (sample) => {
    const preset = sureOf(sample).find((one) => one.dataset === dataset);
    if (preset === undefined) return found(sample, dataset, fields, told, { isAsked: true });
    const mapping = preset.mappingOf(sample);
    if (canBeWritten(mapping)) return mapping;
    throw needsNoMap(sample, preset.name);
  };
}

/** The presets that know a file surely. */
const sureOf = (sample: Sample): Preset[] => presets.filter(({ fits }) => fits(sample) === 'surely');

/** The layout and the columns of a file that nobody described, or whose preset `asked` is named. */
function found(
  sample: Sample,
  dataset: string,
  fields: FieldNames,
  told: Told,
  how: Parameters<typeof foundLayout>[3] & { readonly asked?: Preset | undefined },
) {
  const shown = hasNoLines(sample) ? {} : foundLayout(sample, fields, told, how);
  const layout = { ...shown, ...encodingOf(told.encoding) };
  const undescribed = { sample, fields, told: { ...told, ...layout }, isAsked: how.isAsked };
  const atHeader: ColumnMapping['atHeader'] = async (header, nested, read) => {
    const table = read && (await tableOf(dataset, how.asked, sample.name, header, read));
    if (table === null && how.asked !== undefined) throw notOf(how.asked, sample);
    const own = await foundColumns(undescribed, header, nested, read);
    if (table === null) return own;
    if (how.isAsked) throw needsNoMap(sample, table.preset!);
    const cellOf = ([field, name]: [string, Cell]) => [field, own.cellOf!(field, name as string)];
    return { ...table, columns: Object.fromEntries(Object.entries(table.columns).map(cellOf)) };
  };
  return { ...noMapping, ...layout, atHeader };
}

/**
 * The mapping of a preset that is a table of names, by the columns and first rows of JSON, Parquet or Arrow:
 * its CSV would have the same header. The reader says what kinds of cells they are.
 */
async function tableOf(
  dataset: string,
  asked: Preset | undefined,
  name: string,
  header: readonly string[],
  read: ReadFirst,
) {
  const sampleOf = (rows: readonly (readonly string[])[]): Sample => {
    return { name, isCut: false, text: [header, ...rows].map(csvLine).join('') };
  };
  const preset = asked ?? sureOf(sampleOf([])).find((one) => one.dataset === dataset);
  if (preset === undefined || preset.fits(sampleOf([])) === 'no') return null;
  const first = await read([]);
  const columns = header.map((column) => first.get(column)?.cells ?? []);
  const mapping = by(preset, sampleOf(columns[0]!.map((_, row) => columns.map((cells) => cells[row] ?? ''))));
  const isTable = Object.values(mapping.columns).every((cell) => typeof cell === 'string');
  return isTable && mapping.convert === undefined ? mapping : null;
}

const needsNoMap = ({ name }: Sample, preset: string): FileProblem =>
  unfitProblem(name, `is read by the preset ${preset}: it needs no mapping file`);

/** True if a mapping file can say all of a preset's mapping. */
const canBeWritten = ({ columns, ...parts }: ColumnMapping): boolean =>
  Object.keys(parts).every((part) => Object.hasOwn(partRules, part)) &&
  Object.values(columns).every((cell) => typeof cell === 'string' || !('sql' in cell));

/** @throws FileProblem where a flag says what no file can have */
function checkTold({ delimiter, encoding, dateFormat }: Told): void {
  for (const [flag, value, rule] of [
    ['delimiter', delimiter, partRules.delimiter!],
    ['encoding', encoding, partRules.encoding!],
    ['date-format', dateFormat, cellRules.format!],
  ] as const) {
    const reason = value === undefined ? null : rule(value);
    if (reason !== null) throw usageProblem(`--${flag} ${value}: ${reason}`);
  }
}

/** The encoding of a name. */
const encodingOf = (name: string | undefined): { readonly encoding?: Encoding } =>
  name === undefined ? {} : { encoding: encodingNamed(name)! };

/**
 * The column mapping for the files of one call. @throws FileProblem where the mapping file or preset does not
 * exist
 */
export function chooseMapping(
  dataset: string,
  preset: string | undefined,
  mapPath: string | undefined,
  told: Told = {},
): ChooseMapping {
  const { delimiter, encoding } = told;
  const fields = namesOf(fileDatasetNamed(dataset)?.file.fields ?? barFields);
  const find: Find = (sample, more) => found(sample, dataset, fields, told, { isAsked: false, ...more });
  if (mapPath !== undefined && preset !== undefined && preset !== NONE)
    throw usageProblem('--map and --preset both name the columns. Give only one of them');
  const mapped = mapPath === undefined ? null : withPaths(readMappingFile(mapPath));
  const own = mapped ?? (preset === NONE ? noMapping : null);
  const named = preset === undefined || own !== null ? null : presetNamed(dataset, preset);
  checkTold(told);
  const isTold = told.dateFormat !== undefined || told.decimal !== undefined;
  const said = { ...(delimiter !== undefined && { delimiter }), ...encodingOf(encoding) };
  return (sample) => {
    const mapping = own ?? (named === null ? detected(dataset, sample, find) : askedFor(named, sample, find));
    if (isTold && mapping.preset !== undefined)
      throw unfitProblem(
        sample.name,
        `is read by the preset ${mapping.preset}: leave --date-format and --decimal out`,
      );
    return { ...mapping, ...said };
  };
}

/** Finds the columns of a file that nobody described by their names. */
type Find = (sample: Sample, more: { hint?: string | undefined; asked?: Preset }) => ColumnMapping;

function presetNamed(dataset: string, name: string): Preset {
  const named = presets.find((preset) => preset.name === name);
  if (named === undefined) {
    const names = presets.map((preset) => preset.name);
    const near = nearest(name, names);
    const hint = near === undefined ? '' : `; is it ${near}?`;
    throw usageProblem(`there is no preset ${name}: use one of ${names.join(', ')}, ${NONE}${hint}`);
  }
  if (named.dataset === dataset) return named;
  throw usageProblem(`the preset ${name} reads ${named.dataset}. Use bourse import ${named.dataset}`);
}

/** A mapping with its columns, which may be nested values of JSON. */
const withPaths = (mapping: ColumnMapping): ColumnMapping => ({
  ...mapping,
  paths: Object.values(mapping.columns).flatMap(inputsOf),
});

const by = (preset: Preset, sample: Sample): ColumnMapping => ({
  ...withPaths(preset.mappingOf(sample)),
  preset: preset.name,
  ...(preset.isOpenEnded && { isOpenEnded: true }),
});

const hintOf = ({ name, dataset }: Preset, wanted: string): string =>
  dataset === wanted ? `add --preset ${name}` : `use bourse import ${dataset}`;

function askedFor(preset: Preset, sample: Sample, find: Find): ColumnMapping {
  if (preset.fits(sample) !== 'no') return by(preset, sample);
  // The columns of other files than plain texts are not known yet.
  if (hasNoLines(sample)) return find(sample, { asked: preset });
  throw notOf(preset, sample);
}

function notOf(preset: Preset, sample: Sample): FileProblem {
  const [other] = sureOf(sample);
  const cure =
    other === undefined
      ? `its files begin: ${preset.example[0]}`
      : `it is a file of the preset ${other.name}: ${hintOf(other, preset.dataset)}`;
  return unfitProblem(sample.name, `is not a file of the preset ${preset.name}; ${cure}`);
}

function detected(dataset: string, sample: Sample, find: Find): ColumnMapping {
  const sure = sureOf(sample);
  const preset = sure.find((one) => one.dataset === dataset);
  if (preset !== undefined) return by(preset, sample);
  const near = sure[0] ?? presets.find((one) => one.dataset === dataset && one.fits(sample) === 'perhaps');
  const hint = near && `It may be a file of the preset ${near.name}: ${hintOf(near, dataset)}.`;
  return {
    ...noMapping,
    ...(sure.length === 0 && find(sample, { hint })),
    ...(hint !== undefined && { hint }),
  };
}

/** The rule of a part of a mapping file, or of a key of a cell: why a value breaks it, or null. */
type Rule = (value: unknown) => string | null;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Rule = (value) => (isText(value) ? null : 'must be text');
const oneOf =
  (...words: readonly string[]): Rule =>
  (value) =>
    words.includes(value as string) ? null : `must be ${words.map((word) => `"${word}"`).join(', ')}`;

function pattern(value: unknown): string | null {
  if (!isText(value)) return 'must be a regular expression as text';
  if (/\(\?[=!<]|\\[1-9]/.test(value))
    return 'uses lookahead, lookbehind or a backreference, which are not supported';
  try {
    new RegExp(value);
    return null;
  } catch {
    return 'is not a regular expression';
  }
}

/** What a date format may have; the name of a zone at its end alone. */
const FORM = /%-[dHIjmMSy]|%[aAbBcdfgGhHIjmMnpSuUVwWxXyYz%]|%Z$/g;

/** Keys of a cell that is more than a column's name. */
const cellRules: Readonly<Record<string, Rule>> = {
  // A column may have no name.
  column: (value) => (typeof value === 'string' ? null : 'must be text'),
  join: (value) =>
    isText(value) || (Array.isArray(value) && value.length > 0 && value.length <= 4 && value.every(isText))
      ? null
      : 'must be a column, or a list of up to four',
  fill: oneOf('down'),
  split: text,
  remove: pattern,
  lookup: (value) =>
    isObject(value) && Object.values(value).every((to) => typeof to === 'string')
      ? null
      : 'must be an object whose values are texts',
  thousands: oneOf(...Object.keys(groupedNumbers)),
  decimal: oneOf(','),
  blanks: oneOf('_', '-', '.'),
  value: text,
  default: text,
  odd: oneOf('missing'),
  scale: (value) =>
    value === 'suffix' || value === 'percent' || (Number.isFinite(value) && value !== 0)
      ? null
      : 'must be a number, not 0, or "suffix" or "percent"',
  format: (value) => {
    if (!isText(value) || !value.includes('%')) return 'must be a date format, such as "%d.%m.%Y %H:%M:%S"';
    const [wrong] = value.replaceAll(FORM, '').match(/%-?./) ?? [];
    if (wrong !== undefined) return `has ${wrong}, which is not part of a date format`;
    return /%[YyGgcx]/.test(value) ? null : 'has no year, such as %Y or %y';
  },
  epoch: oneOf(...Object.keys(epochMicros)),
  offset: (value) =>
    isText(value) && /^(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(value)
      ? null
      : 'must be an offset from UTC, such as "-05:00", or "Z"',
};

const names: Rule = (value) => (isObject(value) ? null : 'must be an object of names');

/** Parts of a mapping file. */
const partRules: Readonly<Record<string, Rule>> = {
  columns: names,
  values: names,
  header: (value) =>
    Array.isArray(value) && value.length > 0 && value.every(isText) ? null : 'must be a list of names',
  encoding: (value) =>
    isText(value) && encodingNamed(value) !== null ? null : `must be ${encodings.join(', ')}, or their names`,
  delimiter: (value) => (isText(value) && /^[^"\r\n]$/.test(value) ? null : 'must be one character'),
  skip: (value) =>
    Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000
      ? null
      : 'must be a number of lines',
  zone: (value) =>
    isText(value) && findZone(value) !== null ? null : 'is not a time zone, such as "America/New_York"',
  prices: oneOf(...priceBases),
  volumes: oneOf(...volumeBases),
  symbols: oneOf(...symbolTimes),
  label: oneOf(...barLabels),
};

/** Makes the message for a place in the mapping file. */
type Problem = (keys: readonly string[], reason: string) => FileProblem;

/** Reads a mapping file. @throws FileProblem that names the wrong line */
export function readMappingFile(path: string): ColumnMapping {
  const content = contentOf(path);
  const locate = (...keys: readonly string[]): string =>
    `--map ${path}${keys.length === 0 ? '' : `, line ${lineOf(content, keys)}`}: `;
  const parsed = parse(content, locate());
  const problem: Problem = (keys, reason) =>
    usageProblem(`${locate(...keys)}${keys.map((key) => `"${key}"`).join(': ')} ${reason}`);
  for (const [part, value] of Object.entries(parsed)) {
    if (!Object.hasOwn(partRules, part))
      throw usageProblem(
        `${locate(part)}a mapping file has no "${part}"; it may have ${Object.keys(partRules).join(', ')}`,
      );
    const reason = partRules[part]!(value);
    if (reason !== null) throw problem([part], reason);
  }
  const encoding = encodingOf(parsed.encoding as string | undefined);
  const mapping = { columns: {}, values: {}, ...parsed, ...encoding, locate } as ColumnMapping;
  for (const [field, value] of Object.entries(mapping.values))
    if (typeof value !== 'string') throw problem(['values', field], 'must be text');
  for (const [field, cell] of Object.entries(mapping.columns)) checkCell(field, cell, problem);
  const cells = Object.entries(mapping.columns).flatMap(([field, cell]) =>
    typeof cell === 'object' && 'column' in cell && cell.split !== undefined ? [[field, cell] as const] : [],
  );
  const [first, ...more] = cells;
  const other = more.find(
    ([, { column, split }]) => column !== first![1].column || split !== first![1].split,
  );
  if (other !== undefined)
    throw problem(['columns', other[0], 'split'], `is not of the same column as that of "${first![0]}"`);
  return mapping;
}

/** Conversions of a text that a fixed value would replace. */
const afterValue = ['lookup', 'thousands', 'decimal', 'scale', 'format', 'epoch', 'offset'];

function checkCell(field: string, cell: unknown, problem: Problem): void {
  if (typeof cell === 'string') return;
  const at = ['columns', field];
  if (!isObject(cell)) throw problem(at, 'must be text, the name of a column, or an object with "column"');
  for (const [key, value] of Object.entries(cell)) {
    if (!Object.hasOwn(cellRules, key)) {
      const near = nearest(key, Object.keys(cellRules));
      const hint = near === undefined ? '' : `; is it "${near}"?`;
      throw problem([...at, key], `is not one of ${Object.keys(cellRules).join(', ')}${hint}`);
    }
    const reason = cellRules[key]!(value);
    if (reason !== null) throw problem([...at, key], reason);
  }
  if (cell.column === undefined) throw problem(at, 'has no "column"');
  const unused = afterValue.find((key) => cell.value !== undefined && cell[key] !== undefined);
  if (unused !== undefined)
    throw problem([...at, unused], 'cannot be combined with "value", which is the text of every cell');
  const kinds = ['scale', 'epoch', 'format'].filter((key) => cell[key] !== undefined);
  if (cell.split !== undefined && cell.join !== undefined)
    throw problem([...at, 'split'], 'cannot be combined with "join"');
  if (kinds.length > 1) throw problem([...at, kinds[1]!], `cannot be combined with "${kinds[0]}"`);
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usageProblem(`--map ${path}: cannot be read (${code})`, error);
  }
}

function parse(content: string, place: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(content.replace(/^\ufeff/, ''));
    if (isObject(parsed)) return parsed;
  } catch (error) {
    const reason = (error as Error).message.replaceAll(/\s+/g, ' ');
    throw usageProblem(`${place}is not JSON: ${reason}`, error);
  }
  throw usageProblem(`${place}is not a JSON object`);
}

/** The line of a key; each key is searched for after the one before it. */
function lineOf(content: string, keys: readonly string[]): number {
  let at = 0;
  for (const key of keys) {
    const found = content.slice(at).search(new RegExp(`${RegExp.escape(JSON.stringify(key))}\\s*:`));
    if (found >= 0) at += found + 1;
  }
  return content.slice(0, at).split('\n').length;
}
