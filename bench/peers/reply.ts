// The answer for bars as most people would write it: objects of rows, for JSON.stringify. The servers of rows
// share it.
import { createHash } from 'node:crypto';

const MINUTE_MS = 60_000;

/** Bars of one request at most. */
export const LIMIT_MAX = 10_000;

/** The numbers of a row. */
export type Row = {
  readonly open_ms: number;
  readonly open: number;
  readonly high: number;
  readonly low: number;
  readonly close: number;
  readonly volume: number;
  readonly vwap: number;
};

/** The route of bars, for Fastify. */
export const BARS_ROUTE = '/api/v2/:schema/bars/:name/:interval/from/:from/to/:to';

/** The parts of a request of that route. */
export type BarsRequest = {
  Params: Record<'schema' | 'name' | 'interval' | 'from' | 'to', string>;
  Querystring: { secret_key?: string; limit?: string; next_page_key?: string };
};

/** A request, checked. */
export type Asked = {
  readonly country: string;
  readonly symbol: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly limit: number;
};

/** The hash of a key. */
export const hashOf = (key: string | undefined): string =>
  createHash('sha256')
    .update(key ?? '')
    .digest('hex');

/** Reads a request; null where it is not right. */
export function readRequest(params: BarsRequest['Params'], query: BarsRequest['Querystring']): Asked | null {
  const limit = Number(query.limit ?? 100);
  const fromMs = Date.parse(query.next_page_key ?? params.from);
  const toMs = Date.parse(params.to);
  if (!(limit >= 1 && limit <= LIMIT_MAX && fromMs <= toMs)) return null;
  const [country, symbol] = params.name.split(':') as [string, string];
  return { country, symbol, fromMs, toMs, limit };
}

/** The address of the next page. */
export function nextPageUrl(
  host: string,
  params: BarsRequest['Params'],
  query: BarsRequest['Querystring'],
  limit: number,
  next: string,
): string {
  const path = `/api/v2/${params.schema}/bars/${params.name}/${params.interval}/from/${params.from}/to/${params.to}`;
  return `http://${host}${path}?limit=${limit}&secret_key=${query.secret_key}&next_page_key=${next}`;
}

/** The answer of rows, of which there is one more than was asked for where there is a next page. */
export function replyOf(
  { params, query, host }: { params: BarsRequest['Params']; query: BarsRequest['Querystring']; host: string },
  asked: Asked,
  exchange: string | null,
  rows: Row[],
) {
  const next = rows.length > asked.limit ? new Date(rows.pop()!.open_ms).toISOString() : null;
  return {
    status: 'ok',
    code: 200,
    message: 'Request processed successfully',
    reference: null,
    result: {
      next_page_key: next,
      next_page_url: next === null ? null : nextPageUrl(host, params, query, asked.limit, next),
      count: rows.length,
      data: rows.map((row) => ({
        asset_schema: params.schema.toUpperCase(),
        interval: params.interval,
        country_iso_code: asked.country,
        exchange,
        symbol: asked.symbol,
        datetime: new Date(row.open_ms).toISOString(),
        close_datetime: new Date(row.open_ms + MINUTE_MS).toISOString(),
        open: row.open,
        high: row.high,
        low: row.low,
        close: row.close,
        volume: row.volume,
        vwap: row.vwap,
      })),
    },
  };
}
