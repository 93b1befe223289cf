// The server that most people would write: Fastify, a row a bar in SQLite, objects, JSON.stringify.
// `--csv F --store F --key-hash H --port N`
import { createReadStream, existsSync, renameSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import fastify from 'fastify';
import { BARS_ROUTE, type BarsRequest, hashOf, type Row, readRequest, replyOf } from './reply.ts';

const { values: flags } = parseArgs({
  options: {
    csv: { type: 'string' },
    store: { type: 'string' },
    'key-hash': { type: 'string' },
    port: { type: 'string' },
  },
});

const schema = `
  create table instruments (id integer primary key, asset_schema text, country text, symbol text, exchange text,
    unique (asset_schema, country, symbol));
  create table bars (instrument_id integer, interval text, open_ms integer, open real, high real, low real, close real,
    volume real, vwap real, primary key (instrument_id, interval, open_ms)) without rowid;
  create table keys (hash text primary key, name text) without rowid;`;

/** Fills a new file from the CSV; a file that is there was filled before. */
async function fill(csv: string, path: string): Promise<void> {
  if (existsSync(path)) return;
  const fresh = `${path}.new`;
  rmSync(fresh, { force: true });
  const db = new DatabaseSync(fresh);
  db.exec(`pragma journal_mode = off; pragma synchronous = off; ${schema}; begin`);
  const addInstrument = db.prepare(
    "insert into instruments (asset_schema, country, symbol) values ('stock', 'US', ?) returning id",
  );
  const addBar = db.prepare("insert into bars values (?, '1M', ?, ?, ?, ?, ?, ?, ?)");
  const ids = new Map<string, number>();
  let first = true;
  for await (const line of createInterface({ input: createReadStream(csv) })) {
    const [symbol, datetime, ...numbers] = line.split(',') as [string, string, ...string[]];
    if (first) {
      first = false;
      continue;
    }
    let id = ids.get(symbol);
    if (id === undefined) {
      id = addInstrument.get(symbol)!.id as number;
      ids.set(symbol, id);
    }
    addBar.run(id, Date.parse(datetime), ...numbers.map(Number));
  }
  db.exec('commit; pragma journal_mode = wal');
  db.close();
  renameSync(fresh, path);
}

await fill(flags.csv!, flags.store!);
const db = new DatabaseSync(flags.store!);
db.prepare('insert or ignore into keys values (?, ?)').run(flags['key-hash']!, 'bench');

type Instrument = { readonly id: number; readonly exchange: string | null };

const findKey = db.prepare('select name from keys where hash = ?');
const findInstrument = db.prepare(
  'select id, exchange from instruments where asset_schema = ? and country = ? and symbol = ?',
);
const findBars = db.prepare(
  `select open_ms, open, high, low, close, volume, vwap from bars
   where instrument_id = ? and interval = ? and open_ms >= ? and open_ms <= ? order by open_ms limit ?`,
);

const app = fastify();
app.get<BarsRequest>(BARS_ROUTE, async (request, reply) => {
  const { params, query } = request;
  if (findKey.get(hashOf(query.secret_key)) === undefined)
    return reply.code(401).send({ error: 'invalid_key' });
  const asked = readRequest(params, query);
  if (asked === null) return reply.code(400).send({ error: 'invalid_parameter' });
  const { country, symbol, fromMs, toMs, limit } = asked;
  const instrument = findInstrument.get(params.schema, country, symbol) as Instrument | undefined;
  if (instrument === undefined) return reply.code(404).send({ error: 'unknown_symbol' });
  // One more than was asked for tells whether there is a next page.
  const rows = findBars.all(instrument.id, params.interval, fromMs, toMs, limit + 1) as Row[];
  return replyOf(request, asked, instrument.exchange, rows);
});
await app.listen({ port: Number(flags.port), host: '127.0.0.1' });
process.once('SIGTERM', () => process.exit(0));
