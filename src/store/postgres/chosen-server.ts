// Which server of an address a process uses: all connections of all its threads go to one, and move to
// another together.
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import type { PostgresAddress } from './address.ts';

const SERVER = 0;
const HOST = 1;

/** The server that a process uses for an address. */
export class ChosenServer {
  /** When it was started, and which of the hosts it is. */
  readonly #shared: BigInt64Array;

  /** `name`: names the use that shares one server. */
  constructor(name: string) {
    const key = `bourse server of ${name}`;
    const known = getEnvironmentData(key) as SharedArrayBuffer | undefined;
    const memory = known ?? new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);
    // Threads that are started later get it.
    if (known === undefined) setEnvironmentData(key, memory);
    this.#shared = new BigInt64Array(memory);
  }

  /** Names the run of the server, as `Session.server`; 0 before the first. */
  get server(): number {
    return Number(Atomics.load(this.#shared, SERVER));
  }

  /** The places of some hosts, in the order in which they are to be tried. */
  order(hosts: number): number[] {
    const first = Math.min(Number(Atomics.load(this.#shared, HOST)), hosts - 1);
    const places = Array.from({ length: hosts }, (_, at) => at);
    return [first, ...places.filter((at) => at !== first)];
  }

  /**
   * Chooses a server that was met on a host, in place of another. False where a third was chosen meanwhile.
   */
  choose(server: number, host: number, before: number): boolean {
    const found = Number(Atomics.compareExchange(this.#shared, SERVER, BigInt(before), BigInt(server)));
    if (found !== before && found !== server) return false;
    Atomics.store(this.#shared, HOST, BigInt(host));
    return true;
  }
}

/**
 * The use of an address. What needs a primary moves whoever takes any server; standbys that are preferred for
 * reading are a use of their own.
 */
export const chosenServer = (
  { user, hosts, database, schema }: PostgresAddress,
  target: PostgresAddress['target'],
): ChosenServer => new ChosenServer(JSON.stringify([user, hosts, database, schema, target]));
