// A proxy between a test and its database: it cuts, delays and silences connections, as networks do.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** The way that bytes take. */
export type Way = 'toServer' | 'toClient';

/**
 * What happens to some bytes: so many of them are passed on; then both sides see an end, or the client alone
 * does.
 */
export type Fate = { readonly passed: number; readonly cut?: 'both' | 'client' };

type Pair = { readonly client: Socket; readonly server: Socket };

/** Listens on a port of its own, and passes everything on to another one. */
export class ServerProxy {
  readonly #server: Server;
  readonly #target: number;
  readonly #pairs = new Set<Pair>();
  /** Sides of the server whose client is gone. */
  readonly #forgotten: Socket[] = [];
  #isSilent = false;
  #refuses = false;
  /** Bytes that it has passed on. */
  readonly passed: Record<Way, number> = { toServer: 0, toClient: 0 };
  /** Decides about bytes before they are passed on; null passes everything. */
  decide: ((way: Way, bytes: Buffer) => Fate) | null = null;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Starts a proxy of a port of this machine. */
  static async before(target: number): Promise<ServerProxy> {
    const proxy = new ServerProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** An address with the port of the proxy in place of the server's. */
  through(url: string): string {
    return url.replace(`:${this.#target}/`, `:${this.port}/`);
  }

  #accept(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#refuses) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(this.#target, '127.0.0.1');
    server.on('error', () => undefined);
    const pair = { client, server };
    this.#pairs.add(pair);
    this.#pass('toServer', pair);
    this.#pass('toClient', pair);
    for (const socket of [client, server])
      socket.once('close', () => {
        if (!this.#pairs.delete(pair)) return;
        client.destroy();
        server.destroy();
      });
  }

  #pass(way: Way, pair: Pair): void {
    const [from, to] = way === 'toServer' ? [pair.client, pair.server] : [pair.server, pair.client];
    if (this.#isSilent) from.pause();
    from.on('data', (bytes: Buffer) => {
      const { passed, cut }: Fate = this.decide?.(way, bytes) ?? { passed: bytes.length };
      this.passed[way] += passed;
      if (passed > 0) to.write(bytes.subarray(0, passed));
      if (cut === 'client') this.#forget(pair);
      if (cut === 'both') this.#cut(pair);
    });
    from.on('end', () => to.end());
  }

  /** What was passed on still arrives; then both sides see an end. */
  #cut({ client, server }: Pair): void {
    server.end(() => server.destroy());
    client.end(() => client.destroy());
  }

  /** The server keeps its side, as behind a network that is gone. */
  #forget(pair: Pair): void {
    pair.server.removeAllListeners('end');
    this.#pairs.delete(pair);
    this.#forgotten.push(pair.server);
    pair.client.destroy();
  }

  /**
   * Cuts every connection once so many bytes went one way; then passes everything, or refuses further
   * connections.
   */
  cutAfter(way: Way, bytes: number, refuses: boolean): void {
    let left = bytes;
    this.decide = (wayOfBytes, given) => {
      if (wayOfBytes !== way) return { passed: given.length };
      const passed = Math.min(left, given.length);
      left -= passed;
      if (left > 0) return { passed };
      this.decide = null;
      if (refuses) this.refuse();
      for (const pair of this.#pairs) setImmediate(() => this.#cut(pair));
      return { passed, cut: 'both' };
    };
  }

  /** Accepts connections, and passes nothing on in either direction. */
  silence(): void {
    this.#isSilent = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  /** Silences the present connections for good; further ones are as usual. */
  abandon(): void {
    this.silence();
    this.#isSilent = false;
  }

  /** Resets every further connection. */
  refuse(): void {
    this.#refuses = true;
  }

  /** Resets the present connections. */
  reset(): void {
    for (const { client, server } of this.#pairs) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  }

  /** Passes everything on again. */
  restore(): void {
    this.decide = null;
    this.#refuses = false;
    this.#isSilent = false;
    this.passed.toServer = 0;
    this.passed.toClient = 0;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  async close(): Promise<void> {
    this.refuse();
    this.reset();
    for (const side of this.#forgotten) side.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
