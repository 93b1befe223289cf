// How a file would be read, for `bourse import --explain`: nothing is written.

import { cellText, numberOf } from '../../base/decimal.ts';
import { formatDay, formatInstantZ } from '../../base/instant.ts';
import { type BarLabel, barBasis, volumeBasis } from '../../contract/file-words.ts';
import { parseAssetSchema, parseCountry } from '../../contract/identifiers.ts';
import { intervalMinutes, parseInterval } from '../../contract/interval.ts';
import { limits } from '../../contract/limits.ts';
import { openBefore } from '../../market/calendar/bar-end.ts';
import { calendarOf } from '../../market/calendar/calendar.ts';
import { isPeriod, periodOfRow } from '../../market/calendar/period.ts';
import type { Zone } from '../../market/calendar/zone.ts';
import { valueFields } from '../../store/schema/bars.ts';
import { FileProblem } from '../read/file-problem.ts';
import { readChunks } from '../read/read.ts';
import { UNMADE } from '../read/scan.ts';
import {
  alikeNote,
  type FieldNames,
  type FieldSources,
  findSources,
  type MappedFile,
  mapFound,
  reportedColumns,
} from './column-mapping.ts';
import { InstantCell, LocalClock, RowOrder } from './instant-cell.ts';

/** The file, and how the call would read it. */
type Explaining = {
  readonly file: MappedFile;
  readonly fields: FieldNames;
  readonly flags: ReadonlyMap<string, string>;
  readonly zone: Zone | null;
};

/** A file as it would be imported; `problem` says why none of it can be. */
export type Explained = Awaited<ReturnType<typeof explainFile>>;

/**
 * Looks at a file's columns and first rows. @throws FileProblem where the file cannot be read, or the call is
 * wrong
 */
export async function explainFile(explaining: Explaining) {
  const { file, fields, zone } = explaining;
  const sources = sourcesOf(explaining);
  const isProblem = sources instanceof FileProblem;
  const { prices, volumes, symbols, label } = file.mapping;
  const basis = fields.required.includes('open') ? barBasis(prices, volumes) : null;
  return {
    file: file.name,
    format: formatOf(file),
    preset: file.mapping.preset ?? null,
    isMapped: Object.keys(file.mapping.columns).length > 0 && file.mapping.isFound !== true,
    /** The column mapping that the names of its columns gave; null where nothing was found by them. */
    map: mapFound(file.mapping),
    doubt: file.mapping.doubt ?? alikeNote(file.mapping),
    /** The column of each field, or how it is made of columns. */
    columns: isProblem ? {} : { ...Object.fromEntries(sources.columns), ...sources.conversions },
    /** Field -> its value in every row. */
    values: isProblem ? file.mapping.values : Object.fromEntries(sources.values),
    zone: zone?.name ?? null,
    /** How prices are adjusted already; null where the rows have none. */
    prices: basis?.prices ?? null,
    /** How volumes are adjusted already; null where the rows have none. */
    volumes: basis === null ? null : volumeBasis(basis),
    /** Which symbols the rows have; null where nothing says it. */
    symbols: symbols ?? null,
    /** The end of bars that their datetime names; null where nothing says it. */
    label: label ?? null,
    ignoredColumns: isProblem ? [] : sources.ignored,
    lackingColumns: isProblem ? [] : sources.lacking,
    /** The first rows as they would be stored, by field; a cell that would be refused says why. */
    rows: isProblem ? [] : await firstRows(explaining, sources),
    problem: isProblem ? sources : null,
  };
}

function sourcesOf({ file, fields, flags }: Explaining): FieldSources | FileProblem {
  try {
    return findSources(file.name, file.header, fields, file.mapping, flags);
  } catch (error) {
    if (error instanceof FileProblem && error.kind !== 'usage') return error;
    throw error;
  }
}

/** The layout of a file, in words. */
export function formatOf({ format, mapping }: Pick<MappedFile, 'format' | 'mapping'>): string {
  if (mapping.convert !== undefined) return 'converted as a whole';
  if (mapping.shape !== undefined) return mapping.shape;
  if (format.kind !== 'csv') return format.kind === 'json' ? 'JSON' : 'Parquet';
  const marks: Readonly<Record<string, string>> = { ',': 'commas', '\t': 'tabs' };
  const { delimiter, headerLines = 1 } = format;
  const above = headerLines > 1 ? ` below ${headerLines - 1} ${headerLines > 2 ? 'lines' : 'line'}` : '';
  const named = mapping.header === undefined ? '' : `: ${mapping.header.join(', ')}`;
  const header = headerLines === 0 ? `without a header${named}` : `with a header${above}`;
  const encoding = mapping.encoding === undefined ? '' : ` in ${mapping.encoding}`;
  return `text${encoding} separated by ${marks[delimiter] ?? `"${delimiter}"`}, ${header}`;
}

async function firstRows({ file, zone }: Explaining, sources: FieldSources): Promise<readonly Row[]> {
  const { columns, values, derived } = sources;
  const texts = [...file.header, ...derived.map(({ name }) => name)];
  const withInstant = instantShown(zone, file.mapping.label);
  for await (const chunk of readChunks(file, { texts, numbers: [], careful: true, derived }))
    return Array.from({ length: Math.min(chunk.count, limits.explainedRows) }, (_, row) => {
      const cells = [...columns].map(([field, column]) => {
        const text = chunk.texts[texts.indexOf(column)]!.text(row);
        return [field, cellShown(field, column, text, sources)] as const;
      });
      return withInstant({ ...Object.fromEntries(values), ...Object.fromEntries(cells) });
    });
  return [];
}

/** A cell as it would be imported, or why it would be refused. */
function cellShown(field: string, column: string, text: string | null, sources: FieldSources): string | null {
  const bare = cellText(text ?? '', field === 'symbol');
  if (text === null || bare === '') return null;
  const outcome = sources.leftOut.get(column)?.takes(text) ? 'left out' : 'refused';
  if (text.startsWith(UNMADE)) {
    const { reason } = sources.derived.find(({ name }) => name === column) ?? {};
    if (reason !== undefined)
      return `${text.slice(UNMADE.length)} (${outcome}: column ${reportedColumns(sources, column)[0]} ${reason})`;
  }
  if (!(valueFields as readonly string[]).includes(field)) return bare;
  const number = numberOf(text);
  return number === null ? `${text} (${outcome}: is not a number)` : String(number);
}

type Row = Readonly<Record<string, string | null>>;

/** Shows the `datetime` of bars as the import would read it, row by row. */
function instantShown(zone: Zone | null, label: BarLabel | undefined): (row: Row) => Row {
  const cell = new InstantCell();
  const clock = zone === null ? null : new LocalClock(zone);
  const order = new RowOrder();
  const shown = (datetime: string, row: Row): string => {
    const bytes = new TextEncoder().encode(datetime);
    cell.read(bytes, 0, bytes.length);
    const { kind, ms, day } = cell;
    if (kind === 'bad') return `${datetime} (refused: is not a date or a time)`;
    const interval = parseInterval(row.interval ?? '');
    const period = interval !== null && isPeriod(interval) ? interval : null;
    const labelled = (one: number): string =>
      formatDay(period === null ? one : periodOfRow(period, one, label));
    if (day !== null && (kind === 'date' || period !== null)) return labelled(day);
    const instant = kind === 'instant' ? ms : clock?.place(ms, order);
    if (instant === undefined) return `${datetime} (has no offset: name its zone by --zone)`;
    if (typeof instant === 'string') return `${datetime} (refused: an hour that the zone has ${instant})`;
    order.add(instant);
    const asset = parseAssetSchema(row.asset_schema ?? '');
    const country = parseCountry(row.country_iso_code ?? '');
    if (asset === null || country === null) return formatInstantZ(instant);
    const calendar = calendarOf(asset, country, zone?.name);
    if (period !== null) return labelled(calendar.labelAt(instant) ?? calendar.zone.dayAt(instant));
    const minutes = interval === null ? null : intervalMinutes(interval);
    if (label !== 'close' || minutes === null) return formatInstantZ(instant);
    const openMs = openBefore(calendar, minutes, instant);
    return openMs === null
      ? `${formatInstantZ(instant)} (refused: no bar closes then)`
      : formatInstantZ(openMs);
  };
  return (row) =>
    row.datetime === undefined || row.datetime === null || row.datetime.includes('(refused')
      ? row
      : { ...row, datetime: shown(row.datetime, row) };
}
