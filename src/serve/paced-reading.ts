// Reads a connection in small pieces, one in each turn of the event loop: what one caller sends at once holds
// up nobody else.
import type { Socket } from 'node:net';
import { httpLimits } from './limits.ts';

/** Who may be read. */
type ReadingRules = {
  /** Whether the connection is not to be read now. */
  readonly isPaused: () => boolean;
  /** Whether what has arrived must wait. */
  readonly mustWait: () => boolean;
  /** Calls `letIn` when it is its turn. */
  readonly wait: (letIn: () => void) => void;
};

/**
 * Gives what arrives on a connection of node:http to its parser in pieces of `readPieceBytes`. Node.js reads
 * up to 64 kB at once, and these may be thousands of requests, or of chunks of a body. The rest stays in the
 * socket's buffer, so that a pause holds for it, too. A request costs 1 to 3 us more: otherwise the parser
 * reads from the kernel itself. It cannot do so for small requests alone, because nothing tells how much has
 * arrived before all of it is parsed: that took turns of 8 to 42 ms.
 */
export function paceReading(socket: Socket, { isPaused, mustWait, wait }: ReadingRules): void {
  const [parse] = socket.listeners('data') as ((piece: Buffer) => void)[];
  if (parse === undefined) return;
  let isWaiting = false;
  const goOn = (): void => {
    isWaiting = false;
    if (!isPaused()) socket.resume();
  };
  const putBack = (piece: Buffer): void => {
    // A stream that is not paused would hand it out at once.
    socket.pause();
    socket.unshift(piece);
  };
  const read = (piece: Buffer): void => {
    if (piece.length <= httpLimits.readPieceBytes) {
      parse.call(socket, piece);
      return;
    }
    isWaiting = true;
    putBack(piece.subarray(httpLimits.readPieceBytes));
    setImmediate(goOn);
    parse.call(socket, piece.subarray(0, httpLimits.readPieceBytes));
  };
  socket.off('data', parse);
  socket.on('data', (piece: Buffer) => {
    // Node.js has resumed it, to read a body.
    if (isWaiting) return putBack(piece);
    if (!mustWait()) return read(piece);
    isWaiting = true;
    socket.pause();
    wait(() => {
      if (socket.destroyed) return;
      goOn();
      read(piece);
    });
  });
}

/** Ignores whatever else arrives on a connection. */
export function ignoreRest(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.resume();
}
