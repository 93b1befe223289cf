// Opens files for reading: finds, unpacks and verifies them, finds their format and columns, and starts their
// hash.
import { hash } from 'node:crypto';
import { createReadStream, createWriteStream, readFileSync, type Stats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { convertFile } from './convert.ts';
import {
  type Digest,
  type Digesting,
  digesting,
  hashOfFile,
  PIECE_BYTES,
  SMALL_FILE_BYTES,
  TextCheck,
} from './digest.ts';
import { contentProblem, FileProblem, longRow, unfitProblem } from './file-problem.ts';
import { type ChooseLayout, checkHeader, type Layout, type Shape, shapeOf } from './format.ts';
import { STANDARD_INPUT } from './inputs.ts';
import { checkJson, nestedRecords, pathsIn } from './json.ts';
import { describeFile, firstCells, reshapeFile } from './read.ts';
import type { Reshaping } from './reshape.ts';
import type { Encoding } from './sample.ts';
import type { ReadableFile } from './scan.ts';
import { gunzippedBytes, spool, unpackedBytes } from './spool.ts';
import {
  firstBytes,
  packedTwice,
  packingAt,
  packingOf,
  type StreamPacking,
  unpackStream,
  unpackTar,
  unpackZip,
  watch,
} from './unpack.ts';

/**
 * A file that can be read. `close` removes its temporary files; `digest` throws a FileProblem where the file
 * changed while it was read.
 */
export type SourceFile<L extends Layout = Layout> = ReadableFile &
  Digesting & {
    /** Its layout and column mapping, chosen by its name and beginning. */
    readonly mapping: L;
    /** The name that the run records: the path without folders. */
    readonly recordedAs: string;
    /** The file for refused rows, if its name is free. */
    readonly rejectedPath: string;
    readonly isStandardInput: boolean;
    /**
     * The full path of the file, or of the archive it was in with its hash; null for standard input, and
     * outside an archive.
     */
    readonly origin: { readonly path: string | null; readonly archiveSha256: string | null };
    /** True if it was unpacked: then it is as whole as when it was packed. */
    readonly wasPacked: boolean;
    /** For each row, its number in the original file, where a preset converted that. */
    readonly rowNumbers?: readonly number[];
    /** Rows that a preset deliberately left out. */
    readonly leftOut?: { readonly reason: string; readonly count: number };
    /** The size of the plain file. */
    readonly bytes: number;
    /** About how many rows it has; null if unknown. */
    readonly rowsAbout: number | null;
  };

/** A file that exists and will be opened. */
type Found<L extends Layout> = Pick<
  SourceFile<L>,
  'name' | 'recordedAs' | 'path' | 'rejectedPath' | 'isStandardInput' | 'origin' | 'wasPacked'
> & { readonly choose: ChooseLayout<L> };

/** The extension of a file in a folder, for an example; `.csv` where there is none. */
async function extensionIn(folder: string): Promise<string> {
  const names = await readdir(folder).catch((): string[] => []);
  return (
    names
      .sort()
      .map(extname)
      .find((extension) => extension !== '') ?? '.csv'
  );
}

/** What the system says of a path, at once: of a small file, waiting for it takes longer than all else. */
function statsOf(name: string, path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`;
    throw unfitProblem(name, reason);
  }
}

async function check(name: string, path: string): Promise<Stats> {
  const found = statsOf(name, path);
  if (found.isDirectory()) {
    const pattern = join(name, `*${await extensionIn(path)}`);
    throw unfitProblem(name, `is a folder. Name the files in it, such as '${pattern}'`);
  }
  if (!found.isFile())
    throw unfitProblem(
      name,
      `is a pipe or a device, not a file. To read a pipe, use standard input and name ${STANDARD_INPUT}`,
    );
  if (found.size === 0) throw contentProblem(name, 'is empty');
  return found;
}

const OWN_DESCRIPTOR = /^\/(?:dev|proc\/self)\/(?:stdin|fd\/(\d+))$/;

/** The path of a file for the reader process too, which has another `/dev/stdin`. */
function sharedPath(path: string): string {
  const own = process.platform === 'linux' ? OWN_DESCRIPTOR.exec(path) : null;
  return own === null ? path : `/proc/${process.pid}/fd/${own[1] ?? 0}`;
}

/** The path for the refused rows of a file: beside it, and different for each file. */
export const rejectedPathOf = (name: string): string =>
  `${resolve(name).replace(/\.csv$/i, '')}.rejected.csv`;

/**
 * Opens the files of a name on the command line, one after the other: a plain or packed file, each file of a
 * zip archive (or its problem), or standard input. The caller closes each. @throws FileProblem where it
 * cannot be read
 */
export async function* openSources<L extends Layout>(
  name: string,
  input: Readable,
  choose: ChooseLayout<L>,
): AsyncGenerator<SourceFile<L> | FileProblem> {
  const isStandardInput = name === STANDARD_INPUT;
  const spooled = isStandardInput ? await spool(0, (folder) => inputIn(folder, input)) : null;
  const path = spooled?.filled ?? resolve(name);
  const found = {
    path: isStandardInput ? path : sharedPath(path),
    isStandardInput,
    wasPacked: false,
    origin: { path: isStandardInput ? null : path, archiveSha256: null },
    choose,
    ...(isStandardInput
      ? { name: INPUT_NAME, recordedAs: INPUT_NAME, rejectedPath: resolve('stdin.rejected.csv') }
      : { name, recordedAs: basename(name), rejectedPath: rejectedPathOf(name) }),
  };
  try {
    await check(found.name, path);
    yield* openFound(found);
  } finally {
    await spooled?.close();
  }
}

/** Standard input in messages. */
const INPUT_NAME = 'standard input';

async function inputIn(folder: string, input: Readable): Promise<string> {
  const target = join(folder, 'input');
  await pipeline(input, createWriteStream(target));
  return target;
}

async function* openFound<L extends Layout>(found: Found<L>): AsyncGenerator<SourceFile<L> | FileProblem> {
  const small = smallFile(found);
  const packing = small === null ? await packingAt(found.name, found.path) : packingOf(small.content);
  if (packing === null) yield await openPlain(found, digestOfPlain(found, small), small?.content);
  else if (packing === 'zip' || packing === 'tar') yield* openArchive(found, packing, small);
  else yield* openPacked(found, packing);
}

type Place = { readonly name: string; readonly path: string };

/** A file that was read whole, and its state before that. */
type SmallFile = { readonly then: Stats; readonly content: Buffer };

/** A file that is small enough to be read whole; null for any other. */
function smallFile({ name, path }: Place): SmallFile | null {
  const then = statsOf(name, path);
  if (!then.isFile() || then.size > SMALL_FILE_BYTES) return null;
  try {
    return { then, content: readFileSync(path) };
  } catch (error) {
    throw unfitProblem(name, `it cannot be read (${(error as NodeJS.ErrnoException).code})`, error);
  }
}

/** Refuses a file that changed while it was read. */
function requireSame(name: string, then: Stats, now: Stats): void {
  if (now.size === then.size && now.mtimeMs === then.mtimeMs) return;
  throw contentProblem(name, 'changed while it was read. Nothing was imported.');
}

/** Computes the digest of a plain file. */
function digestOfPlain({ name, path }: Place, small: SmallFile | null): Digesting {
  const then = small?.then ?? statsOf(name, path);
  const { digest, close } = digesting(path, small?.content);
  return {
    async digest() {
      const found = await digest();
      requireSame(name, then, await check(name, path));
      return found;
    },
    close,
  };
}

/** Opens a plain file; closing it closes `whole`, its digest. `bytes` are those of a small one. */
async function openPlain<L extends Layout>(
  { choose, ...found }: Found<L>,
  whole: Digesting,
  bytes?: Buffer,
): Promise<SourceFile<L>> {
  const { name, path } = found;
  try {
    const shape = await shapeOf(name, path, choose, bytes);
    const { mayHaveOddNumbers } = shape;
    const { encoding } = shape.mapping;
    const copy = encoding === undefined ? null : await copyInUtf8(name, path, encoding);
    const { close, ...content } = await contentOf(name, copy?.filled.path ?? path, shape).catch(
      async (error) => {
        await copy?.close();
        throw error;
      },
    );
    const { format } = content;
    return {
      ...found,
      ...content,
      ...(bytes !== undefined && content.path === path && { content: bytes }),
      async digest() {
        const digest = await whole.digest();
        if (format.kind !== 'csv') return digest;
        // The text was made here.
        if (shape.reshaping === 'arrow')
          return { ...new TextCheck().digest(digest.sha256), mayHaveOddNumbers: true };
        const checked = checkText(name, copy === null ? digest : copy.filled.text.digest(digest.sha256));
        return mayHaveOddNumbers ? { ...checked, mayHaveOddNumbers } : checked;
      },
      async close() {
        await close?.();
        await copy?.close();
        await whole.close();
      },
    };
  } catch (error) {
    await whole.close();
    throw error;
  }
}

/** A copy of a text in UTF-8, and its check. @throws FileProblem where it has other bytes, DiskFull */
async function copyInUtf8(name: string, path: string, encoding: Encoding) {
  const { size } = await check(name, path);
  return spool(2 * size, async (folder) => {
    const [target, text] = [join(folder, 'utf-8'), new TextCheck()];
    const decoder = new TextDecoder(encoding, { fatal: true });
    const decode = (piece?: Buffer): Buffer => {
      try {
        return Buffer.from(decoder.decode(piece, { stream: piece !== undefined }));
      } catch (error) {
        throw contentProblem(name, `has bytes that are not ${encoding} text. Nothing was imported.`, error);
      }
    };
    const decoded = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) yield decode(piece);
      yield decode();
    };
    const checked = watch((piece) => text.take(piece));
    await pipeline(createReadStream(path), decoded, checked, createWriteStream(target));
    return { path: target, text };
  });
}

type Content<L extends Layout> = Pick<
  SourceFile<L>,
  'path' | 'format' | 'header' | 'types' | 'mapping' | 'bytes' | 'rowsAbout' | 'rowNumbers' | 'leftOut'
> & { readonly close?: () => Promise<void> };

/** Columns, place and size of the data: of the file itself, or of the native rows that it is converted to. */
async function contentOf<L extends Layout>(
  name: string,
  path: string,
  { format, mapping, header, bytesPerRow, reshaping }: Shape<L>,
): Promise<Content<L>> {
  if (mapping.convert !== undefined) {
    const { filled, close } = await convertFile(name, path, mapping.convert, mapping.delimiter);
    const { doubt, ...content } = filled;
    const said = doubt === undefined ? mapping : { ...mapping, doubt };
    return { ...content, format, mapping: said, types: [], rowsAbout: content.rowNumbers.length, close };
  }
  if (reshaping !== undefined) {
    const made = await reshaped(reshaping, name, path, mapping);
    if (made !== null) {
      const { rows, shape, leftOut, header, isOfSymbols = false } = made.filled;
      if (header !== null) checkHeader(name, header);
      const format: Shape<L>['format'] =
        header === null ? { kind: 'json', isArray: false } : { kind: 'csv', delimiter: ',' };
      const layout = { ...mapping, shape, isOfSymbols };
      const about = { format, header, bytesPerRow: null, mayHaveOddNumbers: false };
      const content = await contentOf(name, rows, { ...about, mapping: layout }).catch(async (error) => {
        await made.close();
        throw error;
      });
      return { ...content, ...(leftOut !== undefined && { leftOut }), close: made.close };
    }
  }
  const { size } = await check(name, path);
  if (format.kind === 'json') await checkJson(name, path);
  const columns = header === null ? await describeFile({ name, path, format }) : { header, types: [] };
  const rowsAbout = bytesPerRow === null ? null : Math.round(size / bytesPerRow);
  const file = { name, path, format, ...columns };
  const nested = mapping.atHeader === undefined ? [] : pathsIn(columns);
  const isText = format.kind === 'csv' && bytesPerRow !== null;
  const first = (paths: readonly string[]) => firstCells(withPaths(file, paths, true).file);
  const found = await mapping.atHeader?.(columns.header, nested, isText ? null : first);
  const whole: L = { ...mapping, nested, ...found };
  const { paths, preset } = whole;
  const { file: read, ...more } =
    paths === undefined ? { file } : withPaths(file, paths, preset !== undefined);
  return { ...read, mapping: { ...whole, ...more }, bytes: size, rowsAbout };
}

/** A file as it is read where a mapping names some nested values. @throws FileProblem */
function withPaths(file: ReadableFile, paths: readonly string[], mayLack: boolean) {
  const { name, format, header, types } = file;
  if (format.kind === 'csv') return { file };
  const { found, lacking } = nestedRecords(name, format.kind, { header, types }, paths, mayLack);
  // The columns of Parquet without nested values must be there, as those of a CSV.
  if (found === undefined)
    return format.kind === 'parquet' && lacking.size === 0 ? { file } : { file, lacking };
  const { records, unread, ...read } = found;
  return { file: { ...file, ...read, format: { ...format, records } }, lacking, unread };
}

/** Beginnings of files that are objects already: in a list, or one after the other. */
const OBJECTS = /^\s*(?:\[\s*\{|\{[^[{]*\}\s*\{)/;

/** The rows of a file in a temporary one; null where they are read as they are. */
async function reshaped(kind: Reshaping['kind'], name: string, path: string, { header, paths }: Layout) {
  const { size } = await check(name, path);
  const isPlain =
    kind === 'json' && OBJECTS.test((await firstBytes(name, path, PIECE_BYTES)).toString('latin1'));
  if (isPlain) return null;
  const { filled, close } = await spool(3 * size, async (folder) => {
    const target = join(folder, 'rows');
    return { target, made: await reshapeFile({ kind, name, path, target, header, paths }) };
  });
  if (filled.made !== null) return { filled: { ...filled.made, rows: filled.target }, close };
  await close();
  return null;
}

/**
 * Refuses text that DuckDB would read wrongly without an error: an open quote makes one cell of the rest of
 * the file.
 */
function checkText(name: string, digest: Digest): Digest {
  if (digest.hasOpenQuote)
    throw contentProblem(
      name,
      'a quote is not closed: the file has an odd number of them. Nothing was imported.',
    );
  if (digest.hasLongLine) throw longRow(name);
  return digest;
}

/** Unpacks a file whole before it is read: damage is found first, and the file can be read more than once. */
async function* openPacked<L extends Layout>(
  found: Found<L>,
  packing: StreamPacking,
): AsyncGenerator<SourceFile<L> | FileProblem> {
  const { size } = await check(found.name, found.path);
  const needed = packing === 'gzip' ? await gunzippedBytes(found.path, size) : unpackedBytes(size);
  const text = new TextCheck();
  const { filled, close } = await spool(needed, async (folder) => {
    const path = join(folder, 'plain');
    const sha256 = await unpackStream(found.name, found.path, packing, path, (piece) => text.take(piece));
    return { path, sha256, digest: text.digest(sha256) };
  });
  const { path, sha256, digest } = filled;
  const plain = { ...found, path, wasPacked: true };
  if ((await packingAt(found.name, path)) !== 'tar') {
    yield await openPlain(plain, { digest: async () => digest, close }, smallFile(plain)?.content);
    return;
  }
  try {
    yield* openArchive(plain, 'tar', null, sha256);
  } finally {
    await close();
  }
}

/**
 * The files of an archive: all are unpacked and verified before the first is read. A file's problem does not
 * keep the others out.
 */
async function* openArchive<L extends Layout>(
  found: Found<L>,
  packing: 'zip' | 'tar',
  small: SmallFile | null,
  packedSha256?: string,
): AsyncGenerator<SourceFile<L> | FileProblem> {
  if (found.origin.archiveSha256 !== null) throw packedTwice(found.name);
  const before = small?.then ?? (await check(found.name, found.path));
  const archiveSha256 =
    packedSha256 ?? (small === null ? await hashOfFile(found.path) : hash('sha256', small.content));
  const needed = packing === 'zip' ? unpackedBytes(before.size) : before.size;
  const { filled: members, close } = await spool(needed, (folder) =>
    packing === 'tar'
      ? unpackTar(found.name, found.path, folder)
      : unpackZip(found.name, found.path, folder, small?.content),
  );
  try {
    requireSame(found.name, before, await check(found.name, found.path));
    for (const member of members) {
      const inside = {
        ...found,
        wasPacked: true,
        name: `${found.name}/${member.name}`,
        recordedAs: `${found.recordedAs}/${member.name}`,
        path: member.path,
        rejectedPath: rejectedPathOf(
          `${found.rejectedPath.replace(/\.rejected\.csv$/, '')}.${member.name.replaceAll('/', '-')}`,
        ),
        origin: { ...found.origin, archiveSha256 },
      };
      try {
        yield* openFound(inside);
      } catch (error) {
        if (!(error instanceof FileProblem)) throw error;
        yield error;
      }
    }
  } finally {
    await close();
  }
}
