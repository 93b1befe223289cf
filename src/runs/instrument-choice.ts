// The instruments that a command names, and a hint where the store has none of that name.
import { nearest } from '../base/words.ts';
import { type AssetSchema, assetSchemas } from '../contract/identifiers.ts';
import { rowsAmong } from '../store/all-rows.ts';
import { instrumentNamed, namesOf, symbolsLike } from '../store/instrument-terms.ts';
import {
  type Instrument,
  type InstrumentName,
  instruments,
  instrumentTerms,
} from '../store/schema/reference.ts';
import type { RowReader } from '../store/store.ts';
import { RequestProblem } from './recorded-write.ts';

/** Which instrument is meant. The asset type may be null where only one type has the symbol. */
export type InstrumentChoice = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string;
  readonly symbol: string;
};

/** Symbols compared for a hint. */
const NEIGHBOURS_MAX = 1000;

/**
 * The symbol of the only instrument of some markets that has one like another, which none of them has or had
 * (contract 9.21). Null without one; only terms are read.
 */
export async function likeSymbol(
  reader: RowReader,
  markets: readonly Omit<InstrumentName, 'symbol'>[],
  symbol: string,
): Promise<InstrumentName | null> {
  const found: InstrumentName[] = [];
  for (const market of markets) {
    for (const kind of ['symbol', 'former'])
      if ((await rowsAmong(reader, instrumentTerms, { ...market, kind }, 'term', [symbol])).length > 0)
        return null;
    const names = namesOf(await symbolsLike(reader, { ...market, symbol }));
    found.push(...names.map((name) => ({ ...market, symbol: name })));
  }
  return found.length === 1 ? found[0]! : null;
}

/**
 * The instruments of a symbol, at most one of each asset type.
 * @throws RequestProblem where there is none, with a similar symbol; DamagedData where the row of one is lost
 */
export async function findInstruments(reader: RowReader, choice: InstrumentChoice): Promise<Instrument[]> {
  const { assetSchema, country, symbol } = choice;
  const markets = (assetSchema === null ? assetSchemas : [assetSchema]).map((asset_schema) => ({
    asset_schema,
    country_iso_code: country,
  }));
  const like = await likeSymbol(reader, markets, symbol);
  const names = like === null ? markets.map((market) => ({ ...market, symbol })) : [like];
  const found: Instrument[] = [];
  for (const name of names) {
    const row = await instrumentNamed(reader, name);
    if (row !== null) found.push(row);
  }
  if (found.length > 0) return found;
  const neighbours: string[] = [];
  for (const where of markets) {
    const range = { from: symbol[0]!, to: `${symbol[0]}\u{10ffff}` };
    const read = { where, range, order: [['symbol', 'asc']], limit: NEIGHBOURS_MAX } as const;
    neighbours.push(...(await reader.rows(instruments, read)).map((instrument) => instrument.symbol));
  }
  const near = nearest(symbol, neighbours);
  throw new RequestProblem(
    `the store holds no ${assetSchema ?? 'instrument'} ${country}:${symbol}${near === undefined ? '' : `; is it ${near}?`}`,
  );
}

/** The instrument that is meant. @throws RequestProblem where none is, or several are */
export async function findInstrument(reader: RowReader, choice: InstrumentChoice): Promise<Instrument> {
  const found = await findInstruments(reader, choice);
  if (found.length === 1) return found[0]!;
  throw severalTypes(
    choice,
    found.map((instrument) => instrument.asset_schema),
  );
}

/** The refusal of a symbol that instruments of several asset types have. */
export const severalTypes = (
  { country, symbol }: Pick<InstrumentChoice, 'country' | 'symbol'>,
  types: readonly string[],
): RequestProblem =>
  new RequestProblem(
    `${country}:${symbol} is of several asset types: choose by --schema one of ${types.join(', ')}`,
  );
