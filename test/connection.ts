// A connection of one's own to the server: bytes in, whole answers out, in the order in which they come.
import { connect, type Socket } from 'node:net';

/** One answer as it came. */
export type RawAnswer = {
  readonly status: number;
  /** By lower-case name; the last of several. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

type Wanted = {
  readonly hasBody: boolean;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (error: Error) => void;
};

const HEAD_END = Buffer.from('\r\n\r\n');

/** The status and headers of a head without its empty line. */
function headOf(text: string): { status: number; headers: Map<string, string> } {
  const [line, ...fields] = text.split('\r\n');
  const status = /^HTTP\/1\.1 (\d{3}) \S/.exec(line!)?.[1];
  if (status === undefined) throw new Error(`not an answer: ${line!.slice(0, 200)}`);
  const headers = fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()] as const;
  });
  return { status: Number(status), headers: new Map(headers) };
}

/** A kept connection. */
export class Connection {
  readonly #socket: Socket;
  readonly #wanted: Wanted[] = [];
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes that the next whole answer needs. */
  #needed = 0;
  /** Settles when the connection has ended, either way. */
  readonly ended: Promise<void>;

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port), noDelay: true });
    this.#socket.on('data', (piece) => this.#take(piece));
    this.#socket.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.#socket.once('close', () => {
        for (const { reject } of this.#wanted.splice(0))
          reject(new Error('the connection ended without an answer'));
        resolve();
      });
    });
  }

  /** Writes bytes that ask for so many answers; of HEAD an answer has no body. */
  ask(bytes: string | Uint8Array, haveBodies: readonly boolean[]): Promise<RawAnswer>[] {
    const answers = haveBodies.map(
      (hasBody) =>
        new Promise<RawAnswer>((resolve, reject) => this.#wanted.push({ hasBody, resolve, reject })),
    );
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return answers;
  }

  /** Writes bytes and waits for nothing. */
  write(bytes: string | Uint8Array): void {
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  close(): Promise<void> {
    this.#socket.destroy();
    return this.ended;
  }

  #take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    for (let used = this.#answer(rest); used > 0; used = this.#answer(rest)) rest = rest.subarray(used);
    this.#pieces = [rest];
    this.#bytes = rest.length;
  }

  /** Settles the next answer if it is there whole; how many bytes it had. */
  #answer(bytes: Buffer): number {
    this.#needed = 0;
    const end = bytes.indexOf(HEAD_END);
    const wanted = this.#wanted[0];
    if (end < 0 || wanted === undefined) return 0;
    try {
      const { status, headers } = headOf(bytes.subarray(0, end).toString('latin1'));
      const length = wanted.hasBody ? Number(headers.get('content-length') ?? 0) : 0;
      const whole = end + HEAD_END.length + length;
      this.#needed = whole;
      if (bytes.length < whole) return 0;
      this.#wanted.shift();
      wanted.resolve({ status, headers, body: bytes.subarray(whole - length, whole).toString() });
      return whole;
    } catch (error) {
      this.#wanted.shift();
      wanted.reject(error as Error);
      this.#socket.destroy();
      return 0;
    }
  }
}
