// How much disk space an import needs, estimated before its first write from the size of its file.
import { dirname } from 'node:path';
import { diskProblem, requireDiskSpace } from '../../base/space.ts';
import type { Store } from '../../store/store.ts';
import type { MappedFile } from '../map/column-mapping.ts';

/** What even a small file may need: some pages for each table and index. */
const LEAST_BYTES = 4 * 1024 * 1024;

/**
 * Stored bytes for each byte of text: bars need a fifth, long numbers a third; each is written to the log
 * first, then to the store.
 */
const SHARE_OF_TEXT = 0.75;

/** Bytes of text for each byte of Parquet. */
const PARQUET_TO_TEXT = 4;

/** The size of a file as text. */
export const textBytesOf = ({ format, bytes }: MappedFile): number =>
  format.kind === 'parquet' ? bytes * PARQUET_TO_TEXT : bytes;

/** Bytes that the import of so much text needs on the store's disk, the log included. */
export const storeNeedBytes = (textBytes: number): number => LEAST_BYTES + SHARE_OF_TEXT * textBytes;

/** Checks the space for so much text on the store's disk before the first write. @throws DiskFull */
export function requireSpaceFor({ folder }: Store, textBytes: number): void {
  if (folder !== null) requireDiskSpace(folder, storeNeedBytes(textBytes));
}

/**
 * The error of an import that has written refused rows, which are beside the imported file: where that disk
 * is full, which one; else the same error.
 */
export const refusedRowsProblem = (error: unknown, file: MappedFile): Promise<unknown> =>
  diskProblem(error, dirname(file.rejectedPath), textBytesOf(file));
