// How a field is computed from columns of a file, where no column is the field itself.
import { type ComputedColumn, columnNumber, columnText, quoted, UNMADE } from '../read/scan.ts';

/** A preset's rule for cells that cannot be computed. */
type Oddity = {
  /**
   * The cell is left out and counted, and its row is stored: for optional fields of rows. Without it the row
   * is refused.
   */
  readonly oddIsNull?: true;
};

/** One column, changed step by step in the order of the fields here. */
export type RichCell = {
  readonly column: string;
  /** A second column, appended with a space where it is not empty: a date and its time. */
  readonly join?: string;
  /** A regular expression (RE2): its matches are removed. */
  readonly remove?: string;
  /** The value of each text; other texts are refused. */
  readonly lookup?: Readonly<Record<string, string>>;
  /**
   * The mark between groups of three digits: it is removed from numbers that have it there, and nowhere else.
   */
  readonly thousands?: keyof typeof groupedNumbers;
  /** The decimal mark, where it is a comma. */
  readonly decimal?: ',';
  /** Factor of a number. */
  readonly scale?: number;
  /** The form of a date or time for strptime: `%d.%m.%Y %H:%M:%S`. */
  readonly format?: string;
  /** Unit of an epoch. */
  readonly epoch?: keyof typeof epochMicros;
  /**
   * The offset of the times from UTC, `-05:00` or `Z`; for times by `format`, or in ISO 8601 without an
   * offset.
   */
  readonly offset?: string;
} & Oddity;

/** A preset's own expression: `{name}` is a column's text, null where empty, `#{name}` its number. */
export type Expression = {
  readonly sql: string;
  /** Whether a null refuses the row, where the first named column has text. */
  readonly isStrict?: boolean;
  /** The reason of a refusal. */
  readonly reason?: string;
  /** What the expression gives for the usual text of its first column; undefined for any other. */
  readonly plain?: (text: string) => string | undefined;
} & Oddity;

/** A column, or how a field is computed from columns. */
export type Cell = string | RichCell | Expression;

/** The columns of a file from which a cell is made. */
export const inputsOf = (cell: Cell): readonly string[] =>
  typeof cell === 'string' ? [cell] : derive('', cell).inputs;

/** Numbers with marks between groups of three digits, by the mark. */
export const groupedNumbers = {
  '.': '[+-]?\\d{1,3}(\\.\\d{3})+(,\\d+)?',
  ',': '[+-]?\\d{1,3}(,\\d{3})+(\\.\\d+)?',
  // A space may be one that no line breaks at, narrow or not.
  ' ': '[+-]?\\d{1,3}([ \u00a0\u202f]\\d{3})+([.,]\\d+)?',
  "'": "[+-]?\\d{1,3}(['’]\\d{3})+([.,]\\d+)?",
} as const;

/** The characters that a mark between groups stands for. */
const groupMarks = { '.': '.', ',': ',', ' ': ' \u00a0\u202f', "'": "'’" } as const;

/** Microseconds of a unit of time. */
export const epochMicros = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const;

/** The numbers that are accepted: DuckDB would accept more, such as `1_000`. */
const NUMBER = quoted('\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*');
const isNumber = (sql: string): string => `regexp_full_match(${sql}, ${NUMBER})`;

/** How the SQL of one reading treats a cell that cannot be computed. */
type Maker = { readonly careful: boolean; readonly unmade: string };
const fast: Maker = { careful: false, unmade: "error('unmade')" };
const careful: Maker = { careful: true, unmade: 'null' };

const asNumber = (sql: string, { careful, unmade }: Maker): string =>
  careful
    ? `case when ${isNumber(sql)} then cast(${sql} as double) else ${unmade} end`
    : `cast(${sql} as double)`;

/**
 * The divisor in place of a factor: dividing by a power of ten is exact, where multiplying by its inverse is
 * not. Null without one.
 */
function divisorOf(scale: number): number | null {
  const inverse = Math.round(1 / scale);
  return scale < 1 && 1 / inverse === scale ? inverse : null;
}

function scaled(sql: string, scale: number): string {
  const divisor = divisorOf(scale);
  return divisor === null ? `(${sql}) * ${scale}::double` : `(${sql}) / ${divisor}::double`;
}

/** The rule of a cell that is a number times a factor. */
function plainRule(cell: RichCell): Pick<ComputedColumn, 'plain'> {
  const { scale } = cell;
  if (scale === undefined || Object.keys(cell).length > 2) return {};
  const divisor = divisorOf(scale);
  const of = (value: number): number => (divisor === null ? value * scale : value / divisor);
  return { plain: { kind: 'number', of } };
}

const looked = (sql: string, lookup: Readonly<Record<string, string>>, unmade: string): string =>
  `case when ${sql} is null then null ${Object.entries(lookup)
    .map(([from, to]) => `when ${sql} = ${quoted(from)} then ${quoted(to)}`)
    .join(' ')} else ${unmade} end`;

/** A time in ISO 8601; a date where the format has no time. */
function moment(sql: string, format: string, offset: string): string {
  const read = `strptime(${sql}, ${quoted(format)})`;
  if (/%z/.test(format)) return `strftime(timezone('UTC', ${read}), '%Y-%m-%dT%H:%M:%S.%gZ')`;
  return /%-?[HIXcTR]/.test(format)
    ? `strftime(${read}, '%Y-%m-%dT%H:%M:%S.%g') || ${quoted(offset)}`
    : `strftime(${read}, '%Y-%m-%d')`;
}

/** The source text of a cell; null where it is empty. */
function sourceSql({ column, join, remove }: RichCell): string {
  const sql = joinedSql(column, join);
  return remove === undefined ? sql : `nullif(regexp_replace(${sql}, ${quoted(remove)}, '', 'g'), '')`;
}

const joinedSql = (column: string, join: string | undefined): string =>
  join === undefined
    ? columnText(column)
    : `(${columnText(column)} || coalesce(' ' || ${columnText(join)}, ''))`;

function richSql(cell: RichCell, maker: Maker): string {
  const { lookup, thousands, decimal, scale, format, epoch, offset = '' } = cell;
  let sql = sourceSql(cell);
  if (lookup !== undefined) sql = looked(sql, lookup, maker.unmade);
  if (thousands !== undefined)
    sql = `case when regexp_full_match(${sql}, ${quoted(groupedNumbers[thousands])}) then translate(${sql}, ${quoted(groupMarks[thousands])}, '') else ${sql} end`;
  if (decimal !== undefined)
    sql = `case when contains(${sql}, '.') then ${maker.unmade} else replace(${sql}, ',', '.') end`;
  if (scale !== undefined) return scaled(asNumber(sql, maker), scale);
  if (epoch !== undefined) {
    const micros = scaled(asNumber(sql, maker), epochMicros[epoch]);
    return `strftime(make_timestamp(cast(round(${micros}) as bigint)), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  }
  if (format !== undefined) return moment(sql, format, offset);
  return offset === '' ? sql : `(${sql} || ${quoted(offset)})`;
}

function reasonOf({ lookup, scale, decimal, format, epoch }: RichCell): string {
  if (lookup !== undefined) return `is not one of ${Object.keys(lookup).slice(0, 12).join(', ')}`;
  if (format !== undefined) return `is not of the form ${format}`;
  if (scale === undefined && decimal === undefined && epoch === undefined) return 'cannot be computed';
  return decimal === undefined ? 'is not a number' : 'is not a number with a decimal comma';
}

/** The computed column of a field. */
export const derive = (field: string, cell: RichCell | Expression): ComputedColumn => ({
  name: `${UNMADE}${field}`,
  ...('sql' in cell ? deriveExpression(cell) : deriveRich(cell)),
});

/**
 * The result of a careful reading for a cell that cannot be computed. It must be inside a `case`: otherwise
 * DuckDB computes what several columns have in common once, outside `try`, and the reading fails.
 */
const marked = (raw: string): string => `chr(1) || ${raw}`;

function deriveRich(cell: RichCell): Omit<ComputedColumn, 'name'> {
  const inputs = cell.join === undefined ? [cell.column] : [cell.column, cell.join];
  return {
    inputs,
    reported: inputs,
    fast: richSql(cell, fast),
    careful: `case when ${sourceSql(cell)} is not null
      then coalesce(try(${richSql(cell, careful)})::varchar, ${marked(joinedSql(cell.column, cell.join))}) end`,
    reason: reasonOf(cell),
    ...(cell.oddIsNull && { oddIsNull: true }),
    ...plainRule(cell),
  };
}

function deriveExpression({
  sql,
  isStrict = false,
  reason = 'is not a number',
  oddIsNull,
  plain,
}: Expression): Omit<ComputedColumn, 'name'> {
  const references = [...sql.matchAll(/(#?)\{([^{}]+)\}/g)];
  const inputs = [...new Set(references.map(([, , column]) => column!))];
  const body = sql.replaceAll(/(#?)\{([^{}]+)\}/g, (_, sign: string, column: string) =>
    sign === '' ? columnText(column) : columnNumber(column),
  );
  const raw = columnText(inputs[0]!);
  const strange = references
    .filter(([, sign]) => sign !== '')
    .map(([, , column]) => columnText(column!))
    .map((text) => `when not ${isNumber(text)} then ${marked(text)}`);
  const made = isStrict ? `coalesce(try(${body})::varchar, ${marked(raw)})` : `try(${body})::varchar`;
  const whens = [`when ${raw} is null then null`, ...strange].join(' ');
  return {
    inputs,
    reported: inputs.slice(0, 1),
    fast: isStrict ? `coalesce(${body}, case when ${raw} is not null then error('unmade') end)` : body,
    careful: `case ${whens} else ${made} end`,
    reason,
    ...(oddIsNull && { oddIsNull }),
    ...(plain !== undefined && { plain: { kind: 'text', of: plain } }),
  };
}
