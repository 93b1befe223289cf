// Names of instruments: the store's knowledge of many, looked up together (a read for each took a third of an
// import of new ones), instruments that it does not know yet, and the identifiers that it gives out.

import { rowsAmong } from '../store/all-rows.ts';
import { unlessDamaged } from '../store/damage.ts';
import { type FormerBearer, formerBearers, refuseLost } from '../store/instrument-terms.ts';
import { rowKeyOf } from '../store/journal-entries.ts';
import { counters, rowChanges } from '../store/schema/internal.ts';
import {
  type Instrument,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from '../store/schema/reference.ts';
import type { Writer } from '../store/store.ts';

/** An instrument as people write it. */
export const nameOf = ({ asset_schema, country_iso_code, symbol }: InstrumentName): string =>
  `${asset_schema}:${country_iso_code}:${symbol}`;

/** The first identifier given out. */
const FIRST_INSTRUMENT_ID = 100_001;

/** Their counter. */
const INSTRUMENT_ID = 'instrument_id';

/** Changes of an instrument in which its former identifiers are looked up: the newest ones have them. */
const CHANGES_OF_NAME_MAX = 100;

/** The counters of one write: each is read once, and written by `settle`. No value is given out twice. */
export class Counters {
  readonly #writer: Writer;
  /** The last value of each counter that was given out or found. */
  #last = new Map<string, number>();
  readonly #stored = new Map<string, number>();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  async next(name: string, first: number): Promise<number> {
    let last = this.#last.get(name);
    if (last === undefined) {
      last = (await this.#writer.group(counters, { name }))[0]?.value ?? first - 1;
      this.#stored.set(name, last);
    }
    this.#last.set(name, last + 1);
    return last + 1;
  }

  instrumentId(): Promise<number> {
    return this.next(INSTRUMENT_ID, FIRST_INSTRUMENT_ID);
  }

  /** Remembers the present values: the function that it gives takes back what was given out after that. */
  mark(): () => void {
    const marked = new Map(this.#last);
    return () => {
      this.#last = marked;
    };
  }

  /** Writes the counters, so that later writes go on after them. */
  async settle(): Promise<void> {
    const used = [...this.#last].filter(([name, value]) => value !== this.#stored.get(name));
    await this.#writer.upsert(
      counters,
      used.map(([name, value]) => ({ name, value })),
    );
  }
}

/** The instrument of each name that was deleted last; null without one. */
async function deletedNamed(
  writer: Writer,
  names: readonly InstrumentName[],
): Promise<(Instrument | null)[]> {
  const keys = names.map((name) => ({ dataset: instruments.name, row_key: rowKeyOf(instruments, name) }));
  const newest = { order: [['run_id', 'desc'] as const], limit: CHANGES_OF_NAME_MAX };
  const changes = await writer.rowsByKey(rowChanges, keys, newest);
  return changes.map(
    (some) => (some.find(({ before }) => before !== null)?.before as Instrument | undefined) ?? null,
  );
}

const blank = Object.fromEntries(Object.keys(instruments.columns).map((column) => [column, null]));

/** An instrument with nothing but its name and its identifiers. */
export function blankInstrument(name: InstrumentName, instrument_id: number, asset_id: number): Instrument {
  return { ...blank, ...name, instrument_id, asset_id } as Instrument;
}

/**
 * A new instrument with nothing but its name. One that was deleted gets its former identifiers again;
 * `deleted` is that one where it is known.
 */
export async function newInstrument(
  writer: Writer,
  name: InstrumentName,
  ids: Counters,
  { deleted: known }: { readonly deleted?: Instrument | null | undefined } = {},
): Promise<Instrument> {
  const [deleted] = known === undefined ? await deletedNamed(writer, [name]) : [known];
  const instrument_id = deleted?.instrument_id ?? (await ids.instrumentId());
  const asset_id = deleted?.asset_id ?? instrument_id;
  return blankInstrument(name, instrument_id, asset_id);
}

/** The store's knowledge of one name. */
export type KnownName = {
  /** Its row; null where none has it. */
  readonly instrument: Instrument | null;
  /** Of a name without a row, the instrument that had it last and was deleted; null without one. */
  readonly deleted: Instrument | null;
  /** The instruments that had its symbol before (contract 9.6). */
  readonly former: readonly FormerBearer[];
};

/**
 * Looks up names; the result has each by `nameOf`. A name whose row is damaged or lost is left out: whoever
 * uses it meets that, and a file in which nobody does is imported.
 */
export async function lookUpNames(
  writer: Writer,
  names: readonly InstrumentName[],
): Promise<Map<string, KnownName>> {
  const found = new Map<string, KnownName>();
  const marketOf = ({ asset_schema, country_iso_code }: InstrumentName): string =>
    `${asset_schema} ${country_iso_code}`;
  for (const group of Map.groupBy(names, marketOf).values()) {
    if ((await unlessDamaged(lookUpGroup(writer, group, found))) !== null) continue;
    for (const name of group) await unlessDamaged(lookUpGroup(writer, [name], found));
  }
  return found;
}

/**
 * Looks up names of one asset type and country. @throws DamagedData as `instrumentNamed` and `formerBearers`
 * do
 */
async function lookUpGroup(
  writer: Writer,
  names: readonly InstrumentName[],
  found: Map<string, KnownName>,
): Promise<ReadonlyMap<string, KnownName>> {
  const { asset_schema, country_iso_code } = names[0]!;
  const market = { asset_schema, country_iso_code };
  const symbols = [...new Set(names.map(({ symbol }) => symbol))];
  const termsOf = async (kind: string, terms: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await rowsAmong(writer, instrumentTerms, { ...market, kind }, 'term', terms);
    return new Set(rows.map(({ term }) => term));
  };
  const rows = await rowsAmong(writer, instruments, market, 'symbol', symbols);
  const bySymbol = new Map(rows.map((row) => [row.symbol, row]));
  const unknown = symbols.filter((symbol) => !bySymbol.has(symbol));
  for (const symbol of await termsOf('symbol', unknown)) await refuseLost(writer, { ...market, symbol });
  const deleted = await deletedNamed(
    writer,
    unknown.map((symbol) => ({ ...market, symbol })),
  );
  const deletedBySymbol = new Map(unknown.map((symbol, at) => [symbol, deleted[at]!]));
  const had = await termsOf('former', symbols);
  for (const symbol of symbols) {
    const name = { ...market, symbol };
    found.set(nameOf(name), {
      instrument: bySymbol.get(symbol) ?? null,
      deleted: deletedBySymbol.get(symbol) ?? null,
      former: had.has(symbol) ? await formerBearers(writer, name) : [],
    });
  }
  return found;
}
