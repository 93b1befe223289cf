// The test files that run together in a process: most of them would take longer to load the program, and to
// run it cold, than they take warm. They change nothing that a file after them sees. As the program of such a
// process this imports the files that it is given.
import { resolve } from 'node:path';
import { test } from 'node:test';

/** Groups of files, as globs from the root of the repository. */
export const filesTogether: readonly (readonly string[])[] = [
  // They compute.
  [
    'bench/**/*.test.ts',
    '{src/{base,contract,market},packages}/**/*.test.ts',
    'src/cli/{own-modules,shared/output}.test.ts',
    'src/imports/read/{sample,spool,unpack}.test.ts',
    'src/imports/load/{bar-chunk,bar-rules,open-series}.test.ts',
    'src/imports/map/{column-mapping,instant-cell}.test.ts',
    'src/store/{copy,sql}.test.ts',
    'src/store/migrations/*.test.ts',
    'src/store/sqlite/files.test.ts',
  ],
  ['src/queries/**/!(closed-days|options).test.ts'],
  [
    'src/imports/read/{plain-csv,read,source}.test.ts',
    'src/serve/keys/{api-keys,control-client,quotas}.test.ts',
    'src/imports/load/{economic,open-blocks}.test.ts',
    'src/imports/map/{cell,parquet-cells,plain-cells}.test.ts',
    'src/series/*.test.ts',
    'src/store/all-rows.test.ts',
    'src/store/sqlite/{damage,sqlite,sums,versions}.test.ts',
    'test/{import-bars,import-instruments,instrument-terms,undo}.test.ts',
  ],
  [
    'src/serve/!(handshakes|readiness|request-gate|server|tls).test.ts',
    'src/serve/cache/{cached-answers,random-requests}.test.ts',
    'src/serve/threads/{overload,turns}.test.ts',
    'src/serve/outgoing/unsent-bytes.test.ts',
    'test/{bad-input,export-round-trip,page-keys}.test.ts',
  ],
  [
    'test/presets/!(command|convert|write-map).test.ts',
    'test/{bulk-random,import-arrow,import-nested,replace-random}.test.ts',
  ],
  [
    'src/queries/{closed-days,options}.test.ts',
    'test/{adjust,aliases,calendar-changes,close-labels,no-data,option-chains,option-quotes}.test.ts',
    'test/{latest-of-many,side-by-side,venues}.test.ts',
    'test/sqlite/plans.test.ts',
  ],
  [
    'test/{as-of,covered}/!(pinned-keys).test.ts',
    'test/{completeness,coverage,run-coverage,session-coverage}.test.ts',
  ],
  [
    'test/findings/!(check|imports).test.ts',
    'test/{bars-of-today,best-series,derived-bars}.test.ts',
    'test/sqlite/lost-*.test.ts',
  ],
  [
    'src/imports/load/watched-file.test.ts',
    'src/store/past/known-reader.test.ts',
    'src/store/sqlite/{followed,layout}.test.ts',
    'test/{client-contract,container,glossary,import-law,rules,stores,unit}.test.ts',
    'test/{deletion-cost,import-shapes,restored-versions}.test.ts',
    'test/sqlite/unfinished-damage.test.ts',
    'test/tidy/tidy.test.ts',
  ],
  // They call commands, which run in a process that is there anyway.
  [
    'test/{actions-and-currency,answers,calendar,corporate-actions,damaged-bars,delete-rows,dividend-closes,economic,help,holidays}.test.ts',
    'test/{import-reports,json-errors,known-names,labels,news}.test.ts',
    'test/findings/{check,imports}.test.ts',
  ],
  [
    'test/{option-roots,options,periods,progress,quiet,reference,sample-files,search,sessions,status}.test.ts',
    'test/{symbol-contracts,symbols,undo-rows}.test.ts',
    'test/presets/{command,write-map}.test.ts',
    'test/sqlite/{damaged-pages,damaged-rows,kept-check,store-copy}.test.ts',
  ],
  [
    'test/{damaged-rows,deep-check,doctor,import-bounds,on-failure,query-command,rejected-file}.test.ts',
    'test/{replace,undo-cli}.test.ts',
  ],
  // Some of them start servers.
  [
    'test/{cli,completion,contract-walk,data-version,export,import,key-uses,serving-settings}.test.ts',
    'test/mcp/{ten-questions,tools}.test.ts',
  ],
  ['test/sqlite/{addresses,copy,copy-refusals,damaged-log,migrations,replaced-store}.test.ts'],
];

if (import.meta.main) {
  const loaded = Promise.withResolvers<void>();
  // No test of a file begins before all files are loaded: what one says of its tests and hooks would be taken
  // for a part of the test that runs.
  test('the files are loaded', () => loaded.promise);
  const load = async (): Promise<void> => {
    for (const path of process.argv.slice(2)) await import(resolve(path));
  };
  // One that cannot be loaded fails that test: nobody waits for it.
  loaded.resolve(load());
}
