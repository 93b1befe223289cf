// The columns of a file that nobody described: what its header and its beginning show surely, and what only
// the caller can say.
import { numberOf } from '../../base/decimal.ts';
import type { ReadFirst } from '../read/format.ts';
import type { Sample } from '../read/sample.ts';
import { beginningOf, lazily, type TextLayout } from './beginning.ts';
import type { Cell, RichCell } from './cell.ts';
import {
  areAll,
  areDays,
  type Beginning,
  bareNumber,
  CLOCK_COLUMN,
  checkThirtySeconds,
  DATED,
  dateCell,
  decimalOf,
  numberCell,
  TIMED,
  type Told,
} from './cell-forms.ts';
import { type ColumnMapping, claimsOf, type FieldNames, lastKey, withoutObjects } from './column-mapping.ts';

/** The kinds of the fields whose texts show whether a column's name misleads. */
function suitsField(
  { required, numbers, oddIsMissing, rules }: FieldNames,
  field: string,
  texts: readonly string[],
): boolean {
  const rule = rules[field]!;
  const fits = (text: string): boolean =>
    numbers.includes(field)
      ? bareNumber(field, text) !== undefined
      : isDated(rules, field)
        ? DATED.test(text)
        : 'unit' in rule || rule.parse(text) !== undefined;
  if (texts.length === 0) return true;
  if (required.includes(field)) return texts.some(fits);
  // A cell that an optional field cannot have is left out of numbers, and would refuse its row elsewhere.
  const odd = texts.filter((text) => !fits(text));
  return (
    odd.length * 2 <
    (numbers.includes(field) && oddIsMissing.includes(field) && !odd.some((text) => text.includes('%'))
      ? texts.length
      : 1)
  );
}

const isDated = (rules: FieldNames['rules'], field: string): boolean =>
  'unit' in rules[field]! || /(^|_)date$/.test(field);

/**
 * Names of the index of a table of pandas that has no name, which may have numbers or symbols before it, and
 * of columns that may have symbols.
 */
const UNNAMED = /^(|unnamed: [01]|level_[01]|index|__index_level_[01]__|name)$/i;
/** Parquet has the index behind the columns. */
const isUnnamed = (name: string, at: number): boolean =>
  (at < 2 || /^(__|name)/i.test(name)) && UNNAMED.test(name);
/** Names of columns whose times are in UTC, and times without an offset, which need no other flag there. */
const IN_UTC = /(?:^|[^a-z])utc[^a-z]*$|^utc[^a-z]/i;
const LOCAL = /[-./\d][ T]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?: ?[AP]M)?$/i;
const SYMBOL = /^[A-Z][A-Z\d]*([.\-/=^][A-Z\d]+)*$/;

/**
 * The paths of the values in the one object, or list of objects, that has all required fields which the
 * columns beside it lack, two of them or more, and none that they have. None where several such objects may
 * be meant.
 */
function openedPaths(
  fields: FieldNames,
  header: readonly string[],
  nested: readonly string[],
): readonly string[] {
  if (nested.length === 0) return [];
  const outer = claimsOf(fields, header);
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const lacking = needed.filter((field) => outer.get(field)!.length === 0);
  if (lacking.length < 2) return [];
  const objects = [...Map.groupBy(nested, (path) => path.slice(0, -lastKey(path).length)).values()];
  const fitting = objects.filter((paths) => {
    const inner = claimsOf(fields, paths, undefined, paths);
    return needed.every((field) => inner.get(field)!.length === (lacking.includes(field) ? 1 : 0));
  });
  return fitting.length === 1 ? fitting[0]! : [];
}

/**
 * The columns beside an opened object, but for those of optional fields that it has: its own are those of its
 * bars. Beside a list no number is that of each row.
 */
function besideObject(
  fields: FieldNames,
  plain: readonly string[],
  opened: readonly string[],
): readonly string[] {
  if (opened.length === 0) return plain;
  const [inner, outer] = [claimsOf(fields, opened, undefined, opened), claimsOf(fields, plain)];
  const isList = opened[0]!.includes('[]');
  const others = fields.optional.filter(
    (field) => inner.get(field)!.length > 0 || (isList && fields.numbers.includes(field)),
  );
  const left = new Set(others.flatMap((field) => outer.get(field)!));
  return plain.filter((column) => !left.has(column));
}

/** A file that nobody described, with what the caller says of it, and what is wanted. */
type Undescribed = {
  readonly sample: Sample;
  readonly fields: FieldNames;
  readonly told: Told & TextLayout;
  /** True for a mapping file that is to be written. */
  readonly isAsked: boolean;
};

/**
 * The columns of a file by their names and its beginning: those that one field alone claims, and no other
 * column with it. `read` reads the first rows of other files than plain texts. @throws FileProblem that asks
 * for a flag where its rows have two meanings; never where most fields are missing, or the file has the
 * fields' own names and nothing else was wanted
 */
export async function foundColumns(
  { sample, fields, told, isAsked }: Undescribed,
  top: readonly string[],
  nested: readonly string[],
  read: ReadFirst | null,
): Promise<Pick<ColumnMapping, 'columns' | 'isFound' | 'cellOf' | 'paths' | 'alike' | 'hint'>> {
  const plain = withoutObjects(top, nested);
  const opened = openedPaths(fields, plain, nested);
  const header = [...besideObject(fields, plain, opened), ...opened];
  const beginning = beginningOf(sample, header, told, (await read?.(opened)) ?? null);
  const { textsOf } = beginning;
  const instant = fields.required.find((field) => 'unit' in fields.rules[field]!);
  const claims = claimsOf(
    fields,
    header,
    (field, column) => suitsField(fields, field, textsOf(column)),
    opened,
  );
  const found = new Map(
    [...claims].flatMap(([field, columns]) => {
      // Beside a column of dates one of their times says more; all midnights say the same.
      const timed = columns.filter((column) => field === instant && areAll(textsOf(column), TIMED));
      const days = columns.filter((column) => areDays(textsOf(column)));
      const surest = timed.length === 1 && days.length === columns.length - 1 ? timed : columns;
      return surest.length === 1 ? [[field, surest[0]!] as const] : [];
    }),
  );
  for (const column of instant === undefined ? [] : header.filter(isUnnamed)) {
    const field = areAll(textsOf(column), DATED) ? instant! : areAll(textsOf(column), SYMBOL) ? 'symbol' : '';
    if (fields.required.includes(field) && !found.has(field)) found.set(field, column);
  }
  const isOwn = [...found].every(([field, column]) => field === column);
  const { decimal } = told;
  const isPlain =
    isOwn && !isAsked && [told.dateFormat, decimal, told.delimiter].every((one) => one === undefined);
  const mark = lazily(() => {
    if (decimal !== undefined) return decimal === ',' ? ',' : '.';
    const columns = fields.numbers.flatMap((field) => {
      const column = found.get(field);
      return column === undefined ? [] : [{ field, column, texts: textsOf(column) }];
    });
    if (columns.some(({ column }) => beginning.hasPoints(column))) return '.';
    checkThirtySeconds(
      sample.name,
      columns.flatMap(({ field, texts }) => (fields.required.includes(field) ? texts : [])),
    );
    const numbers = columns.flatMap(({ field, texts }) =>
      texts.flatMap((text) => bareNumber(field, text) ?? (fields.oddIsMissing.includes(field) ? [] : text)),
    );
    return decimalOf(sample.name, numbers, {
      isUnusual: isAsked || (!isOwn && beginning.isUnusual),
      // A comma elsewhere does not make thousands of the decimals of what rows need.
      hasPoints: columns.some(
        ({ field, texts }) =>
          fields.needed.includes(field) &&
          texts.every((text) => numberOf(text) !== null) &&
          texts.some((text) => text.includes('.')),
      ),
    });
  });
  const sureCell = (field: string, column: string): Cell => {
    const mayBeOdd = fields.oddIsMissing.includes(field);
    if (fields.numbers.includes(field)) return numberCell(field, column, textsOf(column), mark(), mayBeOdd);
    if (!isDated(fields.rules, field)) return column;
    const cell = dateCell(sample.name, beginning, column, told, {
      hasTime: field === instant,
      isPlain,
      mayBeOdd,
      seriesFields: header.filter((name) => name === 'symbol' || fields.flags[name] !== undefined),
    });
    const isLocal = typeof cell === 'string' ? areAll(textsOf(column), LOCAL) : !('offset' in cell);
    if (field !== instant || !IN_UTC.test(column) || !isLocal) return cell;
    return { ...(typeof cell === 'string' ? { column } : cell), offset: 'Z' };
  };
  const cellOf = (field: string, column: string): Cell => {
    try {
      return sureCell(field, column);
    } catch {
      return column;
    }
  };
  const alike = alikeOf(fields, claims, found, cellOf);
  // A column with odd values is not found, and tells the kind of its rows all the same.
  const hasValue = (field: string, column: string): boolean => {
    const rule = fields.rules[field]!;
    return 'unit' in rule || textsOf(column).some((text) => rule.parse(text) !== undefined);
  };
  const claimed = lazily(() => claimsOf(fields, header, hasValue, opened));
  const hasSome = (field: string): boolean => found.has(field) || claimed().get(field)!.length > 0;
  // An answer without rows says why it has none.
  const start = read !== null && found.size === 0 ? sample.text.trim().slice(0, 200) : '';
  const { hint = start && `It begins: ${start}.`, ...kind } = kindOf(fields, found, hasSome);
  const own = { columns: {}, cellOf, ...alike, ...(hint !== '' && { hint }) };
  const needed = fields.required.filter((field) => fields.flags[field] === undefined);
  const isNear = needed.filter((field) => found.has(field)).length * 2 >= needed.length;
  const made = isAsked || isNear ? sureCell : cellOf;
  // The numbers of a file have one decimal mark: they are all as the reader has them, or none is.
  const others = [...found.keys()].filter((field) => !isPlain || !isReadAsItIs(fields, field, beginning));
  const areNumbersOther = others.some((field) => fields.numbers.includes(field));
  const isOther = (field: string): boolean =>
    others.includes(field) || (areNumbersOther && fields.numbers.includes(field));
  const cells = Array.from(found, ([field, column]) => [
    field,
    isOther(field) ? made(field, column) : column,
  ]);
  const columns: Record<string, Cell> = { ...kind, ...Object.fromEntries(cells) };
  if (isPlain && Object.values(columns).every((cell) => typeof cell === 'string')) return own;
  const paths = [...found.values()].filter((column) => opened.includes(column));
  return { ...own, columns, isFound: true, ...(paths.length > 0 && { paths }) };
}

/** Fields of corporate actions that one kind of them has alone. */
const kinds: readonly (readonly [kind: string, fields: readonly string[]])[] = [
  ['dividend', ['cash_amount']],
  ['split', ['split_ratio']],
  ['split', ['split_from', 'split_to']],
];

/** The kind of corporate actions where no column says it, and all rows can be of one only. */
function kindOf(
  { rules }: FieldNames,
  found: ReadonlyMap<string, string>,
  hasSome: (field: string) => boolean,
): { readonly action_type?: RichCell; readonly hint?: string } {
  if (rules.action_type === undefined || found.has('action_type')) return {};
  const begun = kinds.filter(([, fields]) => fields.some(hasSome));
  const [[kind, [first = '']] = ['', []], ...more] = begun.filter(([, fields]) =>
    fields.every((field) => found.has(field)),
  );
  if (new Set(begun.map(([one]) => one)).size > 1)
    return {
      hint: 'Its rows may be dividends or splits: add a column action_type with dividend or split, and write two rows for a day that has both.',
    };
  // An amount of a date may be that of a trade.
  const isOpen = /^amount,date$/i.test([found.get('cash_amount'), found.get('ex_date')].join());
  if (kind === '' || isOpen || found.has('adjustment_factor')) return {};
  // Of two ways to say the shares a row has one.
  return {
    action_type: { column: found.get(first)!, ...(more.length > 0 && { default: kind }), value: kind },
  };
}

/** A moment as most files have it: in ISO 8601, with slashes, points or no marks in the date, or an epoch. */
const PLAIN_MOMENT =
  /^(\d{4}([-/.])\d\d\2\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?|\d{8}[T ]\d\d:?\d\d(:?\d\d)?|(?!(?:19|20)\d{10}(?:\d\d)?$)\d{9,})$/;

/** True if the reader understands the cells of a column of ours, and no other one may have its times. */
function isReadAsItIs(
  { rules, numbers }: FieldNames,
  field: string,
  { header, textsOf }: Beginning,
): boolean {
  const rule = rules[field]!;
  const texts = textsOf(field);
  if (numbers.includes(field))
    return texts.every((text) => numberOf(text) !== null || bareNumber(field, text) === undefined);
  if ('unit' in rule)
    return !header.some((name) => CLOCK_COLUMN.test(name)) && texts.every((text) => PLAIN_MOMENT.test(text));
  return !isDated(rules, field) || texts.every((text) => rule.parse(text) !== undefined);
}

/** The optional fields that several columns may be. */
function alikeOf(
  { optional }: FieldNames,
  claims: ReadonlyMap<string, readonly string[]>,
  found: ReadonlyMap<string, string>,
  cellOf: (field: string, column: string) => Cell,
): Pick<ColumnMapping, 'alike'> {
  const open = optional.filter((field) => !found.has(field) && claims.get(field)!.length > 1);
  if (open.length === 0) return {};
  const firsts = open.map((field) => [field, claims.get(field)![0]!] as const);
  const columns = [...found, ...firsts].map(([field, column]) => [field, cellOf(field, column)]);
  return {
    alike: {
      fields: new Map(open.map((field) => [field, claims.get(field)!])),
      columns: Object.fromEntries(columns),
    },
  };
}
