// Which version of the program this is.
import { readFileSync } from 'node:fs';

/** The version that the package names. */
export function version(): string {
  const file = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(file) as { version: string }).version;
}
