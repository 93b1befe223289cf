// What a key asks a service for, surface by surface: each has resources of its own, which keys share.

/** A request without its key. */
export type Sent = { readonly target: string; readonly body?: string };

/** The n-th of many requests: no two have the same answer in the response cache, or the same file. */
type Surface = (n: number) => Sent;

const FIRST_MS = Date.UTC(2014, 11, 1);
const LAST = '2025-12-31';

/** An instant a second after that of the request before. */
const instant = (n: number): string => new Date(FIRST_MS + n * 1_000).toISOString().replace('.000Z', 'Z');

/** A range and a limit of a list of sessions or findings. */
const page = (n: number): string => {
  const [day, limit] = [Math.floor(n / 1_000), 1 + (n % 1_000)];
  return `from_date=${instant(day * 86_400).slice(0, 10)}&limit=${limit}`;
};

const call = (method: string, params?: object): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) });

const bulk =
  (format: string, symbol: string): Surface =>
  (n) => ({
    target: `/api/v2/stock/bulk/bars/US/1M/from/${instant(n)}/to/${LAST}?format=${format}&symbols=${symbol}`,
  });

/** Small requests for a stock of the US that has some minutes. */
export const surfaces = (symbol: string): Readonly<Record<string, Surface>> => ({
  'plain HTTP': (n) => ({
    target: `/api/v2/stock/bars/US:${symbol}/1M/from/${instant(n)}/to/${LAST}?limit=10`,
  }),
  bulk: bulk('csv', symbol),
  Parquet: bulk('parquet', symbol),
  'a tool of /mcp': (n) => {
    const args = { schema_asset: 'stock', country_symbol: `US:${symbol}`, interval: '1M', limit: 10 };
    const range = { from_date: instant(n), to_date: LAST };
    return {
      target: '/mcp?',
      body: call('tools/call', { name: 'get_ohlc', arguments: { ...args, ...range } }),
    };
  },
  'the list of /mcp': () => ({ target: '/mcp?', body: call('tools/list') }),
  coverage: (n) => ({
    target: `/api/v2/stock/coverage/US:${symbol}?interval=1M&${page(n)}`,
  }),
  findings: (n) => ({
    target: `/api/v2/stock/findings/US:${symbol}?${page(n)}`,
  }),
});

/** A request for `fetch`, which gives it the other headers itself. */
export function initOf(sent: Sent, key: string): RequestInit {
  const { host: _, 'content-length': __, ...headers } = headersOf(sent, key);
  return { method: sent.body === undefined ? 'GET' : 'POST', headers, ...(sent.body && { body: sent.body }) };
}

/** Headers of a request, with its key. */
export const headersOf = ({ body }: Sent, key: string): Record<string, string> => ({
  host: 'localhost:8080',
  authorization: `Bearer ${key}`,
  ...(body !== undefined && {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'content-length': String(Buffer.byteLength(body)),
  }),
});
