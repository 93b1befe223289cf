// The instruments that a command names, and what may have been meant where the store knows none.

import { nearest } from '../base/nearest.ts';
import { type AssetSchema, assetSchemas } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { instruments } from '../datasets/reference.ts';
import type { RowReader } from '../store/store.ts';
import { RequestProblem } from './request-problem.ts';

type Instrument = RowOf<typeof instruments>;

/** Which instrument is meant. The asset type may be left out where no other type has the symbol. */
export type InstrumentChoice = {
  readonly assetSchema: AssetSchema | null;
  readonly country: string;
  readonly symbol: string;
};

/** Symbols compared for a hint. */
const NEIGHBOURS_MAX = 1000;

/** The instruments of a symbol, one an asset type that has it. @throws RequestProblem where there is none, naming a near one */
export async function findInstruments(reader: RowReader, choice: InstrumentChoice): Promise<Instrument[]> {
  const { assetSchema, country, symbol } = choice;
  const schemas = assetSchema === null ? assetSchemas : [assetSchema];
  const found: Instrument[] = [];
  for (const schema of schemas) {
    const where = { asset_schema: schema, country_iso_code: country, symbol };
    found.push(...(await reader.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 })));
  }
  if (found.length > 0) return found;
  const near = nearest(symbol, await neighbours(reader, schemas, country, symbol[0]!));
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

async function neighbours(
  reader: RowReader,
  schemas: readonly string[],
  country: string,
  beginning: string,
): Promise<string[]> {
  const symbols: string[] = [];
  for (const schema of schemas) {
    const found = await reader.rows(instruments, {
      where: { asset_schema: schema, country_iso_code: country },
      range: { from: beginning, to: `${beginning}\u{10ffff}` },
      order: [['symbol', 'asc']],
      limit: NEIGHBOURS_MAX,
    });
    symbols.push(...found.map((instrument) => instrument.symbol));
  }
  return symbols;
}
