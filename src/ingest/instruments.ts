// Instruments of a file into the store: typed fields, one row an instrument; what is missing comes from the market.
import { parseDay } from '../base/instant.ts';
import { findZone } from '../calendar/zone.ts';
import { parseAssetSchema, parseCountry, parseSymbol, symbolAllowed } from '../contract/identifiers.ts';
import { parseFlag } from '../contract/parameter.ts';
import type { ColumnKind } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import type { Store, Writer } from '../store/store.ts';
import { numberOf } from './check.ts';
import type { SourceFile } from './file.ts';
import { changeRow } from './journal.ts';
import { type InstrumentName, newInstrument } from './load.ts';
import { type FieldMap, type FieldNames, type Mapping, mapFields } from './mapping.ts';
import { FileProblem, type RowProblem } from './problem.ts';
import { type Chunk, readChunks } from './read.ts';
import { type ImportReport, RefusedRows } from './report.ts';
import { type ImportRequest, runImport } from './run.ts';

const given = ['instrument_id', 'asset_id'];
const names = ['asset_schema', 'country_iso_code', 'symbol'];
const fieldsOfDataset = Object.keys(instruments.columns).filter((column) => !given.includes(column));

/** The fields of an instruments file (contract 11). Identifiers are given out by the store alone. */
export const instrumentFields: FieldNames = {
  required: names,
  optional: fieldsOfDataset.filter((column) => !names.includes(column)),
  flags: {
    asset_schema: '--schema',
    country_iso_code: '--country',
    symbol: '--symbol',
    exchange: '--exchange',
  },
};

/** Imports one file of instruments. @throws FileProblem when nothing of it can be imported */
export async function importInstruments(
  store: Store,
  request: ImportRequest & { readonly map: FieldMap },
): Promise<ImportReport> {
  const { file } = request;
  const refused = new RefusedRows(file);
  try {
    const mapping = mapFields(file.name, file.header, instrumentFields, request.map, request.flags);
    checkConstants(mapping);
    const report = await runImport(store, request, 'instruments', async (writer, runId) => {
      const pass = new InstrumentPass(writer, runId, mapping, file, refused);
      for await (const chunk of readChunks(file, { texts: file.header, numbers: [], careful: true })) {
        await pass.take(chunk);
        request.onRows?.(pass.rowsRead);
      }
      if (pass.rowsRead === 0) throw new FileProblem('content', `${file.name}: has no rows`);
      const result = {
        rowsRead: pass.rowsRead,
        rowsWritten: pass.rowsWritten,
        rowsUnchanged: pass.rowsRead - pass.rowsWritten - refused.count,
        rowsRefused: refused.count,
        newInstruments: pass.newInstruments,
        outsideSessions: 0,
        offGrid: 0,
        vwapOutside: 0,
        ignoredColumns: mapping.ignored,
        refused: refused.first,
      };
      return { result, finish: async () => undefined };
    });
    return { ...report, rejectedFile: refused.keep(request.dryRun) };
  } finally {
    refused.drop();
  }
}

/** The value of a cell by the kind of its column; undefined when it is none. */
function parseCell(kind: ColumnKind, text: string): unknown {
  if (kind === 'boolean') return parseFlag(text);
  if (kind === 'json') return parseJson(text);
  if (kind !== 'integer' && kind !== 'real') return text;
  const number = numberOf(text);
  return number === null ||
    Math.abs(number) === Infinity ||
    (kind === 'integer' && !Number.isSafeInteger(number))
    ? undefined
    : number;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const clockRule = {
  holds: (text: string) => /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(text),
  reason: 'must be a time HH:MM:SS',
};

/** Rules of single fields beyond their kind. */
const rules: Readonly<
  Record<string, { readonly holds: (text: string) => boolean; readonly reason: string }>
> = {
  asset_schema: {
    holds: (text) => parseAssetSchema(text) !== null,
    reason: 'must be stock, future, crypto, forex or option',
  },
  country_iso_code: {
    holds: (text) => parseCountry(text) !== null,
    reason: 'must be a two-letter code such as US, or GLOBAL',
  },
  symbol: { holds: (text) => parseSymbol(text) !== null, reason: `must be ${symbolAllowed}` },
  status: { holds: (text) => text === 'active' || text === 'inactive', reason: 'must be active or inactive' },
  time_zone: { holds: (text) => findZone(text) !== null, reason: 'is not a time zone' },
  listing_date: { holds: (text) => parseDay(text) !== null, reason: 'must be a date YYYY-MM-DD' },
  open_time: clockRule,
  close_time: clockRule,
};

/** A value given for the whole file that no row could have is wrong usage. */
function checkConstants(mapping: Mapping): void {
  for (const [field, value] of mapping.values) {
    const rule = rules[field];
    if (rule !== undefined && !rule.holds(value))
      throw new FileProblem('usage', `${instrumentFields.flags[field] ?? field} ${value}: ${rule.reason}`);
  }
}

const canonical: Readonly<Record<string, (text: string) => string>> = {
  asset_schema: (text) => parseAssetSchema(text)!,
  country_iso_code: (text) => parseCountry(text)!,
  symbol: (text) => parseSymbol(text)!,
  exchange: (text) => text.toUpperCase(),
};

/** One pass over a file of instruments. */
class InstrumentPass {
  rowsRead = 0;
  rowsWritten = 0;
  newInstruments = 0;
  readonly #writer: Writer;
  readonly #runId: number;
  readonly #mapping: Mapping;
  readonly #source: SourceFile;
  readonly #refused: RefusedRows;
  readonly #seen = new Map<string, string>();

  constructor(writer: Writer, runId: number, mapping: Mapping, source: SourceFile, refused: RefusedRows) {
    this.#writer = writer;
    this.#runId = runId;
    this.#mapping = mapping;
    this.#source = source;
    this.#refused = refused;
  }

  async take(chunk: Chunk): Promise<void> {
    for (let row = 0; row < chunk.count; row++) {
      const parsed = this.#parse(chunk, row);
      if ('reason' in parsed) {
        const cells = chunk.texts.map((column) => column.text(row));
        this.#refused.add({ row: chunk.firstRow + row, ...parsed, cells });
      } else await this.#store(parsed.values);
    }
    this.rowsRead += chunk.count;
  }

  /** The values that a row gives, by field; fields whose cell is empty are left out. */
  #parse(chunk: Chunk, row: number): RowProblem | { values: Record<string, unknown> } {
    if (chunk.surplus?.isNull(row) === false)
      return { column: 'row', reason: 'has more cells than the header has columns' };
    const values: Record<string, unknown> = {};
    for (const field of fieldsOfDataset) {
      const column = this.#mapping.columns.get(field);
      const text =
        this.#mapping.values.get(field) ??
        (column === undefined ? null : chunk.texts[this.#source.header.indexOf(column)]!.text(row));
      const at = column ?? field;
      if (text === null || text === '') {
        if (names.includes(field)) return { column: at, reason: 'is missing' };
        continue;
      }
      const rule = rules[field];
      if (rule !== undefined && !rule.holds(text)) return { column: at, reason: rule.reason };
      const { kind } = instruments.columns[field as keyof typeof instruments.columns];
      const value = parseCell(kind, canonical[field]?.(text) ?? text);
      if (value === undefined || Number.isNaN(value))
        return { column: at, reason: `is not ${kind === 'json' ? 'JSON' : `a ${kind}`}` };
      values[field] = value;
    }
    return this.#repeated(values) ?? { values };
  }

  /** A file may name an instrument twice only with the same values. */
  #repeated(values: Record<string, unknown>): RowProblem | null {
    const key = names.map((name) => String(values[name])).join(':');
    const text = JSON.stringify(values);
    const before = this.#seen.get(key);
    this.#seen.set(key, before ?? text);
    return before === undefined || before === text
      ? null
      : { column: 'symbol', reason: 'the file has this instrument already, with other values' };
  }

  async #store(values: Record<string, unknown>): Promise<void> {
    const name = {
      asset_schema: values.asset_schema,
      country_iso_code: values.country_iso_code,
      symbol: values.symbol,
    } as InstrumentName;
    const [known] = await this.#writer.rows(instruments, {
      where: name,
      order: [['symbol', 'asc']],
      limit: 1,
    });
    const changed = { ...(known ?? (await newInstrument(this.#writer, name))), ...values };
    if (known === undefined) this.newInstruments++;
    else if (JSON.stringify(known) === JSON.stringify(changed)) return;
    this.rowsWritten++;
    await changeRow(this.#writer, this.#runId, instruments, known ?? null, changed);
  }
}
