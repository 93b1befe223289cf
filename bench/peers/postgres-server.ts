// Fastify over PostgreSQL, a row a bar. `--form rows|json_agg --socket DIR --pg-port N --key-hash H --port N`
import { parseArgs } from 'node:util';
import fastify from 'fastify';
import pg from 'pg';
import {
  BARS_ROUTE,
  type BarsRequest,
  hashOf,
  nextPageUrl,
  type Row,
  readRequest,
  replyOf,
} from './reply.ts';

const { values: flags } = parseArgs({
  options: {
    form: { type: 'string' },
    socket: { type: 'string' },
    'pg-port': { type: 'string' },
    'key-hash': { type: 'string' },
    port: { type: 'string' },
  },
});

const CONNECTIONS = 8;
const pool = new pg.Pool({
  host: flags.socket!,
  port: Number(flags['pg-port']),
  user: 'bench',
  database: 'postgres',
  max: CONNECTIONS,
});

const page = `select open_at, open, high, low, close, volume, vwap from bars
  where instrument_id = (select id from instruments where asset_schema = $1 and country = $2 and symbol = $3)
    and interval = $4 and open_at >= $5 and open_at <= $6 order by open_at limit $7::int + 1`;

const rowsQuery = {
  name: 'rows',
  text: `select extract(epoch from open_at)::float8 * 1000 as open_ms, open, high, low, close, volume, vwap from (${page}) page`,
};

const jsonQuery = {
  name: 'json_agg',
  text: `with page as (${page})
    select (select open_at from page offset $7::int limit 1) as next, least((select count(*) from page), $7::int) as count,
      (select json_agg(bar) from (select upper($1) as asset_schema, $4 as interval, $2 as country_iso_code, null as exchange,
         $3 as symbol, open_at as datetime, open_at + interval '1 minute' as close_datetime, open, high, low, close, volume, vwap
         from page order by open_at limit $7::int) bar)::text as data`,
};

type Json = { readonly next: Date | null; readonly count: string; readonly data: string };

const app = fastify();
app.get<BarsRequest>(BARS_ROUTE, async (request, reply) => {
  const { params, query, host } = request;
  if (hashOf(query.secret_key) !== flags['key-hash']) return reply.code(401).send({ error: 'invalid_key' });
  const asked = readRequest(params, query);
  if (asked === null) return reply.code(400).send({ error: 'invalid_parameter' });
  const { country, symbol, fromMs, toMs, limit } = asked;
  const range = [new Date(fromMs), new Date(toMs)];
  const values = [params.schema, country, symbol, params.interval, ...range, limit];
  if (flags.form === 'rows') {
    const { rows } = await pool.query<Row>({ ...rowsQuery, values });
    return replyOf(request, asked, null, rows);
  }
  const { rows } = await pool.query<Json>({ ...jsonQuery, values });
  const { next, count, data } = rows[0]!;
  const key = next?.toISOString() ?? null;
  const url = key === null ? null : nextPageUrl(host, params, query, limit, key);
  reply.header('Content-Type', 'application/json; charset=utf-8');
  return `{"status":"ok","code":200,"message":"Request processed successfully","reference":null,"result":{"next_page_key":${JSON.stringify(key)},"next_page_url":${JSON.stringify(url)},"count":${count},"data":${data}}}`;
});
await app.listen({ port: Number(flags.port), host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
