// A caller on one connection: one request at a time, with little time of its own. It reads answers that tell
// their length.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** An answer, and the time from the request to its last byte. */
export type Answer = {
  readonly status: number;
  readonly headers: string;
  readonly body: Buffer;
  readonly ms: number;
};

const HEADERS_END = '\r\n\r\n';

/** An answer in bytes that may not be all of it yet; null then. */
function parse(bytes: Buffer): Omit<Answer, 'ms'> | null {
  const end = bytes.indexOf(HEADERS_END);
  if (end < 0) return null;
  const headers = bytes.toString('latin1', 0, end);
  const length = /^content-length: (\d+)$/im.exec(headers)?.[1];
  assert.ok(length !== undefined, `an answer without its length: ${headers}`);
  const bodyAt = end + HEADERS_END.length;
  if (bytes.length < bodyAt + Number(length)) return null;
  const status = Number(headers.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  return { status, headers, body: bytes.subarray(bodyAt) };
}

/**
 * A caller of one server of this machine. It connects when it first asks, and again where the server has
 * closed.
 */
export class Caller {
  readonly #port: number;
  #socket: Socket | null = null;

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  /** Asks for a target. @throws when the connection breaks */
  async get(target: string, encoding = 'identity'): Promise<Answer> {
    const socket = await this.#connected();
    const request = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: ${encoding}\r\n\r\n`;
    return new Promise((resolve, reject) => {
      const pieces: Buffer[] = [];
      const startedMs = performance.now();
      const finish = (end: () => void): void => {
        socket.removeAllListeners();
        end();
      };
      socket.on('data', (piece: Buffer) => {
        pieces.push(piece);
        const parsed = parse(pieces.length === 1 ? piece : Buffer.concat(pieces));
        if (parsed === null) return;
        const ms = performance.now() - startedMs;
        finish(() => resolve({ ...parsed, ms }));
      });
      socket.once('error', (error) => finish(() => reject(error)));
      socket.once('close', () => finish(() => reject(new Error(`${target}: the connection was closed`))));
      socket.write(request);
    });
  }

  /** Asks for a target and takes no other answer than 200. */
  async must(target: string, encoding?: string): Promise<Answer> {
    const answer = await this.get(target, encoding);
    assert.equal(answer.status, 200, `${target}: ${answer.body.toString('utf8', 0, 500)}`);
    return answer;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = null;
  }

  async #connected(): Promise<Socket> {
    if (this.#socket !== null && !this.#socket.destroyed && this.#socket.readable) return this.#socket;
    this.#socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    await once(this.#socket, 'connect');
    return this.#socket;
  }
}
