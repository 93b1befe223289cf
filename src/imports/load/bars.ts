// Imports the bars of a file: read fast, a large one by another process, or cell by cell.
import { moduleBeside } from '../../base/runtime.ts';
import { barFields, seriesFields, valueFields } from '../../store/schema/bars.ts';
import { constantProblem, type FieldSources, findSources, type MappedFile } from '../map/column-mapping.ts';
import { namesOf } from '../map/field-names.ts';
import { SMALL_FILE_BYTES } from '../read/digest.ts';
import { FileProblem, NeedsCare } from '../read/file-problem.ts';
import { readChunks } from '../read/read.ts';
import { asked, readBy } from '../read/reader-process.ts';
import {
  type BarReading,
  type BatchesAsked,
  type BatchHead,
  barsOf,
  readBatches,
  SpareArrays,
} from './bar-batches.ts';
import { BarChunker, type BarTypes, barTypesOf } from './bar-chunk.ts';
import { BarPass, nameProblem } from './bar-pass.ts';
import type { ImportGroup } from './import-group.ts';
import { type PendingImport, withRefusedRows } from './refused-rows.ts';
import { type ImportRequest, runImport } from './run.ts';

readBy(moduleBeside('./bar-reader.ts', import.meta.url));

const names = { ...namesOf(barFields), numbers: valueFields };

/**
 * Imports one file of bars. CSV and Parquet are read fast; at the first problem the import starts again with
 * a careful reading, which can name every refused row. @throws FileProblem where nothing of it can be
 * imported
 */
export async function importBars(group: ImportGroup, request: ImportRequest): Promise<PendingImport> {
  const { file } = request;
  const mapping = findSources(file.name, file.header, names, request.file.mapping, request.flags);
  checkConstants(mapping, request);
  const types = barTypesOf(file, mapping.columns);
  if (types !== null) {
    try {
      return await importOnce(group, request, mapping, (pass) => readFast(file, mapping, types, pass));
    } catch (error) {
      if (!(error instanceof NeedsCare)) throw error;
    }
  }
  return importOnce(group, request, mapping, (pass) => readCarefully(file, mapping, pass));
}

/** Refuses a value for the whole file that no row could have. */
function checkConstants(mapping: FieldSources, { file, flags }: ImportRequest): void {
  for (const field of mapping.values.keys()) {
    if ((seriesFields as readonly string[]).includes(field)) continue;
    throw new FileProblem(
      'usage',
      `the map gives ${field} one value for the whole file: only ${seriesFields.join(', ')} can have one`,
    );
  }
  for (const field of seriesFields) {
    const value = mapping.values.get(field);
    const problem = value === undefined ? null : nameProblem(field, value);
    if (problem !== null)
      throw constantProblem(file, flags, { field, flag: barFields[field]!.flag }, value!, problem.reason);
  }
}

async function importOnce(
  group: ImportGroup,
  request: ImportRequest,
  mapping: FieldSources,
  read: (pass: BarPass) => Promise<void>,
): Promise<PendingImport> {
  const { file } = request;
  return withRefusedRows(request, (refused) =>
    runImport(group, request, 'bars', async (writer, run) => {
      const pass = new BarPass(writer, run, request, mapping, refused);
      await read(pass);
      // The digest finds an open quote, which may contain all rows.
      const { sha256 } = await file.digest();
      if (pass.rowsRead === 0 && !(saysAll(request) && (await pass.holdEmpty())))
        throw new FileProblem('content', `${file.name}: has no rows`);
      await pass.load.settle();
      const openTimes = await pass.load.openTimes(sha256);
      return { result: { ...pass.result(), openTimes }, finish: () => pass.load.finish(sha256) };
    }),
  );
}

/**
 * Whether the caller says from when to when a file has every bar: then it may have none (contract 3.9 (1)).
 */
const saysAll = ({ completeFromMs = null, completeThroughMs = null }: ImportRequest): boolean =>
  completeFromMs !== null && completeThroughMs !== null;

/**
 * Loads a file that another process reads, or a small one that this thread reads. @throws NeedsCare at the
 * first problem
 */
async function readFast(
  source: MappedFile,
  { columns, derived }: FieldSources,
  types: BarTypes,
  pass: BarPass,
): Promise<void> {
  const { name, path, format, header, content, bytes } = source;
  const file = { name, path, format, header, types: source.types, ...(content !== undefined && { content }) };
  const reading: BarReading = { file, columns, types, derived };
  if (bytes > SMALL_FILE_BYTES) await loadFromReader(reading, pass);
  else await loadHere(reading, pass);
  const { mayHaveOddNumbers, isUtf8 } = await source.digest();
  if (format.kind === 'csv' && (mayHaveOddNumbers || !isUtf8)) throw new NeedsCare();
}

async function loadHere(reading: BarReading, pass: BarPass): Promise<void> {
  const spare = new SpareArrays();
  for await (const batch of readBatches(reading, spare)) {
    await pass.add(batch, null);
    spare.give(batch.arrays);
  }
}

/** A large file is read by another process, a few batches ahead. */
async function loadFromReader(reading: BarReading, pass: BarPass): Promise<void> {
  const { file, columns } = reading;
  const { content: _, ...about } = file;
  // Functions cannot be sent: there the columns are computed by SQL alone.
  const derived = reading.derived.map((column) => ({ ...column, plain: undefined }));
  const request: BatchesAsked = {
    kind: 'batches',
    reading: { ...reading, file: about, columns: [...columns], derived },
  };
  for await (const { head, body } of asked<BatchHead>(file.name, request))
    await pass.add(barsOf(head, body), null);
}

/** Loads a file cell by cell, so that refused rows can be named. */
async function readCarefully(source: MappedFile, mapping: FieldSources, pass: BarPass): Promise<void> {
  const { columns, derived } = mapping;
  const texts = [...source.header, ...derived.map(({ name }) => name)];
  const width = source.header.length;
  const chunker = new BarChunker(columns, { texts, numbers: [], moment: null });
  for await (const read of readChunks(source, { texts, numbers: [], careful: true, derived })) {
    const { chunk, strange } = chunker.parse(read, columns, derived);
    await pass.add(chunk, { read, strange, width });
  }
}
