// What would be read of a file, and as what, for `bourse import --explain`: nothing is written.
import { DAY_MS, formatDay, formatInstantZ } from '../base/instant.ts';
import { numberOf } from '../base/number.ts';
import { calendarOf } from '../calendar/calendar.ts';
import { type PeriodInterval, periodStart } from '../calendar/period.ts';
import type { Zone } from '../calendar/zone.ts';
import { parseAssetSchema, parseCountry } from '../contract/identifiers.ts';
import { intervalMinutes, parseInterval } from '../contract/interval.ts';
import { limits } from '../contract/limits.ts';
import { valueFields } from '../datasets/bars.ts';
import { UNMADE } from '../files/computed-column.ts';
import { FileProblem } from '../files/file-problem.ts';
import { readChunks } from '../files/read.ts';
import type { MappedFile } from './column-mapping.ts';
import {
  type FieldNames,
  type FieldSources,
  findSources,
  ignoredByAll,
  partsOf,
  reportedColumn,
} from './column-mapping.ts';
import { InstantCell, LocalClock } from './instant-cell.ts';

/** The account of a file that was not imported. */
export type Explained = {
  readonly file: string;
  readonly format: string;
  readonly preset: string | null;
  /** Whether a map file says what its columns are. */
  readonly isMapped: boolean;
  /** What is odd about the file as a whole. */
  readonly doubt: string | null;
  /** Field -> the column that gives it. */
  readonly columns: Readonly<Record<string, string>>;
  /** Field -> what it is in every row; where a row of the file is several, what it is in each. */
  readonly values: Readonly<Record<string, string>>;
  readonly zone: string | null;
  /** What was done to the prices; null where the rows have none. */
  readonly prices: string | null;
  readonly ignoredColumns: readonly string[];
  /** The first rows as they would be stored, by field; a cell that would be refused says why. */
  readonly rows: readonly Readonly<Record<string, string | null>>[];
  /** Why none of it can be imported, and what to do; null where it can. */
  readonly problem: string | null;
};

/** What an account is made of. */
export type Explaining = {
  readonly file: MappedFile;
  readonly fields: FieldNames;
  readonly flags: ReadonlyMap<string, string>;
  readonly zone: Zone | null;
};

/** Looks at a file's columns and first rows. @throws FileProblem where the file cannot be read, or the call is wrong */
export async function explainFile(explaining: Explaining): Promise<Explained> {
  const { file, fields, zone } = explaining;
  const mappings = mappingsOf(explaining);
  const isProblem = mappings instanceof FileProblem;
  return {
    file: file.name,
    format: formatOf(file),
    preset: file.mapping.preset ?? null,
    isMapped: file.mapping.locate !== undefined,
    doubt: file.mapping.doubt ?? null,
    columns: isProblem ? {} : Object.assign({}, ...mappings.map(toldColumns).reverse()),
    values: isProblem ? file.mapping.values : toldValues(mappings),
    zone: zone?.name ?? null,
    prices: fields.required.includes('open') ? (file.mapping.prices ?? 'raw') : null,
    ignoredColumns: isProblem ? [] : ignoredByAll(mappings),
    rows: isProblem ? [] : await firstRows(explaining, mappings),
    problem: isProblem ? mappings.message : null,
  };
}

function mappingsOf({ file, fields, flags }: Explaining): FieldSources[] | FileProblem {
  try {
    return partsOf(file.mapping).map((map) => findSources(file.name, file.header, fields, map, flags));
  } catch (error) {
    if (error instanceof FileProblem && error.kind !== 'usage') return error;
    throw error;
  }
}

function formatOf({ format, mapping }: MappedFile): string {
  if (mapping.convert !== undefined) return 'converted as a whole';
  if (format.kind !== 'csv') return format.kind === 'json' ? 'JSON' : 'Parquet';
  const marks: Readonly<Record<string, string>> = { ',': 'commas', '\t': 'tabs' };
  const { delimiter, headerLines = 1 } = format;
  const header = headerLines === 0 ? 'without a header' : 'with a header';
  return `text parted by ${marks[delimiter] ?? `"${delimiter}"`}, ${header}`;
}

const toldColumns = (mapping: FieldSources): Record<string, string> =>
  Object.fromEntries(
    [...mapping.columns].map(([field, column]) => {
      const inputs = mapping.derived.find(({ name }) => name === column)?.inputs;
      return [field, inputs === undefined ? column : `made of ${inputs.join(', ')}`];
    }),
  );

function toldValues(mappings: readonly FieldSources[]): Record<string, string> {
  const fields = new Set(mappings.flatMap(({ values }) => [...values.keys()]));
  const valuesOf = (field: string): Set<string> =>
    new Set(mappings.flatMap(({ values }) => values.get(field) ?? []));
  return Object.fromEntries([...fields].map((field) => [field, [...valuesOf(field)].join(' or ')]));
}

async function firstRows(
  { file, zone }: Explaining,
  mappings: readonly FieldSources[],
): Promise<Explained['rows']> {
  const derived = mappings.flatMap((mapping) => mapping.derived);
  const texts = [...file.header, ...derived.map(({ name }) => name)];
  const rows: Record<string, string | null>[] = [];
  const moments = new Moments(zone);
  for await (const chunk of readChunks(file, { texts, numbers: [], careful: true, derived })) {
    const cellOf = (row: number) => (column: string) => chunk.texts[texts.indexOf(column)]!.text(row);
    for (let row = 0; row < chunk.count && rows.length < limits.explainedRows; row++) {
      for (const mapping of mappings) {
        const made = rowOf(mapping, cellOf(row));
        if (made !== null && rows.length < limits.explainedRows) rows.push(moments.placed(made));
      }
    }
    break;
  }
  return rows;
}

/** What a row is by a mapping; null where it is none. */
function rowOf(
  mapping: FieldSources,
  cell: (column: string) => string | null,
): Record<string, string | null> | null {
  const { columns, values, keep } = mapping;
  if (keep !== null && cell(keep.name) === 'false') return null;
  const made = [...columns].map(
    ([field, column]) => [field, shown(field, column, cell(column), mapping)] as const,
  );
  return { ...Object.fromEntries(values), ...Object.fromEntries(made) };
}

/** A cell as it would be taken, or why it would not. */
function shown(field: string, column: string, text: string | null, mapping: FieldSources): string | null {
  if (text === null || text === '') return null;
  const isNumber = (valueFields as readonly string[]).includes(field);
  const derived = mapping.derived.find(({ name }) => name === column);
  if (derived !== undefined && text.startsWith(UNMADE)) {
    const { reason } = derived;
    return `${text.slice(UNMADE.length)} (refused: column ${reportedColumn(mapping, column)} ${reason})`;
  }
  const number = isNumber ? numberOf(text) : undefined;
  return number === null ? `${text} (refused: is not a number)` : String(number ?? text);
}

/** Puts the `datetime` of bars in its place, as the import does. */
class Moments {
  readonly #cell = new InstantCell();
  readonly #clock: LocalClock | null;
  #beforeMs = Number.NaN;

  constructor(zone: Zone | null) {
    this.#clock = zone === null ? null : new LocalClock(zone);
  }

  placed(row: Record<string, string | null>): Record<string, string | null> {
    const { datetime } = row;
    if (datetime === undefined || datetime === null || datetime.includes('(refused')) return row;
    return { ...row, datetime: this.#placed(datetime, row) };
  }

  #placed(datetime: string, row: Readonly<Record<string, string | null>>): string {
    const bytes = new TextEncoder().encode(datetime);
    this.#cell.read(bytes, 0, bytes.length);
    const { kind, ms } = this.#cell;
    if (kind === 'bad') return `${datetime} (refused: is not a date or a time)`;
    if (kind === 'date') return labelShown(ms / DAY_MS, row);
    const placed = kind === 'instant' ? ms : this.#clock?.place(ms, this.#beforeMs);
    if (placed === undefined) return `${datetime} (has no offset: name its zone by --zone)`;
    if (typeof placed === 'string') return `${datetime} (refused: an hour that the zone has ${placed})`;
    this.#beforeMs = placed;
    return labelOf(placed, row) ?? formatInstantZ(placed);
  }
}

/** The date that a day's bar goes by; null for minutes, and where its market is not known. */
function labelOf(ms: number, row: Readonly<Record<string, string | null>>): string | null {
  const [code, asset, country] = [
    parseInterval(row.interval ?? ''),
    parseAssetSchema(row.asset_schema ?? ''),
    parseCountry(row.country_iso_code ?? ''),
  ];
  if (code === null || asset === null || country === null || intervalMinutes(code) !== null) return null;
  const calendar = calendarOf(asset, country);
  return labelShown(calendar.labelAt(ms) ?? calendar.zone.dayAt(ms), row);
}

/** A week and a month go by their first day. */
function labelShown(day: number, { interval }: Readonly<Record<string, string | null>>): string {
  const code = parseInterval(interval ?? '');
  const isPeriod = code !== null && intervalMinutes(code) === null;
  return formatDay(isPeriod ? periodStart(code as string as PeriodInterval, day) : day);
}
