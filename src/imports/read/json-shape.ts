// Checks the shape of a JSON file before DuckDB reads it: there very deep nesting ends the process, and very
// wide objects take seconds each.
import { open } from 'node:fs/promises';
import { limits } from '../../contract/limits.ts';
import { contentProblem } from './file-problem.ts';
import { PIECE_BYTES } from './text-check.ts';

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The depth and width of a JSON text, from its bytes, piece by piece. DuckDB checks that it is well-formed.
 */
class JsonShape {
  /** Objects and arrays that are open. */
  open = 0;
  isTooDeep = false;
  isTooWide = false;
  /** Keys of each open object, by the number of those around it. */
  readonly #keys = new Uint32Array(limits.jsonDepthMax + 1);
  #isText = false;
  /** Bytes of the next piece that an escape in this one skips. */
  #skipped = 0;

  take(piece: Uint8Array): void {
    let [isText, open, at] = [this.#isText, this.open, this.#skipped];
    while (at < piece.length) {
      const byte = piece[at++]!;
      if (isText) {
        if (byte === QUOTE) isText = false;
        // Whatever follows is a part of the text.
        else if (byte === BACKSLASH) at++;
      } else if (byte === QUOTE) isText = true;
      else if (byte === COLON) this.isTooWide ||= ++this.#keys[open]! > limits.jsonKeysMax;
      else if (byte === OBJECT || byte === ARRAY) {
        this.#keys[++open] = 0;
        this.isTooDeep ||= open > limits.jsonDepthMax;
      } else if (byte === OBJECT_END || byte === ARRAY_END) open = Math.max(0, open - 1);
    }
    [this.#isText, this.open, this.#skipped] = [isText, open, at - piece.length];
  }
}

/**
 * Reads a JSON file to its end. @throws FileProblem where it is nested too deeply, or an object has too many
 * keys
 */
export async function checkJson(name: string, path: string): Promise<void> {
  const shape = new JsonShape();
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const file = await open(path);
  try {
    for (let read = await file.read(piece); read.bytesRead > 0; read = await file.read(piece))
      shape.take(piece.subarray(0, read.bytesRead));
  } finally {
    await file.close();
  }
  const refuse = (how: string) => contentProblem(name, `${how}. Nothing was imported.`);
  if (shape.isTooDeep && shape.open > 0)
    throw refuse(`the JSON is not well-formed: ${shape.open} objects and arrays have no end`);
  if (shape.isTooDeep)
    throw refuse(`has more than ${limits.jsonDepthMax} objects and arrays within each other`);
  if (shape.isTooWide) throw refuse(`an object has more than ${limits.jsonKeysMax} keys`);
}
