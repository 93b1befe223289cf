// Starts the server of one constant Buffer.
import type { Encoding } from '../load.ts';
import { type Running, script, startServer } from '../process.ts';

/** What the lines that are compared with it say. */
export const THE_LIMIT = 'one constant Buffer';

/** Starts a server that answers everything with so many bytes, in this coding as it says. */
export function startConstant(
  folder: string,
  bytes: number,
  encoding: Encoding = 'identity',
): Promise<Running> {
  const args = [...script(import.meta.resolve('./constant-server.ts')), '--bytes', String(bytes)];
  const coded = encoding === 'identity' ? [] : ['--encoding', encoding];
  return startServer(folder, process.execPath, [...args, ...coded]);
}
