// Files that examples name and pages do not show, because nothing is said of what is in them.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import duckdb from '@duckdb/node-bindings';
import { issue } from '../certificates.ts';

const head = 'datetime,open,high,low,close,volume\n';
const minute = '2024-01-03T09:30:00-05:00,10.1,10.2,10,10.15,100\n';
const minutes = `symbol,${head}EXAMPLE,${minute}`;

const contents: Readonly<Record<string, string>> = {
  'prices.csv': minutes,
  'aapl.csv': head + minute,
  'btc.csv': `open_utc,${head.slice(9)}${minute}`,
  'btc-map.json': '{"columns": {"datetime": "open_utc"}}',
  'nasdaq.csv': 'symbol,name\nEXAMPLE,Example Inc.\n',
};

async function writeParquet(path: string): Promise<void> {
  const database = await duckdb.open(':memory:');
  const connection = await duckdb.connect(database);
  const bar =
    "'EXAMPLE' symbol, timestamp '2024-01-03 14:31:00' datetime, 1.0 open, 1.0 high, 1.0 low, 1.0 \"close\"";
  try {
    await duckdb.query(connection, `copy (select ${bar}) to '${path}' (format parquet)`);
  } finally {
    duckdb.disconnect_sync(connection);
    duckdb.close_sync(database);
  }
}

/** Makes a file of a page's folder that a command names; false where nobody knows what would be in it. */
export async function standIn(folder: string, name: string): Promise<boolean> {
  const path = join(folder, name.replace('*', '2024-01-03'));
  mkdirSync(dirname(path), { recursive: true });
  if (name.endsWith('.parquet')) await writeParquet(path);
  else if (name.endsWith('.pem')) writeCertificate(folder);
  else {
    const plain = name.includes('*') ? minutes : contents[name.replace(/\.gz$/, '')];
    if (plain === undefined) return false;
    writeFileSync(path, name.endsWith('.gz') ? gzipSync(plain) : plain);
  }
  return true;
}

/** A certificate under every name that the pages give one. */
function writeCertificate(folder: string): void {
  const { cert, key } = issue(folder, 'example', 'DNS:data.example.com');
  for (const name of ['cert.pem', 'fullchain.pem']) copyFileSync(cert, join(folder, name));
  for (const name of ['key.pem', 'privkey.pem']) copyFileSync(key, join(folder, name));
}
