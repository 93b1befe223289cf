// The test files that run in one process: they compute, and change nothing that others see.

/** Globs, from the root of the repository. */
export const pureFiles = [
  'bench/**/*.test.ts',
  'src/bars/*.test.ts',
  'src/base/*.test.ts',
  'src/calendar/**/*.test.ts',
  'src/cli/{known-damage,own-modules,progress,table}.test.ts',
  'src/contract/*.test.ts',
  'src/disk/*.test.ts',
  'src/explorer/*.test.ts',
  'src/files/{csv-line,spool,zstd-frames}.test.ts',
  'src/loading/{bar-rules,name-ids,open-rows}.test.ts',
  'src/mapping/{column-mapping,instant-cell}.test.ts',
  'src/store/{content,sql}.test.ts',
  'src/store/migrations/*.test.ts',
  'src/store/sqlite/trouble.test.ts',
];
