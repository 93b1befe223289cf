// Makes a Parquet file of a streamed answer: its steps, as CSV, go to a process that writes the file.
import { Refusal } from '../../contract/errors.ts';
import { isDiskFull } from '../../disk/space.ts';
import type { QueryRequest } from '../../queries/query.ts';
import { bulkColumns, type ColumnType } from '../../queries/render/bulk-formats.ts';
import type { StreamedAnswer } from '../streamed-answers.ts';
import type { MakeFile } from './parquet-spool.ts';

/** A process that makes a Parquet file of a CSV (`src/export/parquet-process.ts`). */
export type ParquetMaker = {
  write(piece: Uint8Array): Promise<void>;
  end(): Promise<{ readonly rows: number; readonly hash: string }>;
  kill(): void;
};

/** Starts one; columns have types in the words of DuckDB. */
export type StartMaker = (
  path: string,
  columns: readonly { readonly name: string; readonly type: string }[],
) => ParquetMaker;

const types: Readonly<Record<ColumnType, string>> = {
  utf8: 'VARCHAR',
  double: 'DOUBLE',
  date: 'DATE',
  instant: 'TIMESTAMPTZ',
};

const diskFull = (cause: unknown): Refusal =>
  Object.assign(
    new Refusal('unavailable', {
      message:
        'The disk on which Parquet files are made is full: ask for csv or arrow, which need none, or again later.',
    }),
    { cause },
  );

/** Begins a streamed answer, which is not read on once it is gone. @throws Refusal, QueueError */
type Begin = (request: QueryRequest, isGone: () => boolean) => Promise<StreamedAnswer>;

/** How a request's file is made. @throws Refusal `unavailable` on a full disk */
export const makingOf =
  (begin: Begin, asked: QueryRequest, start: StartMaker): MakeFile =>
  async (path, signal) => {
    const { parameters } = asked;
    const csv = { ...asked, parameters: { ...parameters, format: 'csv' } };
    const answer = await begin(csv, () => signal.aborted);
    const columns = bulkColumns(parameters.session_date === true);
    const maker = start(
      path,
      columns.map(({ name, type }) => ({ name, type: types[type] })),
    );
    signal.addEventListener('abort', () => maker.kill(), { once: true });
    try {
      signal.throwIfAborted();
      for (let piece: Uint8Array | null = answer.first.body; piece !== null; piece = await answer.rest())
        await maker.write(piece);
      const { rows, hash } = await maker.end();
      const { rows: sent, goodUntilMs } = answer.sofar();
      if (rows !== sent) throw new Error(`the Parquet file has ${rows} of ${sent} rows`);
      return { hash, goodUntilMs, dataVersion: answer.first.dataVersion };
    } catch (error) {
      maker.kill();
      signal.throwIfAborted();
      throw isDiskFull(error) ? diskFull(error) : error;
    } finally {
      answer.release();
    }
  };
