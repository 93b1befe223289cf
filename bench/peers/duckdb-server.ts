// DuckDB over a Parquet file of bars, behind node:http. `--parquet F --key-hash H --port N`
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import duckdb, { type DataChunk } from '@duckdb/node-bindings';
import { type Asked, type BarsRequest, hashOf, type Row, readRequest, replyOf } from './reply.ts';

const { values: flags } = parseArgs({
  options: { parquet: { type: 'string' }, 'key-hash': { type: 'string' }, port: { type: 'string' } },
});

const names = ['open', 'high', 'low', 'close', 'volume', 'vwap'] as const;
const connection = await duckdb.connect(await duckdb.open(':memory:'));
const statement = await duckdb.prepare(
  connection,
  `select epoch_ms(datetime)::double as open_ms, ${names.join()} from read_parquet('${flags.parquet!.replaceAll("'", "''")}')
   where symbol = $1 and datetime >= epoch_ms($2::bigint) and datetime <= epoch_ms($3::bigint) order by datetime limit $4`,
);

/** A column of doubles. */
function column(chunk: DataChunk, index: number, rows: number): Float64Array {
  const bytes = duckdb.vector_get_data(duckdb.data_chunk_get_vector(chunk, index), rows * 8);
  return new Float64Array(bytes.buffer, bytes.byteOffset, rows);
}

// A prepared statement holds the values of one query at a time.
let turn: Promise<unknown> = Promise.resolve();

async function query({ symbol, fromMs, toMs, limit }: Asked): Promise<Row[]> {
  duckdb.bind_varchar(statement, 1, symbol);
  duckdb.bind_int64(statement, 2, BigInt(fromMs));
  duckdb.bind_int64(statement, 3, BigInt(toMs));
  duckdb.bind_int64(statement, 4, BigInt(limit + 1));
  const result = await duckdb.execute_prepared(statement);
  const rows: Row[] = [];
  for (;;) {
    const chunk = await duckdb.fetch_chunk(result);
    const count = chunk === null ? 0 : duckdb.data_chunk_get_size(chunk);
    if (chunk === null || count === 0) return rows;
    const [openMs, open, high, low, close, volume, vwap] = Array.from(
      { length: names.length + 1 },
      (_, index) => column(chunk, index, count),
    ) as [Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array, Float64Array];
    for (let row = 0; row < count; row++) {
      rows.push({
        open_ms: openMs[row]!,
        open: open[row]!,
        high: high[row]!,
        low: low[row]!,
        close: close[row]!,
        volume: volume[row]!,
        vwap: vwap[row]!,
      });
    }
  }
}

const pattern = /^\/api\/v2\/([^/]+)\/bars\/([^/]+)\/([^/]+)\/from\/([^/]+)\/to\/([^/]+)$/;

function send(response: ServerResponse, status: number, answer: unknown): void {
  const body = JSON.stringify(answer);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
  });
  response.end(body);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url!, `http://${request.headers.host}`);
  const found = pattern.exec(url.pathname);
  if (found === null) return send(response, 404, { error: 'not_found' });
  const [, schema, name, interval, from, to] = found as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const params: BarsRequest['Params'] = { schema, name, interval, from, to };
  const asking: BarsRequest['Querystring'] = Object.fromEntries(url.searchParams);
  if (hashOf(asking.secret_key) !== flags['key-hash']) return send(response, 401, { error: 'invalid_key' });
  const asked = readRequest(params, asking);
  if (asked === null) return send(response, 400, { error: 'invalid_parameter' });
  const rows = turn.then(() => query(asked));
  turn = rows.catch(() => undefined);
  send(response, 200, replyOf({ params, query: asking, host: url.host }, asked, null, await rows));
}

createServer((request, response) => {
  answer(request, response).catch((error: unknown) => send(response, 500, { error: String(error) }));
}).listen(Number(flags.port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
