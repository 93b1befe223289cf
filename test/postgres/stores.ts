// Stores in PostgreSQL as tests use them: each is a schema of the server that TEST_POSTGRES names.
import { createHash } from 'node:crypto';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { Cells } from '../sqlite/files.ts';
import type { QueryAnswer, QueryThreadData, Question } from './query.ts';

const server = (): string => {
  const url = process.env.TEST_POSTGRES;
  if (url === undefined) throw new Error('TEST_POSTGRES names no server: run npm run test:postgres');
  return url;
};

const schemaOfName = (folder: string, name: string): string =>
  `t${createHash('sha256').update(`${folder}/${name}`).digest('hex').slice(0, 20)}`;

/** The schemas that this process made, by folder. */
const made = new Map<string, Set<string>>();

/** The address of the store of a name in a folder. */
export function schemaStore(folder: string, name: string): string {
  const schema = schemaOfName(folder, name);
  made.set(folder, (made.get(folder) ?? new Set()).add(schema));
  return `${server()}?schema=${schema}`;
}

const schemaOf = (url: string): string => /[?&]schema=(\w+)/.exec(url)![1]!;

/** The thread that asks, and the count of its answers. */
type Asking = { readonly port: MessagePort; readonly answered: Int32Array };

let asking: Asking | null = null;

function startAsking(): Asking {
  const { port1, port2 } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData = { url: server(), port: port2, answered } satisfies QueryThreadData;
  new Worker(new URL('./query.ts', import.meta.url), { workerData, transferList: [port2] }).unref();
  port1.unref();
  return { port: port1, answered };
}

/** A server that other tests keep busy has so long. */
const ANSWER_MS = 60_000;

/** Waits for the answer without a turn of the event loop. */
function query(schema: string, sql: string): unknown {
  asking ??= startAsking();
  const { port, answered } = asking;
  const before = Atomics.load(answered, 0);
  port.postMessage({ schema, sql } satisfies Question);
  Atomics.wait(answered, 0, before, ANSWER_MS);
  const received = receiveMessageOnPort(port) as { message: QueryAnswer } | undefined;
  if (received === undefined) throw new Error(`no answer within ${ANSWER_MS} ms: ${sql}`);
  const { message } = received;
  if (message.problem !== undefined) throw new Error(`${message.problem}: ${sql}`);
  return message.found;
}

export const rowsOfSchema = (url: string, sql: string): Cells[] => query(schemaOf(url), sql) as Cells[];

/** Changes a store past the service. */
export function alterSchema(url: string, ...statements: readonly string[]): void {
  for (const statement of statements) query(schemaOf(url), statement);
}

/** Every row of every table. */
const tablesOf = (url: string): Readonly<Record<string, Cells[]>> =>
  query(schemaOf(url), '') as Readonly<Record<string, Cells[]>>;

/** Every cell of every table. */
export function bytesOfSchema(url: string): Buffer {
  const cells = Object.values(tablesOf(url)).flatMap((rows) => rows.flatMap((row) => Object.values(row)));
  return Buffer.concat(
    cells.flatMap((cell) => [
      cell instanceof Uint8Array ? cell : Buffer.from(String(cell)),
      Buffer.from('\n'),
    ]),
  );
}

/** Every row of every table, blobs as hashes. */
export function contentOfSchema(url: string): Readonly<Record<string, readonly Cells[]>> {
  const plain = (cell: unknown): unknown =>
    cell instanceof Uint8Array ? createHash('sha256').update(cell).digest('hex') : cell;
  return Object.fromEntries(
    Object.entries(tablesOf(url)).map(([name, found]) => {
      const rows = found.map((row) =>
        Object.fromEntries(Object.entries(row).map(([column, cell]) => [column, plain(cell)])),
      );
      return [name, rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))];
    }),
  );
}

/** Copies a store that nobody has open. */
export function copySchema(from: string, to: string): void {
  const [source, target] = [schemaOf(from), schemaOf(to)];
  query(
    'public',
    `do $$ declare t text; begin
      execute 'drop schema if exists ${target} cascade'; execute 'create schema ${target}';
      for t in select tablename from pg_tables where schemaname = '${source}' loop
        execute format('create table ${target}.%I (like ${source}.%I including all)', t, t);
        execute format('insert into ${target}.%I select * from ${source}.%I', t, t);
      end loop; end $$`,
  );
}

/** Drops the stores of a folder. */
export function dropSchemas(folder: string): void {
  for (const schema of made.get(folder) ?? []) query('public', `drop schema if exists ${schema} cascade`);
  made.delete(folder);
}
