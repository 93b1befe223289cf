// A way to a PostgreSQL server that a test can cut, with what is on it.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What happens to a connection when its client sends some bytes: they still arrive, or not; no answer to them
 * does.
 */
type Cut = 'before' | 'after';

/** A server that passes on what is sent to another. */
export class CuttableWay {
  readonly #server = createServer((client) => this.#pass(client));
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  /** Whether to cut at some bytes of a client. */
  #isTime: (bytes: Buffer) => boolean = () => false;
  #cut: Cut = 'before';
  /** How often it was cut since a cut was asked for: once at most. */
  cuts = 0;

  private constructor(port: number) {
    this.#port = port;
  }

  /** Leads to a port of this machine. */
  static async to(port: number): Promise<CuttableWay> {
    const way = new CuttableWay(port);
    way.#server.listen(0, '127.0.0.1');
    await once(way.#server, 'listening');
    return way;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the next connection whose client sends a text. */
  cutAt(text: string, cut: Cut): void {
    this.cuts = 0;
    this.#isTime = (bytes) => bytes.includes(text);
    this.#cut = cut;
  }

  /** Cuts the connection whose client sends next, after it and others have sent some times. */
  cutAfter(times: number, cut: Cut): void {
    this.cuts = 0;
    let left = times;
    this.#isTime = () => left-- === 0;
    this.#cut = cut;
  }

  #pass(client: Socket): void {
    const server = connect(this.#port, '127.0.0.1');
    let isCut = false;
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    server.on('data', (bytes) => isCut || client.write(bytes));
    client.on('data', (bytes) => {
      if (this.cuts > 0 || !this.#isTime(bytes)) {
        server.write(bytes);
        return;
      }
      this.cuts++;
      isCut = true;
      if (this.#cut === 'before') client.destroy();
      // The server ends what it was asked, then the connection, and so that of the client.
      else server.end(bytes);
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
