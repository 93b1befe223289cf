// Bars of a file into the store: read fast in a thread beside, or cell by cell.
import { Worker } from 'node:worker_threads';
import { moduleBeside } from '../base/module.ts';
import { seriesFields, valueFields } from '../datasets/bars.ts';
import { FileProblem } from '../files/file-problem.ts';
import { NeedsCare, readChunks } from '../files/read.ts';
import type { ImportReport } from '../history/import-report.ts';
import { type ImportRequest, runImport } from '../history/run.ts';
import type { MappedFile } from '../mapping/column-mapping.ts';
import { type FieldNames, type FieldSources, findSources } from '../mapping/column-mapping.ts';
import type { Store } from '../store/store.ts';
import { type BarChunk, BarChunker } from './bar-chunk.ts';
import { BarPass, nameProblem } from './bar-pass.ts';
import type { BarThreadMessage, BarThreadSetup } from './bar-thread.ts';
import { RefusedRows } from './refused-rows.ts';

/** The fields of a bars file (contract 11). */
export const barFields: FieldNames = {
  required: [
    'datetime',
    'open',
    'high',
    'low',
    'close',
    'asset_schema',
    'country_iso_code',
    'symbol',
    'interval',
  ],
  optional: ['volume', 'vwap', 'exchange'],
  numbers: valueFields,
  flags: {
    asset_schema: '--schema',
    country_iso_code: '--country',
    symbol: '--symbol',
    interval: '--interval',
    exchange: '--exchange',
  },
};

/**
 * Imports one file of bars. A file without a fault is read fast; the first thing that is odd starts it over, carefully,
 * so that every refused row can be named. @throws FileProblem when nothing of it can be imported
 */
export async function importBars(store: Store, request: ImportRequest): Promise<ImportReport> {
  const { file } = request;
  const mapping = findSources(file.name, file.header, barFields, request.file.mapping, request.flags);
  checkConstants(mapping);
  if (file.format.kind === 'csv') {
    try {
      return await importOnce(store, request, mapping, takeFast);
    } catch (error) {
      if (!(error instanceof NeedsCare)) throw error;
    }
  }
  return importOnce(store, request, mapping, takeCarefully);
}

/** A value given for the whole file that no row could have is wrong usage. */
function checkConstants(mapping: FieldSources): void {
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
      throw new FileProblem('usage', `${barFields.flags[field]} ${value}: ${problem.reason}`);
  }
}

type Reading = (source: MappedFile, mapping: FieldSources, pass: BarPass) => Promise<void>;

async function importOnce(
  store: Store,
  request: ImportRequest,
  mapping: FieldSources,
  read: Reading,
): Promise<ImportReport> {
  const { file } = request;
  const refused = new RefusedRows(file);
  try {
    const report = await runImport(store, request, 'bars', async (writer, runId) => {
      const pass = new BarPass(writer, runId, request, mapping, refused);
      await read(file, mapping, pass);
      if (pass.rowsRead === 0) {
        // An open quote may hold them all.
        await file.digest();
        throw new FileProblem('content', `${file.name}: has no rows`);
      }
      await pass.load.settle();
      return { result: pass.result(), finish: (finishedMs) => pass.load.finish(finishedMs) };
    });
    return { ...report, rejectedFile: refused.keep(request.dryRun) };
  } finally {
    refused.drop();
  }
}

/** Takes a file from a thread that reads it; the first problem ends it. */
async function takeFast(source: MappedFile, mapping: FieldSources, pass: BarPass): Promise<void> {
  const { name, path, format, header, types } = source;
  const setup: BarThreadSetup = {
    file: { name, path, format, header, types },
    columns: mapping.columns,
    derived: mapping.derived,
  };
  const thread = new Worker(moduleBeside('./bar-thread.ts', import.meta.url), { workerData: setup });
  try {
    for await (const chunk of batchesOf(thread)) {
      await pass.take(chunk, null);
      thread.postMessage('taken in');
    }
  } finally {
    await thread.terminate();
  }
  const { mayHaveOddNumbers, isUtf8 } = await source.digest();
  if (mayHaveOddNumbers || !isUtf8) throw new NeedsCare();
}

/** What the thread has read, batch after batch. @throws what it threw */
async function* batchesOf(thread: Worker): AsyncGenerator<BarChunk> {
  const messages: BarThreadMessage[] = [];
  let wake: () => void = () => undefined;
  let failure: Error | null = null;
  thread.on('message', (message: BarThreadMessage) => {
    messages.push(message);
    wake();
  });
  thread.once('error', (error) => {
    failure = error instanceof Error ? error : new Error(String(error));
    wake();
  });
  for (;;) {
    const message = messages.shift();
    if (message === undefined) {
      if (failure !== null) throw failure as Error;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    } else if (message.kind === 'batch') yield message.chunk;
    else if (message.kind === 'end') return;
    else if (message.kind === 'care') throw new NeedsCare();
    else throw new FileProblem(message.usage ? 'usage' : 'content', message.message);
  }
}

/** Takes a file cell by cell, so that what is refused can be named. */
async function takeCarefully(source: MappedFile, mapping: FieldSources, pass: BarPass): Promise<void> {
  const { columns, derived } = mapping;
  const texts = [...source.header, ...derived.map(({ name }) => name)];
  const width = source.header.length;
  const chunker = new BarChunker(columns, texts, []);
  for await (const read of readChunks(source, { texts, numbers: [], careful: true, derived })) {
    const { chunk, strange } = chunker.parseValues(read, columns, derived);
    await pass.take(chunk, { read, strange, width });
  }
}
