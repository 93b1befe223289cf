// What an instrument is needed for: its bars, and the rows of other datasets that name it.
import { series } from '../datasets/bars.ts';
import { corporateActions } from '../datasets/corporate-actions.ts';
import type { Dataset, RowOf } from '../datasets/dataset.ts';
import { holidays } from '../datasets/holidays.ts';
import { news } from '../datasets/news.ts';
import { optionContracts } from '../datasets/options.ts';
import type { instruments } from '../datasets/reference.ts';
import type { RowReader } from '../store/store.ts';

/** What an instrument is known by. */
export type Name = Pick<RowOf<typeof instruments>, 'asset_schema' | 'country_iso_code' | 'symbol'>;

/** Rows of a dataset that name an instrument, found along an index. */
type Use = {
  readonly dataset: Dataset;
  readonly where: Readonly<Record<string, string>>;
  /** The index's next column. */
  readonly order: string;
  /** What chooses them for `bourse delete`. */
  readonly flags: string;
};

/** No instrument has more series. */
const SERIES_MAX = 1500;

/** The series of an instrument that have bars. */
export async function seriesWithBars(
  reader: RowReader,
  { instrument_id }: Pick<RowOf<typeof instruments>, 'instrument_id'>,
): Promise<RowOf<typeof series>[]> {
  const found = await reader.rows(series, {
    where: { instrument_id },
    order: [['interval', 'asc']],
    limit: SERIES_MAX,
  });
  return found.filter((row) => row.bar_count > 0);
}

function usesOf({ asset_schema, country_iso_code, symbol }: Name): Use[] {
  const market = `--country ${country_iso_code}`;
  const named = `${market} --symbol ${symbol}`;
  const typed = `--schema ${asset_schema} ${named}`;
  const item = { asset_name: asset_schema, country_iso_code, symbol };
  const ofNews = { dataset: news, where: item, order: 'published_date', flags: typed };
  if (asset_schema === 'option') {
    const where = { country_iso_code, symbol };
    return [
      { dataset: optionContracts, where, order: 'symbol', flags: `${market} --contract ${symbol}` },
      ofNews,
    ];
  }
  const contract = { country_iso_code, parent_asset_schema: asset_schema, underlying_name: symbol };
  const action = { country_iso_code, symbol };
  return [
    { dataset: optionContracts, where: contract, order: 'option_type', flags: typed },
    ...(asset_schema === 'stock'
      ? [{ dataset: corporateActions, where: action, order: 'ex_date', flags: named }]
      : []),
    { dataset: holidays, where: item, order: 'calendar_date', flags: typed },
    ofNews,
  ];
}

/** Rows that name an instrument, of the first dataset that has some; null where none has. */
export async function useOf(reader: RowReader, name: Name): Promise<Use | null> {
  for (const use of usesOf(name)) {
    const { dataset, where, order } = use;
    const found = await reader.pick(dataset, [order], { where, order: [[order, 'asc']], limit: 1 });
    if (found.length > 0) return use;
  }
  return null;
}

/** The instruments that a row names, whatever its dataset. */
export function namedBy(dataset: Dataset, row: RowOf<Dataset>): Name[] {
  const { country_iso_code, symbol, ...said } = row as Readonly<Record<string, string>>;
  const named = (asset_schema: string, called = symbol!): Name => ({
    asset_schema,
    country_iso_code: country_iso_code!,
    symbol: called,
  });
  if (dataset === corporateActions) return [named('stock')];
  if (dataset === optionContracts)
    return [named('option'), named(said.parent_asset_schema!, said.underlying_name!)];
  const isOne = (dataset === news && symbol !== null) || (dataset === holidays && symbol !== '*');
  return isOne ? [named(said.asset_name!)] : [];
}
