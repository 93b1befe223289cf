// Which column of a file, or which flag, gives which field of a dataset: native names, flags, or a column
// mapping (contract 11).
import { nearest } from '../../base/words.ts';
import type { BarLabel, PriceBasis, SymbolTime, VolumeBasis } from '../../contract/file-words.ts';
import type { Field, FieldRule, Fields } from '../../store/schema/dataset.ts';
import type { Notation } from '../../store/schema/notations.ts';
import { contentProblem, type FileProblem, unfitProblem, usageProblem } from '../read/file-problem.ts';
import type { ChooseLayout, Layout } from '../read/format.ts';
import { type ComputedColumn, UNMADE } from '../read/scan.ts';
import type { SourceFile } from '../read/source.ts';
import { type Cell, derive, inputsOf } from './cell.ts';
import { isOtherNumber } from './cell-forms.ts';
import fieldNames from './field-names.json' with { type: 'json' };

/** The layout of a file and the sources of its fields: a mapping file, or what a preset says of a file. */
export type ColumnMapping = Layout & {
  /** Dataset field -> column of the file, or how it is computed from columns. */
  readonly columns: Readonly<Record<string, Cell>>;
  /** Fields that are the same in every row. */
  readonly values: Readonly<Record<string, string>>;
  /** The zone of times without an offset, unless a flag names one. */
  readonly zone?: string;
  /** How prices are adjusted already, unless a flag says it. */
  readonly prices?: PriceBasis;
  /** How volumes are adjusted already, where otherwise than prices, unless a flag says it. */
  readonly volumes?: VolumeBasis;
  /** Which symbols its instruments have, unless a flag says it. */
  readonly symbols?: SymbolTime;
  /** The notation of its US stocks, if it is not ours (contract 9.21). */
  readonly notation?: Notation;
  /** True if it names stocks by the roots of their options, which have no separators (contract 9.21). */
  readonly namesRoots?: true;
  /** The end of a bar that its datetime names, unless a flag says it. */
  readonly label?: BarLabel;
  /** Whether such files have no line end after the last row. */
  readonly isOpenEnded?: boolean;
  /** Columns that a preset's conversion reads or adds itself. */
  readonly ownColumns?: readonly string[];
  /** True if the columns were found by their names: nobody named them. */
  readonly isFound?: true;
  /** How a field is made of a column that may be it, as far as the file shows that: for messages. */
  readonly cellOf?: (field: string, column: string) => Cell;
  /** Optional fields that several columns may be, none of which is read, and a map that reads one. */
  readonly alike?: { readonly fields: ReadonlyMap<string, readonly string[]> } & Pick<
    ColumnMapping,
    'columns'
  >;
  /** Added to the message where a required field is missing. */
  readonly hint?: string;
  /** The place in the mapping file of a part, field and key, for messages. */
  readonly locate?: (...keys: readonly string[]) => string;
};

export const noMapping: ColumnMapping = { columns: {}, values: {} };

/** A file that can be read, and its column mapping. */
export type MappedFile = SourceFile<ColumnMapping>;

/**
 * Chooses the column mapping of a file by its name and beginning. @throws FileProblem where the file is not
 * what the caller said
 */
export type ChooseMapping = ChooseLayout<ColumnMapping>;

/** For files whose columns have the names of fields. */
export const ownNames: ChooseMapping = () => noMapping;

/** The fields of a dataset. `flags` has the flag of each field that a flag can give. */
export type FieldNames = {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  /**
   * The required ones, and those that rows of one kind need: read from columns of their own names beside a
   * mapping too.
   */
  readonly needed: readonly string[];
  readonly flags: Readonly<Record<string, string>>;
  /** The fields that are numbers: they all have the same decimal mark. */
  readonly numbers: readonly string[];
  /** The optional fields of which an odd cell is left out, not its row, in a file that nobody described. */
  readonly oddIsMissing: readonly string[];
  readonly rules: Readonly<Record<string, Fields[string]['rule']>>;
};

const isMarked = ({ rule }: Field, mark: 'isNumber' | 'oddIsMissing'): boolean =>
  !('unit' in rule) && rule[mark] === true;

/** The fields of a dataset by what a file needs to have of them, in their order. */
export function namesOf(fields: Fields): FieldNames {
  const names = Object.keys(fields);
  return {
    required: names.filter((name) => fields[name]!.isRequired),
    optional: names.filter((name) => !fields[name]!.isRequired),
    needed: names.filter((name) => fields[name]!.isRequired || fields[name]!.isOfOneKind),
    flags: Object.fromEntries(
      names.flatMap((name) => (fields[name]!.flag === undefined ? [] : [[name, fields[name]!.flag]])),
    ),
    numbers: names.filter((name) => isMarked(fields[name]!, 'isNumber')),
    oddIsMissing: names.filter(
      (name) => !fields[name]!.isRequired && isMarked(fields[name]!, 'oddIsMissing'),
    ),
    rules: Object.fromEntries(names.map((name) => [name, fields[name]!.rule])),
  };
}

/** The rule by which odd cells of a column are left out. */
type LeftOut = {
  /** The words for them in a report. */
  readonly finding: string;
  /** True if the cell is left out; otherwise its row is refused. */
  readonly takes: (text: string) => boolean;
};

/** A number that is not finite. */
const ENDLESS = /^\s*[-+]?inf(inity)?\s*$/i;

/** The source of each field, and the columns that are unused. */
export type FieldSources = {
  readonly columns: ReadonlyMap<string, string>;
  readonly values: ReadonlyMap<string, string>;
  readonly ignored: readonly string[];
  /** Columns of optional fields that a mapping names and no object of a JSON file has. */
  readonly lacking: readonly string[];
  /** Field -> its columns and how they are converted, in words, where they are. */
  readonly conversions: Readonly<Record<string, string>>;
  /** Columns that are computed from those of the file. */
  readonly derived: readonly ComputedColumn[];
  /** The columns of which an odd cell is left out, not its row, and what is then said of it. */
  readonly leftOut: ReadonlyMap<string, LeftOut>;
};

/**
 * Refuses a value for the whole file that no row could have, for the reason that `reasonOf` gives. What a
 * preset found in a file's name or rows concerns that file alone; a flag and a mapping file are wrong for
 * every file.
 */
export function checkValues(
  { file, flags }: { readonly file: MappedFile; readonly flags: ReadonlyMap<string, string> },
  { values }: FieldSources,
  fields: Fields,
  reasonOf: (field: string, value: string) => string | undefined,
): void {
  for (const [field, value] of values) {
    const reason = reasonOf(field, value);
    if (reason === undefined) continue;
    const { flag } = fields[field]!;
    if (file.mapping.preset === undefined || flags.has(field))
      throw usageProblem(`${flag ?? field} ${value}: ${reason}`);
    const cure = flag === undefined ? '' : `: give it as a flag: ${flag}`;
    throw unfitProblem(file.name, `its ${field} ${value} ${reason}${cure}`);
  }
}

/** The columns of the file whose cells a refusal of a column shows; it names the first. */
export const reportedColumns = ({ derived }: FieldSources, column: string): readonly string[] =>
  derived.find(({ name }) => name === column)?.reported ?? [column];

/**
 * Finds every field's source; flags win over the mapping's values, and those win over columns. Beside a
 * mapping of columns an optional field is not read from a column that only happens to have its name: there
 * the word may mean something else.
 * @throws FileProblem that names each required field without a source, and what would give it.
 */
export function findSources(
  file: string,
  header: readonly string[],
  fields: FieldNames,
  mapping: ColumnMapping,
  flags: ReadonlyMap<string, string>,
): FieldSources {
  const about = { file, header, fields, mapping };
  const known = [...fields.required, ...fields.optional];
  const lacking = checkMapping(about, known);
  const hasComma = Object.values(mapping.columns).some(
    (cell) => typeof cell !== 'string' && 'decimal' in cell,
  );
  const columns = new Map<string, string>();
  const derived: ComputedColumn[] = [];
  const leftOut = new Map<string, LeftOut>();
  const conversions: Record<string, string> = {};
  const values = new Map([...Object.entries(mapping.values), ...flags]);
  const hasOwnNames = Object.keys(mapping.columns).length === 0;
  for (const field of known) {
    const isNamed = Object.hasOwn(mapping.columns, field);
    if (!isNamed && !hasOwnNames && !fields.needed.includes(field) && !mapping.header?.includes(field))
      continue;
    let cell = isNamed ? mapping.columns[field]! : field;
    // A cell of objects may lack some of its columns.
    if (values.has(field) || !inputsOf(cell).some((column) => header.includes(column))) continue;
    if (typeof cell === 'string' && hasComma && fields.numbers.includes(field))
      cell = { column: cell, decimal: ',' };
    if (typeof cell !== 'string') {
      derived.push(derive(field, cell));
      conversions[field] = conversionOf(cell);
    }
    const rule = fields.rules[field] as FieldRule;
    const odd = rule.isNumber ? 'is not a number' : rule.reason;
    const { name, reported, reason } =
      typeof cell === 'string' ? { name: cell, reported: [cell], reason: odd } : derived.at(-1)!;
    columns.set(field, name);
    if (mayBeLeftOut(field, cell, about)) {
      const isNumber = mapping.cellOf !== undefined && fields.numbers.includes(field);
      leftOut.set(name, {
        finding: `stored without ${reported[0]} that ${reason}`,
        takes: (text) => {
          const bare = text.replace(UNMADE, '');
          return !ENDLESS.test(bare) && !(isNumber && isOtherNumber(bare));
        },
      });
    }
  }
  const oddSymbols = derived.some(({ fill }) => fill !== undefined)
    ? '"fill" finds no row of the same symbol above another'
    : values.has('symbol')
      ? `not all can have the symbol ${values.get('symbol')}; leave it out`
      : !known.includes('symbol') &&
        'its rows have none. Write them into one list, with a column for its keys';
  if (mapping.isOfSymbols && oddSymbols)
    throw unfitProblem(file, `has its symbols side by side: ${oddSymbols}`);
  const used = new Set([...columns.values(), ...derived.flatMap(({ inputs }) => inputs)]);
  const missing = fields.required.filter((field) => !columns.has(field) && !values.has(field));
  if (missing.length > 0) throw missingProblem(about, missing, used);
  // A conversion writes fields that values give too.
  const own = mapping.convert === undefined ? [] : [...values.keys(), ...(mapping.ownColumns ?? [])];
  const { unread = [], paths = [] } = mapping;
  // An object of which values are read is not ignored, but the keys beside them are.
  const isOpened = (column: string): boolean =>
    mapping.unread !== undefined && paths.some((path) => path.startsWith(`${column}.`));
  const ignored = header.filter((column) => !used.has(column) && !own.includes(column) && !isOpened(column));
  return { columns, values, derived, leftOut, conversions, lacking, ignored: [...ignored, ...unread] };
}

/** True if an odd cell of a field is left out: by its mapping, or where nobody described the file. */
const mayBeLeftOut = (field: string, cell: Cell, { mapping, fields }: About): boolean =>
  (typeof cell !== 'string' && cell.odd !== undefined) ||
  (mapping.cellOf !== undefined && fields.oddIsMissing.includes(field));

/** Characters of a conversion that are shown: a lookup may have thousands of texts. */
const SHOWN_CHARACTERS = 120;

/** Columns and the conversions of their cells: `Datum, join "Zeit", format "%d.%m.%Y %H:%M"`. */
function conversionOf(cell: Exclude<Cell, string>): string {
  if ('sql' in cell) return `made of ${inputsOf(cell).join(', ')}`;
  const { column, ...steps } = cell;
  const words = Object.entries(steps).map(([key, value]) =>
    `${key} ${JSON.stringify(value)}`.slice(0, SHOWN_CHARACTERS),
  );
  return [column, ...words].join(', ');
}

/** A file with the fields that are wanted of it. */
type About = {
  readonly file: string;
  readonly header: readonly string[];
  readonly fields: FieldNames;
  readonly mapping: ColumnMapping;
};

/**
 * The columns of optional fields that no object of a JSON file has. @throws FileProblem where a field is
 * unknown, or a column must be there or is misspelt
 */
function checkMapping({ file, header, fields, mapping }: About, known: readonly string[]): string[] {
  const locate = mapping.locate ?? (() => '');
  for (const part of ['columns', 'values'] as const) {
    const field = Object.keys(mapping[part]).find((name) => !known.includes(name));
    if (field === undefined) continue;
    throw usageProblem(
      `${locate(part, field)}the column mapping names a field ${field} that is not one of ${known.join(', ')}`,
    );
  }
  const inputs = Object.entries(mapping.columns).map(([field, cell]) => [field, inputsOf(cell)] as const);
  const used = new Set(inputs.flatMap(([, columns]) => columns));
  const lacking = new Set<string>();
  for (const [field, columns] of inputs)
    for (const column of columns.filter((name) => !header.includes(name))) {
      const { key, known: there } = mapping.lacking?.get(column) ?? { key: column, known: header };
      const isTold =
        fields.required.includes(field) || there.some((one) => !used.has(one) && isTypo(key, one));
      if (mapping.lacking !== undefined && !isTold) lacking.add(column);
      else {
        const near = nearest(key, there);
        const what = key === column ? `column ${key}` : `${key} in ${column}`;
        throw unfitProblem(
          `${locate('columns', field)}${file}`,
          `has no ${what}, which the column mapping names; ${key === column ? 'its columns are' : 'there it has'} ${there.join(', ')}${near === undefined ? '' : `; is it ${near}?`}`,
        );
      }
    }
  return [...lacking];
}

/**
 * Other names of fields in files, as `plainName` writes them, the surest ones first: where a column has a
 * name of one text, those of the next are not taken. A name that is only similar is never one: `clot` is a
 * close, not a low, `underlying_last` is no underlying, `adj close` no close, and a turnover in money
 * (`amount`, 成交额) no volume.
 */
const otherNames: Readonly<Record<string, readonly string[]>> = fieldNames;

/**
 * A column's name as that table has it: `<OPEN>`, `1. open`, `Open (USD)`, `Open*` and `Open` are
 * one, but a volume in dollars is no volume.
 */
const plainName = (name: string): string =>
  name
    .normalize('NFKC')
    .replaceAll(/([a-z])(?=[A-Z][a-z])/g, '$1 ')
    .toLowerCase()
    .replace(/^\s*<|>\s*$|^\s*\d+\. /g, '')
    .replace(/(?:\((?:usd|eur|gbp|jpy|chf|inr|\p{Sc})\)|\*\*?)$/u, (end, _, all: string) =>
      all.startsWith('v') ? end : '',
    )
    .replace(/\(utc\)$/, ' utc')
    .replaceAll(/[\s_-]+/g, ' ')
    .trim()
    .replace(/\.$/, '');

/** The columns of a file that are neither objects nor lists of them, whose values are `nested`. */
export function withoutObjects(header: readonly string[], nested: readonly string[]): string[] {
  const objects = new Set(nested.map((path) => path.split(/\[\]\.|\./, 1)[0]!));
  return header.filter((column) => !objects.has(column));
}

/** The last key of a path, `o` of `bar.o`. */
export const lastKey = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/**
 * The columns of a header that may be each field by their names; several where they claim it alike. `suits`
 * says whether the content goes with a name other than the field's own; `nested` are the columns that are
 * paths of nested values, whose last keys are their names.
 */
export function claimsOf(
  { required, optional }: FieldNames,
  header: readonly string[],
  suits: (field: string, column: string) => boolean = () => true,
  nested: readonly string[] = [],
): Map<string, readonly string[]> {
  const fields = [...required, ...optional];
  const own = new Set(fields.map(plainName));
  const paths = new Set(nested);
  const plain = header.map(
    (column) => [column, plainName(paths.has(column) ? lastKey(column) : column)] as const,
  );
  return new Map(
    fields.map((field) => {
      if (header.includes(field)) return [field, [field]];
      const free = plain.filter(([column]) => !fields.includes(column));
      const levels = [plainName(field), ...(otherNames[field] ?? [])].map((line, level) => {
        const names = line.split(',').filter((name) => level === 0 || !own.has(name));
        return free.filter(([, name]) => names.includes(name));
      });
      const suited = levels.map((columns) => columns.filter(([column]) => suits(field, column)));
      // A cell that is no value of a required field is shown when its row is refused.
      const surest = [...suited, ...(required.includes(field) ? levels : [])].find(
        (columns) => columns.length > 0,
      );
      if (surest === undefined) return [field, []];
      return [field, surest.map(([column]) => column)];
    }),
  );
}

/** True if a name is another one with one letter wrong, or two that changed places. */
const isTypo = (name: string, field: string): boolean =>
  field.length > 3 && (nearest(name, [field], 1) !== undefined || sorted(name) === sorted(field));

const sorted = (name: string): string => Array.from(name.toLowerCase()).sort().join('');

/** The likely columns of some fields, each for one field only; fields without one are left out. */
function likelyOnes(
  names: FieldNames,
  fields: readonly string[],
  header: readonly string[],
  free: readonly string[],
  nested: readonly string[] = [],
): Record<string, string> {
  const claims = claimsOf(names, header, undefined, nested);
  const claimed = new Set([...claims.values()].flat());
  return Object.fromEntries(
    fields.flatMap((field) => {
      const column =
        claims.get(field)!.find((name) => free.includes(name)) ??
        free.find((name) => !claimed.has(name) && isTypo(name, field));
      return column === undefined ? [] : [[field, column]];
    }),
  );
}

/** The columns of a mapping. Where it has none yet, those of optional fields: a mapping must name them. */
const ownOnes = (fields: FieldNames, { columns }: ColumnMapping, header: readonly string[]) =>
  Object.keys(columns).length > 0
    ? columns
    : likelyOnes(
        fields,
        fields.optional.filter((field) => !fields.needed.includes(field)),
        header,
        header,
      );

/** The columns of a file that were found by their names; null where its own names or a caller gave them. */
export const mapFound = ({ isFound, columns }: ColumnMapping): ColumnMapping['columns'] | null =>
  isFound === true ? columns : null;

/** Says of the optional fields that several columns may be how one is read; null where there are none. */
export function alikeNote({ alike, ...mapping }: ColumnMapping): string | null {
  if (alike === undefined) return null;
  const fields = Array.from(alike.fields, ([field, columns]) => `${field} may be ${columns.join(' or ')}`);
  const map = mappingText({ ...mapping, columns: alike.columns });
  return `the ${fields.join(', the ')}: none was read. To read one, name it by --map FILE with ${map}`;
}

/** A mapping as its file would have it; with `indent` in lines. */
export function mappingText(mapping: ColumnMapping, indent?: number): string {
  const { encoding, header, delimiter, skip, zone, prices, volumes, symbols, label, columns } = mapping;
  const values = Object.keys(mapping.values).length === 0 ? undefined : mapping.values;
  const said = { encoding, header, delimiter, skip, zone, prices, volumes, symbols, label };
  return JSON.stringify({ ...said, columns, values }, null, indent);
}

function missingProblem(
  { file, header: top, fields, mapping }: About,
  missing: readonly string[],
  used: ReadonlySet<string>,
): FileProblem {
  const { nested = [], hint } = mapping;
  const delimiter = top.length === 1 ? /[;\t|]/.exec(top[0]!)?.[0] : undefined;
  if (delimiter !== undefined) {
    const mark = JSON.stringify(delimiter);
    const more = hint === undefined ? '' : `. ${hint}`;
    return contentProblem(file, `this file separates columns by ${mark}. Add --delimiter ${mark}${more}`);
  }
  const header = [...new Set([...withoutObjects(top, nested), ...nested])];
  const free = header.filter((column) => !used.has(column));
  const likely = likelyOnes(fields, missing, header, free, nested);
  const { cellOf = (_, column) => column } = mapping;
  const code = missing.includes('event_code') && mapping.columns.event_name;
  const mapped: Record<string, Cell> = {
    ...(typeof code === 'string' && { event_code: { column: code, blanks: '_' } }),
    ...Object.fromEntries(Object.entries(likely).map(([field, column]) => [field, cellOf(field, column)])),
  };
  const claims = claimsOf(fields, header, undefined, nested);
  const alike = missing.filter((field) => claims.get(field)!.length > 1);
  const unmapped = missing.filter((field) => mapped[field] === undefined);
  const flags = unmapped.filter((field) => fields.flags[field] !== undefined);
  // A suggested mapping that leaves a field out would only lead to the next refusal.
  // Rows of several lists, or of several objects that are all of a file: a mapping would read one alone.
  const isOfObjects = withoutObjects(top, nested).length === 0;
  const placeOf = (path: string): string =>
    /^.*\[\]/.exec(path)?.[0] ?? (isOfObjects ? path.slice(0, path.indexOf('.')) : '');
  const isApart = alike.some((field) => new Set(claims.get(field)!.map(placeOf)).size > 1);
  const isWhole =
    !isApart &&
    mapping.preset === undefined &&
    unmapped.length < missing.length &&
    flags.length === unmapped.length;
  const open = unmapped.filter((field) => !flags.includes(field)).map((field) => [field, '…']);
  const columns = {
    ...ownOnes(fields, mapping, withoutObjects(top, nested)),
    ...mapped,
    ...Object.fromEntries(open),
  };
  const cure = `If the file has them under other names, use --map FILE with ${mappingText({ ...mapping, columns })}`;
  // Other columns may be the missing fields, whatever their names are.
  const isOpen = open.length > 0 && free.length - Object.keys(mapped).length >= open.length;
  const isOffered =
    isOpen && !isApart && header.length > 1 && mapping.preset === undefined && hint === undefined;
  const sentences = [
    `required ${missing.length > 1 ? 'columns' : 'column'} missing: ${missing.join(', ')}.`,
    ...alike.map((field) => `The ${field} may be ${claims.get(field)!.join(' or ')}.`),
    isApart &&
      'A column mapping reads only one of these. Write the rows of all into one list, with a column symbol.',
    isWhole && `${cure}.`,
    !isWhole && isOffered && `${cure}, and put a column of the file in place of each ….`,
    flags.length > 0 &&
      `If a field is the same in every row, give it as a flag: ${flags.map((field) => fields.flags[field]).join(', ')}.`,
    hint,
    header.length <= 1 &&
      hint === undefined &&
      'Its first line has one cell. If there are lines above the header, skip them by --map FILE with "skip".',
    `The columns of the file are ${header.join(', ')}.`,
  ];
  return unfitProblem(file, sentences.filter(Boolean).join(' '));
}
