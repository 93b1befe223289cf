// What instruments are found by follows their rows, whatever is imported, deleted and taken back; and finds
// what it should (contract 9.2, 9.6, 10).
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { importFile } from '../src/imports/load/importers.ts';
import { deleteInstrument } from '../src/runs/delete-bars.ts';
import { undoRun } from '../src/runs/undo-run.ts';
import { searchInstruments } from '../src/store/instrument-terms.ts';
import type { Store } from '../src/store/store.ts';
import { opened } from './importing.ts';
import { fc, times } from './seed.ts';
import { openToWrite, rowsOf, TestFolder } from './stores.ts';

const temporary = new TestFolder();
const { folder } = temporary;
after(() => temporary.close());

const symbols = ['A', 'AB', 'ABC', 'B', 'BA'] as const;
const countries = ['US', 'UK'] as const;
const words = ['alpha', 'alphabet', 'beta', 'gamma', 'a', 'ab'] as const;
type Row = { country: string; symbol: string; name: string; former: string | null };

const row: fc.Arbitrary<Row> = fc.record({
  country: fc.constantFrom(...countries),
  symbol: fc.constantFrom(...symbols),
  name: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((list) => list.join(' ')),
  former: fc.option(fc.constantFrom('AZ', 'BZ', 'ZZ')),
});
type Step = { rows?: Row[]; undo?: number; gone?: Row };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        rows: fc.uniqueArray(row, {
          selector: (one) => one.country + one.symbol,
          minLength: 1,
          maxLength: 4,
        }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ undo: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ gone: row }) },
  ),
  { maxLength: 8 },
);

let stores = 0;

async function imported(store: Store, rows: readonly Row[]): Promise<number | null> {
  const file = join(folder, 'file.csv');
  const lines = rows.map(({ country, symbol, name, former }) =>
    ['stock', country, symbol, name, former === null ? '' : `${former}:2000-01-01..2001-01-01`].join(),
  );
  const head = 'asset_schema,country_iso_code,symbol,name,former_symbols';
  writeFileSync(file, [head, ...lines, ''].join('\n'));
  const about = { source: null, dryRun: false, nowMs: Date.now, flags: new Map() };
  return (await importFile(store, 'instruments', { ...about, file: await opened(file) })).runId;
}

/** Does some steps; those that cannot be done are refused and change nothing. */
async function follow(store: Store, given: readonly Step[]): Promise<void> {
  const runs: number[] = [];
  for (const { rows, undo, gone } of given) {
    if (rows !== undefined) runs.push(...[await imported(store, rows)].filter((run) => run !== null));
    else if (undo !== undefined && runs.length > 0) {
      const [runId] = runs.splice(undo % runs.length, 1);
      await undoRun(store, { runId: runId!, dryRun: false, nowMs: Date.now });
    } else if (gone !== undefined) {
      const { country, symbol } = gone;
      const choice = { assetSchema: 'stock', country, symbol, words: 'gone' } as const;
      const done = deleteInstrument(store, { ...choice, dryRun: false, nowMs: Date.now });
      await done.then(
        ({ runId }) => runs.push(runId!),
        () => undefined,
      );
    }
  }
}

type Stored = {
  readonly country: string;
  readonly symbol: string;
  readonly name: string;
  readonly former: string;
};

const storedIn = (url: string): Stored[] =>
  rowsOf(url, 'select country_iso_code as country, symbol, name, former_symbols from instruments').map(
    ({ country, symbol, name, former_symbols }) => {
      const [former] = (JSON.parse(String(former_symbols)) as { symbol: string }[] | null) ?? [];
      return { country, symbol, name, former: former?.symbol ?? '' } as Stored;
    },
  );

/** The terms that the rows call for, worked out anew. */
function expectedTerms(stored: readonly Stored[]): string[] {
  const terms = stored.flatMap(({ country, symbol, name, former }) => {
    const list = name.split(' ');
    return [
      `${country} symbol ${symbol} ${symbol}`,
      ...(former === '' ? [] : [`${country} former ${former} ${symbol}`]),
      ...list.map(
        (_, at) => `${country} name ${[...list.slice(at), ...list.slice(0, at)].join(' ')} ${symbol}`,
      ),
    ];
  });
  return [...new Set(terms)].sort();
}

const storedTerms = (url: string): string[] =>
  rowsOf(url, 'select country_iso_code, kind, term, symbol from instrument_terms')
    .map((one) => Object.values(one).join(' '))
    .sort();

test('the terms are those of the rows that are left, after any imports, deletions and undoings (contract 9.2, 10)', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(fc.constantFrom('a', 'al', 'alpha', 'b', 'bet', 'ab', 'g', 'zz', 'az'), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.constantFrom(null, ...countries),
      async (given, asked, country) => {
        const url = temporary.storeUrl(String(++stores));
        const store = await openToWrite(url);
        try {
          await follow(store, given);
          const stored = storedIn(url);
          assert.deepEqual(storedTerms(url), expectedTerms(stored));
          const symbol = asked.length > 1 ? null : asked[0]!.toUpperCase();
          const search = { assetSchema: 'stock', country, symbol, words: asked, limit: 100 };
          const found = await store.snapshot((reader) => searchInstruments(reader, search));
          const isFound = (one: Stored): boolean =>
            (country === null || one.country === country) &&
            ((symbol !== null && (one.symbol.startsWith(symbol) || one.former.startsWith(symbol))) ||
              asked.every((word) => one.name.split(' ').some((part) => part.startsWith(word))));
          const names = found.map((one) => `${one.country_iso_code}:${one.symbol}`);
          assert.deepEqual(
            [...names].sort(),
            stored
              .filter(isFound)
              .map((one) => `${one.country}:${one.symbol}`)
              .sort(),
          );
          const bySymbol = symbol === null ? [] : found.filter((one) => one.symbol.startsWith(symbol));
          assert.deepEqual(found.slice(0, bySymbol.length), bySymbol, 'symbols come first');
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: times(20) },
  );
});
