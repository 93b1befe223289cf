// How a field is computed from columns of a file, where no column is the field itself.
import { missingWords, plainDecimal } from '../../base/decimal.ts';
import { type ComputedColumn, columnNumber, columnText, quoted, UNMADE } from '../read/scan.ts';
import { namedOffsets } from './instant-cell.ts';

/** The rule for cells that cannot be computed. */
type Oddity = {
  /**
   * The cell is left out and counted, and its row is stored: for optional fields. Without it the row is
   * refused.
   */
  readonly odd?: 'missing';
};

/** One column, changed step by step in the order of the fields here. */
export type RichCell = {
  readonly column: string;
  /** Further columns, each appended with a space where it is not empty: a date and its time. */
  readonly join?: string | readonly string[];
  /** Blank cells of these columns have the value of the row above. */
  readonly fill?: 'down';
  /** The text between several values in a cell: each has a row of its own. */
  readonly split?: string;
  /** A regular expression (RE2): its matches are removed. */
  readonly remove?: string;
  /** The text in place of blanks: `_` makes a code of words. */
  readonly blanks?: string;
  /** The value of each text; other texts are refused. */
  readonly lookup?: Readonly<Record<string, string>>;
  /**
   * The mark between groups of three digits: it is removed from numbers that have it there, and nowhere else.
   */
  readonly thousands?: keyof typeof groupedNumbers;
  /** The decimal mark, where it is a comma. */
  readonly decimal?: ',';
  /**
   * Factor of a number; `suffix` is that of a K, M, B or T behind it, and leaves signs of currencies and % out;
   * `percent` is a hundredth.
   */
  readonly scale?: number | 'suffix' | 'percent';
  /** The form of a date or time for strptime: `%d.%m.%Y %H:%M:%S`. */
  readonly format?: string;
  /** Unit of an epoch. */
  readonly epoch?: keyof typeof epochMicros;
  /**
   * The offset of the times from UTC, `-05:00` or `Z`; for times by `format`, or in ISO 8601 without an
   * offset.
   */
  readonly offset?: string;
  /** The text in place of any that the column has: an empty cell stays empty. */
  readonly value?: string;
  /** The text in place of an empty cell. */
  readonly default?: string;
} & Oddity;

/** A preset's own expression: `{name}` is a column's text, null where empty, `#{name}` its number. */
type Expression = {
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

/**
 * Numbers with marks between groups of three digits, by the mark; behind the commas of India groups have two.
 */
export const groupedNumbers = {
  '.': '[+-]?\\d{1,3}(\\.\\d{3})+(,\\d+)?',
  ',': '[+-]?\\d{1,3}((,\\d{3})+|(,\\d\\d)+,\\d{3})(\\.\\d+)?',
  ' ': '[+-]?\\d{1,3}([ \u00a0\u2009\u202f]\\d{3})+([.,]\\d+)?',
  "'": "[+-]?\\d{1,3}(['’]\\d{3})+([.,]\\d+)?",
} as const;

/** The characters that a mark stands for. */
const groupMarks = { '.': '[.]', ',': ',', ' ': '[ \u00a0\u2009\u202f]', "'": "['’]" } as const;

/**
 * A number with the sign of a currency or %, and the letters of its size, as `1.2bn`: its signs, digits and
 * letters, as a regular expression of both languages.
 */
export const suffixedNumber =
  "^(?:(?<sign>[+−-]?)\\p{Sc}? ?|\\p{Sc} ?(?<second>[+−-]?))(?<digits>[\\d.,'’ \u00a0\u2009\u202f]*\\d\\.?) ?(?<letter>[KkMmBbTt]|[MmBb][Ll]?[Nn]|[Tt][LlRr]?[Nn]|[Mm][Rr][Dd])? ?(?:%|\\p{Sc})?$";
const SUFFIXED = quoted(suffixedNumber.replaceAll('?<', '?P<'));

/**
 * SQL that names the value of another: written as often as it is needed, that would grow with each step, and be
 * computed again. A name stands within the SQL of those around it.
 */
const bound = (name: string, sql: string, use: (name: string) => string): string =>
  `list_transform([${sql}], lambda ${name}: ${use(name)})[1]`;

/** Microseconds of a unit of time. */
export const epochMicros = { s: 1e6, ms: 1e3, us: 1, ns: 1e-3 } as const;

/** The numbers that are accepted: DuckDB would accept more, such as `1_000`. */
const NUMBER = quoted('\\s*[+-]?(\\d+\\.?\\d*|\\.\\d+)([eE][+-]?\\d+)?\\s*');
const isNumber = (sql: string): string => `regexp_full_match(${sql}, ${NUMBER})`;

/** How the SQL of one reading treats a cell that cannot be computed. */
type Maker = { readonly careful: boolean; readonly unmade: string };
const fast: Maker = { careful: false, unmade: "error('unmade')" };
const careful: Maker = { careful: true, unmade: 'null' };

const asNumber = (sql: string, { careful, unmade }: Maker, made = `cast(${sql} as double)`): string =>
  careful ? `case when ${isNumber(sql)} then ${made} else ${unmade} end` : made;

/** The power of ten that a factor is; undefined for any other. */
function exponentOf(scale: number): number | undefined {
  const [, exponent] = /^1e([+-]\d+)$/.exec(scale.toExponential()) ?? [];
  return exponent === undefined ? undefined : Number(exponent);
}

/** A text with a number, times a power of ten in SQL: the double nearest to the product. */
const shifted = (sql: string, exponent: string): string =>
  `cast(case when regexp_matches(${sql}, '[eE]')
    then regexp_extract(${sql}, '^[^eE]*') || 'e' || (cast(regexp_extract(${sql}, '[eE](.*)$', 1) as integer) + ${exponent})
    else ${sql} || 'e' || ${exponent} end as double)`;

/** The same times any factor: in whole numbers, if the text has no exponent and not more than 18 digits. */
function scaled(sql: string, scale: number, maker: Maker): string {
  const exponent = exponentOf(scale);
  if (exponent !== undefined) return asNumber(sql, maker, shifted(sql, String(exponent)));
  const [whole = '', part = ''] = plainDecimal(scale).split('.');
  const point = `(case when contains(${sql}, '.') then length(${sql}) - strpos(${sql}, '.') else 0 end)`;
  const product = `cast(replace(${sql}, '.', '') as hugeint) * ${BigInt(whole + part)}::hugeint`;
  const exact = `cast((${product})::varchar || 'e' || (-${point} - ${part.length}) as double)`;
  const isShort = `length(${sql}) <= 18 and regexp_full_match(${sql}, '-?\\d+(\\.\\d+)?')`;
  return asNumber(
    sql,
    maker,
    `case when ${isShort} then ${exact} else cast(${sql} as double) * ${scale}::double end`,
  );
}

/** The length of a number with a point that surely has the digits of the text that it was read from: 15. */
const SURE_LENGTH = 16;

/** The rule of a cell that is a number times a power of ten: undefined for numbers that need their text. */
function plainRule(cell: RichCell): Pick<ComputedColumn, 'plain'> {
  const { scale } = cell;
  const exponent = typeof scale === 'number' ? exponentOf(scale) : undefined;
  if (exponent === undefined || Object.keys(cell).length > 2) return {};
  const power = 10 ** Math.abs(exponent);
  const of = (value: number): number | undefined => {
    if (Number.isSafeInteger(value) && power <= 1e15) {
      const made = exponent < 0 ? value / power : value * power;
      if (exponent < 0 || Number.isSafeInteger(made)) return made;
    }
    if (Number.isNaN(value)) return value;
    const text = String(value);
    return text.length <= SURE_LENGTH && !text.includes('e') ? Number(`${text}e${exponent}`) : undefined;
  };
  return { plain: { kind: 'number', of } };
}

const looked = (sql: string, lookup: Readonly<Record<string, string>>, unmade: string): string =>
  `case when ${sql} is null then null ${Object.entries(lookup)
    .map(([from, to]) => `when ${sql} = ${quoted(from)} then ${quoted(to)}`)
    .join(' ')} else ${unmade} end`;

/** The text with an offset in place of the name of a zone at its end. */
const withOffset = (sql: string): string =>
  `regexp_replace(${sql}, '[A-Za-z]+$', '') || case regexp_extract(${sql}, '[A-Za-z]+$')
    ${Object.entries(namedOffsets)
      .map(([name, offset]) => `when '${name}' then '${offset}'`)
      .join(' ')} else regexp_extract(${sql}, '[A-Za-z]+$') end`;

/** The text with plain blanks, and all digits of a time without colons: 093000 for `93000`. */
function withZeros(written: string, format: string): string {
  const sql = `regexp_replace(${written}, '[\u00a0\u2009\u202f]', ' ', 'g')`;
  const digits = format.endsWith(' %H%M%S') ? 6 : format.endsWith(' %H%M') ? 4 : 0;
  return digits === 0
    ? sql
    : `regexp_replace(regexp_replace(${sql}, ' (\\d+)$', ' 00000\\1'), ' 0+(\\d{${digits}})$', ' \\1')`;
}

/** A time in ISO 8601; a date where the format has no time. */
function moment(sql: string, written: string, offset: string, { unmade }: Maker): string {
  const format = written.replace(/%Z$/, '%z');
  const text = format === written ? withZeros(sql, format) : withOffset(sql);
  const read = `strptime(${text}, ${quoted(format)})`;
  const made = /%z/.test(format)
    ? `strftime(timezone('UTC', ${read}), '%Y-%m-%dT%H:%M:%S.%gZ')`
    : /%-?[HIXcTR]/.test(format)
      ? `strftime(${read}, '%Y-%m-%dT%H:%M:%S.%g') || ${quoted(offset)}`
      : `strftime(${read}, '%Y-%m-%d')`;
  if (!/%[aA]/.test(format) || /%z./.test(format)) return made;
  // strptime takes any weekday: it must be that of the date, where that is written.
  const local = `regexp_replace(${text}, '([-+][\\d:]+|Z)$', '')`;
  const date = format.endsWith('%z') ? `strptime(${local}, ${quoted(format.slice(0, -2))})` : read;
  const said = `regexp_extract(lower(${text}), '\\b(sun|mon|tue|wed|thu|fri|sat)')`;
  return `case when lower(strftime(${date}, '%a')) = ${said} then ${made} else ${unmade} end`;
}

/** The columns of a cell, in their order. */
const columnsOf = ({ column, join = [] }: RichCell): string[] => [column, ...[join].flat()];

/** The text of a cell's columns; null where it is empty, or stands for a missing value. */
function sourceSql(cell: RichCell): string {
  const { remove, blanks, lookup = {}, scale, thousands, decimal, format, epoch } = cell;
  let sql = joinedSql(cell);
  if (remove !== undefined) sql = `nullif(trim(regexp_replace(${sql}, ${quoted(remove)}, '', 'g')), '')`;
  if (blanks !== undefined) sql = `regexp_replace(${sql}, '[\\s\u00a0]+', ${quoted(blanks)}, 'g')`;
  const isText = (scale ?? thousands ?? decimal ?? format ?? epoch) === undefined;
  const words = [...missingWords, ...(isText ? [] : ['NA'])]
    .filter((word) => !Object.hasOwn(lookup, word))
    .map(quoted);
  return bound(
    'whole',
    sql,
    (whole) => `case when ${whole} in (${words.join()}) then null else ${whole} end`,
  );
}

function joinedSql(cell: RichCell): string {
  const [first = '', ...others] = columnsOf(cell).map(columnText);
  return `(${[first, ...others.map((other) => `coalesce(' ' || ${other}, '')`)].join(' || ')})`;
}

/** A number with a point as its only mark. */
function numberSql({ thousands, decimal }: RichCell, sql: string, { unmade }: Maker): string {
  const pointed = (text: string): string =>
    decimal === undefined
      ? text
      : `case when contains(${text}, '.') then ${unmade} else replace(${text}, ',', '.') end`;
  if (thousands === undefined) return pointed(sql);
  const bare = `case when regexp_full_match(${sql}, ${quoted(groupedNumbers[thousands])})
    then regexp_replace(${sql}, ${quoted(groupMarks[thousands])}, '', 'g') else ${sql} end`;
  return decimal === undefined ? bare : bound('bare', bare, pointed);
}

/** A number with a letter for its size, or in percents: the sign and the digits, then the power of ten. */
function suffixedSql(cell: RichCell, sql: string, maker: Maker): string {
  const parts = `regexp_extract(${sql}, ${SUFFIXED}, ['sign', 'second', 'digits', 'letter'])`;
  const power =
    cell.scale === 'percent'
      ? `case when parts.letter = '' then -2 else ${maker.unmade} end`
      : `case when lower(parts.letter) = 'mrd' then 9 else case upper(left(parts.letter, 1)) when 'K' then 3 when 'M' then 6 when 'B' then 9 when 'T' then 12 else 0 end end`;
  const bare = `case when parts.digits = '' then ${sql} else replace(parts.sign || parts.second, '−', '-') || parts.digits end`;
  return bound('parts', parts, () =>
    bound('text', bare, (text) =>
      bound('digits', numberSql(cell, text, maker), (digits) =>
        asNumber(digits, maker, shifted(digits, `(${power})`)),
      ),
    ),
  );
}

/** The value of a cell by the text in its column, which is not null. */
function richSql(cell: RichCell, source: string, maker: Maker): string {
  const { lookup, scale, format, epoch, offset = '', value } = cell;
  if (value !== undefined) return quoted(value);
  const made = (sql: string): string => {
    if (typeof scale === 'string') return suffixedSql(cell, sql, maker);
    const number = numberSql(cell, sql, maker);
    if (scale !== undefined) return bound('number', number, (digits) => scaled(digits, scale, maker));
    if (epoch !== undefined) {
      const micros = bound('number', number, (digits) => scaled(digits, epochMicros[epoch], maker));
      return `strftime(make_timestamp(cast(round(${micros}) as bigint)), '%Y-%m-%dT%H:%M:%S.%fZ')`;
    }
    if (format !== undefined) return moment(number, format, offset, maker);
    return offset === '' ? number : `(${number} || ${quoted(offset)})`;
  };
  return lookup === undefined ? made(source) : bound('looked', looked(source, lookup, maker.unmade), made);
}

function reasonOf({ lookup, scale, decimal, format, epoch }: RichCell): string {
  if (lookup !== undefined) return `is not one of ${Object.keys(lookup).slice(0, 12).join(', ')}`;
  if (format !== undefined) return `is not of the form ${format}`;
  if (scale === undefined && decimal === undefined && epoch === undefined) return 'cannot be computed';
  return decimal === undefined ? 'is not a number' : 'is not a number with a decimal comma';
}

/** The texts of parts of a date or time, for the column of a join that has another one. */
const PARTS: Readonly<Record<string, string>> = {
  ...{ Y: '\\d{4}', b: '[a-z]{3}', B: '[a-z]+', a: '[a-z]{3}', A: '[a-z]+', p: '[ap]m', '%': '%' },
  ...{ m: '(?:0?[1-9]|1[0-2])', d: '(?:0?[1-9]|[12]\\d|3[01])', M: '[0-5]?\\d' },
  ...{ H: '(?:[01]?\\d|2[0-3])', I: '(?:0?[1-9]|1[0-2])' },
  ...{ z: '[-+\\d:]+', Z: '[-+:\\w]+', n: '\\d+', f: '\\d+', g: '\\d+', j: '\\d+' },
};

/**
 * The cell of a date or time that is wrong, the parts of the form being those between blanks: the first that
 * is no part of it. Where all are, the weekday may be that of another date.
 */
function formFault(format: string, cells: readonly string[]): { place: number; reason?: string } {
  const seen = new Set<string>();
  const words = format.split(' ').map((word) =>
    word.replaceAll(/%-?(.)|[^%]/g, (one, part?: string) => {
      if (part === undefined) return RegExp.escape(one);
      const form = PARTS[part] ?? '\\d{1,2}';
      return !'YybBmdaA'.includes(part) || seen.size === seen.add(part).size ? form : `(?<${part}>${form})`;
    }),
  );
  const groups: Record<string, string | undefined> = {};
  let at = 0;
  for (const [place, cell] of cells.entries()) {
    const rest = words.slice(at).map((_, count) => words.slice(at, at + count + 1).join(' +'));
    const tries = rest.map((form) => new RegExp(`^${form}$`, 'i').exec(cell.trim()));
    const found = tries.findIndex((one) => one !== null);
    if (found < 0) return { place };
    Object.assign(groups, tries[found]!.groups);
    at += found + 1;
  }
  // A date that no calendar has, or a part that is missing at the end.
  if (at < words.length) return { place: cells.length - 1 };
  const { Y, y, b, B = b, m, d, a, A = a } = groups;
  // strptime has 69 in 1969, 68 in 2068.
  const year = Y ?? Number(y) + (Number(y) < 69 ? 2000 : 1900);
  const date = new Date(`${B ?? m}/${d}/${year} UTC`);
  if (A === undefined || date.getUTCDate() !== Number(d)) return { place: 0 };
  const weekday = date.toLocaleDateString('en', { weekday: 'long', timeZone: 'UTC' });
  const isOther = !weekday.toLowerCase().startsWith(A.toLowerCase());
  return { place: 0, ...(isOther && { reason: `has the wrong weekday: the date is a ${weekday}` }) };
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
  const inputs = columnsOf(cell);
  const instead = cell.default === undefined ? 'null' : quoted(cell.default);
  const made = (of: (source: string) => string): string =>
    bound('source', sourceSql(cell), (one) => `case when ${one} is null then ${instead} else ${of(one)} end`);
  const tried = (source: string): string => `try(${richSql(cell, source, careful)})::varchar`;
  return {
    inputs,
    reported: inputs,
    fast: made((source) => richSql(cell, source, fast)),
    careful: made((source) => `coalesce(${tried(source)}, ${marked(joinedSql(cell))})`),
    reason: reasonOf(cell),
    ...(cell.fill !== undefined && { fill: cell.fill }),
    ...(cell.split !== undefined && { split: cell.split }),
    ...(cell.format !== undefined && { faultOf: (cells) => formFault(cell.format!, cells) }),
    ...plainRule(cell),
  };
}

function deriveExpression({
  sql,
  isStrict = false,
  reason = 'is not a number',
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
    ...(plain !== undefined && { plain: { kind: 'text', of: plain } }),
  };
}
