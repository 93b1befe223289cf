// Makes a Parquet file of a streamed answer: its steps go to a process that writes the file.

import { isDiskFull } from '../../base/space.ts';
import { Refusal } from '../../contract/errors.ts';
import { adjustedHeaders } from '../../queries/adjusted.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { bulkColumns, type ColumnType } from '../../queries/render/bulk-formats.ts';
import type { StreamedAnswer } from '../streamed-answers.ts';
import type { MakeFile } from './parquet-spool.ts';

/** A process that makes a Parquet file of a CSV (`src/queries/export/parquet-process.ts`). */
type ParquetMaker = {
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<{ readonly rows: number; readonly hash: string }>;
  kill(): void;
};

/**
 * A column of the CSV: its type as it is read, in the words of DuckDB, and the SQL of its value, in which `$`
 * is what was read.
 */
type MadeColumn = { readonly name: string; readonly type: string; readonly sql: string };

/** Starts one; the CSV has no header. */
export type StartMaker = (path: string, columns: readonly MadeColumn[]) => ParquetMaker;

/** Dates come in days and instants in seconds (`queries/render/bulk-formats.ts`). */
const types: Readonly<Record<ColumnType, Omit<MadeColumn, 'name'>>> = {
  utf8: { type: 'VARCHAR', sql: '$' },
  double: { type: 'DOUBLE', sql: '$' },
  date: { type: 'INTEGER', sql: "date '1970-01-01' + $" },
  instant: { type: 'BIGINT', sql: 'make_timestamptz($ * 1000000)' },
};

const diskFull = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal('unavailable', {
      message:
        'The disk on which Parquet files are made is full: ask for csv or arrow, which need no file, or try again later.',
    }),
    { cause },
  );

/** Begins a streamed answer, which is not read on once it is gone. @throws Refusal, QueueError */
export type Begin = (
  request: QueryRequest,
  isGone: () => boolean,
  held: DisposableStack,
) => Promise<StreamedAnswer>;

/** Gives the function that makes a request's file. @throws Refusal `unavailable` on a full disk */
export const makingOf =
  (begin: Begin, asked: QueryRequest, start: StartMaker): MakeFile =>
  async (path, signal) => {
    const { parameters } = asked;
    const held = new DisposableStack();
    try {
      const answer = await begin(asked, () => signal.aborted, held);
      const columns = bulkColumns(parameters.session_date === true);
      const maker = start(
        path,
        columns.map(({ name, type }) => ({ name, ...types[type] })),
      );
      // Once it has ended, this does nothing.
      held.defer(() => maker.kill());
      signal.addEventListener('abort', () => maker.kill(), { once: true });
      signal.throwIfAborted();
      // The next step is read while the process takes the one before.
      for (let piece: Uint8Array | null = answer.first.body; piece !== null; )
        [piece] = await Promise.all([answer.rest(), maker.write(piece)]);
      const { rows, hash } = await maker.end();
      const { rows: sent, goodUntilMs, adjusted } = answer.sofar();
      if (rows !== sent) throw new Error(`the Parquet file has ${rows} of ${sent} rows`);
      const { dataVersion, headers } = answer.first;
      return { hash, goodUntilMs, dataVersion, headers: { ...headers, ...adjustedHeaders(adjusted) } };
    } catch (error) {
      signal.throwIfAborted();
      throw isDiskFull(error) ? diskFull(error) : error;
    } finally {
      held.dispose();
    }
  };
