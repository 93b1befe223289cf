// The files of a call of `bourse import`, opened one after the other, each when it is asked for.
import { statSync } from 'node:fs';
import type { ChooseMapping, MappedFile } from '../../imports/map/column-mapping.ts';
import { FileProblem } from '../../imports/read/file-problem.ts';
import { STANDARD_INPUT } from '../../imports/read/inputs.ts';
import { openSources } from '../../imports/read/source.ts';
import { historyLimits } from '../../runs/recorded-write.ts';

/** A name on the command line, or of a watched folder, and why not all of it was imported. */
export type NamedInput = { readonly name: string; readonly problems: string[] };

/** A step of opening the files of some names, in order. */
export type Step =
  /**
   * The file at a place of a name: an archive has several. `openedMs` is a moment before it was read. Whoever
   * takes it closes it.
   */
  | {
      readonly kind: 'file';
      readonly of: NamedInput;
      readonly place: number;
      readonly file: MappedFile;
      readonly openedMs: number;
    }
  /** The file at a place cannot be opened. */
  | { readonly kind: 'problem'; readonly of: NamedInput; readonly place: number; readonly error: FileProblem }
  /** All files of a name have been given. */
  | { readonly kind: 'end'; readonly of: NamedInput };

/** Some files of a name: places `from` to `to`, both included. */
type Places = { readonly of: NamedInput; readonly from: number; readonly to: number };

/** A file, or a packed one, is opened in some milliseconds up to this size. */
const LARGE_BYTES = 1024 * 1024;

const isLarge = (name: string): boolean =>
  name === STANDARD_INPUT || (statSync(name, { throwIfNoEntry: false })?.size ?? 0) > LARGE_BYTES;

/** Names whose files may be in one group: opening those of a large one takes long, so it is by itself. */
export async function* batchesOf(
  names: AsyncIterable<string> | Iterable<string>,
): AsyncGenerator<readonly string[]> {
  let batch: string[] = [];
  for await (const name of names) {
    if (batch.length === historyLimits.groupFilesMax || (batch.length > 0 && isLarge(name))) {
      yield batch;
      batch = [];
    }
    if (isLarge(name)) yield [name];
    else batch.push(name);
  }
  if (batch.length > 0) yield batch;
}

/** Opens the files of some names, until `stop`. */
export async function* stepsOf(
  names: readonly string[],
  choose: ChooseMapping,
  stop?: AbortSignal,
): AsyncGenerator<Step> {
  for (const name of names) {
    if (stop?.aborted) return;
    const of = { name, problems: [] };
    yield* filesOf({ of, from: 0, to: Number.POSITIVE_INFINITY }, choose);
    yield { kind: 'end', of };
  }
}

/** Opens the files at some places again. */
export async function* filesOf({ of, from, to }: Places, choose: ChooseMapping): AsyncGenerator<Step> {
  let place = -1;
  const openedMs = Date.now();
  try {
    for await (const opened of openSources(of.name, process.stdin, choose)) {
      place++;
      if (opened instanceof FileProblem) {
        if (place >= from) yield { kind: 'problem', of, place, error: opened };
      } else if (place >= from) yield { kind: 'file', of, place, file: opened, openedMs };
      else await opened.close();
      if (place >= to) return;
    }
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    yield { kind: 'problem', of, place: place + 1, error };
  }
}
