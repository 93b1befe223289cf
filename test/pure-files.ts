// The test files that run in one process: they compute, and keep no file, store, thread or clock.

/** Globs, from the root of the repository. */
export const pureFiles = [
  'src/bars/*.test.ts',
  'src/base/*.test.ts',
  'src/calendar/**/*.test.ts',
  'src/contract/*.test.ts',
  'src/disk/*.test.ts',
  'src/explorer/*.test.ts',
  'src/files/{csv-line,spool,zstd-frames}.test.ts',
  'src/mapping/{column-mapping,instant-cell}.test.ts',
];
