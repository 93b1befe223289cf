// The instruments that a command names, and a hint where the store has none of that name.
import { nearest } from '../base/nearest.ts';
import { type AssetSchema, assetSchemas } from '../contract/identifiers.ts';
import { type Instrument, instruments } from '../datasets/reference.ts';
import { instrumentNamed } from '../store/instrument-terms.ts';
import type { RowReader } from '../store/store.ts';
import { RequestProblem } from './request-problem.ts';

/** Which instrument is meant. The asset type may be null where only one type has the symbol. */
export type InstrumentChoice = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string;
  readonly symbol: string;
};

/** Symbols compared for a hint. */
const NEIGHBOURS_MAX = 1000;

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
  const found: Instrument[] = [];
  for (const market of markets) {
    const row = await instrumentNamed(reader, { ...market, symbol });
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
  const types = found.map((instrument) => instrument.asset_schema).join(', ');
  throw new RequestProblem(
    `${choice.country}:${choice.symbol} is of several asset types: choose by --schema one of ${types}`,
  );
}
