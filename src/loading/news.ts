// News: what a file may say of an item (spec 2.5, contract 8.3, 11).
import { hash } from 'node:crypto';
import { calendarOf } from '../calendar/calendar.ts';
import type { Zone } from '../calendar/zone.ts';
import type { AssetSchema } from '../contract/identifiers.ts';
import type { RowOf } from '../datasets/dataset.ts';
import { news } from '../datasets/news.ts';
import type { RowProblem } from '../files/file-problem.ts';
import type { ImportReport } from '../history/import-report.ts';
import type { InstrumentName } from '../history/new-instrument.ts';
import { type ImportRequest, withAssetName } from '../history/run.ts';
import type { FieldNames } from '../mapping/column-mapping.ts';
import {
  anyNumberRule,
  assetSchemaRule,
  countryRule,
  type FieldRule,
  servedInstantRule,
  symbolRule,
  textRule,
  wordRule,
} from '../mapping/field-rules.ts';
import type { Store } from '../store/store.ts';
import { importRows, type NamedOnDay, type RowImport, type Values } from './rows.ts';

/** What ties an item to an instrument: all of them or none. */
const ties = ['asset_name', 'country_iso_code', 'symbol'] as const;

/** The fields of a news file (contract 11). */
export const newsFields: FieldNames = {
  required: ['published_date', 'title', 'publisher_url'],
  optional: [...ties, 'sentiment_label', 'sentiment_score', 'link_type', 'publisher', 'text_content'],
  flags: { asset_name: '--schema', country_iso_code: '--country', symbol: '--symbol' },
};

/** The link of an item to one instrument (spec 2.5). */
const SPECIFIC_ASSET = 'SPECIFIC_ASSET';

const rules: Readonly<Record<string, FieldRule>> = {
  title: textRule,
  publisher_url: {
    parse: (text) => (/^https?:\/\/\S+$/i.test(text) ? text : undefined),
    reason: 'must be an address that begins with https:// or http://',
  },
  asset_name: assetSchemaRule,
  country_iso_code: countryRule,
  symbol: symbolRule,
  sentiment_label: wordRule(['positive', 'neutral', 'negative']),
  sentiment_score: anyNumberRule,
  link_type: textRule,
  publisher: textRule,
  text_content: { parse: (text) => text, reason: '' },
};

function problemOf(values: Values): RowProblem | null {
  const missing = ties.filter((field) => values[field] === undefined);
  if (missing.length === 0 || missing.length === ties.length) return null;
  return { column: missing[0]!, reason: `is missing: ${ties.join(', ')} belong together` };
}

type Item = RowOf<typeof news>;

/** 128 bits of SHA-256 of address, title and instrument (contract 4.5). */
function idOf(values: Values): string {
  const known = ['publisher_url', 'title', ...ties].map((field) => values[field] ?? null);
  return hash('sha256', JSON.stringify(known), 'buffer').toString('base64url', 0, 16);
}

const blank = Object.fromEntries(Object.keys(news.columns).map((column) => [column, null]));

/** The row that the values of its fields give; those that are missing are null. */
export function newsRowOf(values: Values): Item {
  const linkType = values.symbol === undefined ? null : SPECIFIC_ASSET;
  return { ...blank, link_type: linkType, ...values, news_id: idOf(values) } as Item;
}

/** The instrument that an item is tied to, or null. */
function nameIn(values: Values): InstrumentName | null {
  const { asset_name = null, country_iso_code = null, symbol = null } = values as Partial<Item>;
  if (asset_name === null || country_iso_code === null || symbol === null) return null;
  return { asset_schema: asset_name, country_iso_code, symbol };
}

/** The symbol by which an item names an instrument, or null. */
export function symbolOfNews(values: Values): NamedOnDay | null {
  const name = nameIn(values);
  if (name === null) return null;
  const { zone } = calendarOf(name.asset_schema as AssetSchema, name.country_iso_code);
  return { field: 'symbol', name, day: zone.dayAt(values.published_date as number) };
}

const kindOf = (zone: Zone | null): RowImport<typeof news> => ({
  dataset: news,
  fields: newsFields,
  rules: { ...rules, published_date: servedInstantRule(zone) },
  keyOf: (values) => ({ news_id: idOf(values) }),
  repeated: {
    column: 'title',
    reason: 'the file has this item of this instrument already, with other values',
  },
  problemOf,
  instrumentOf(values) {
    const name = nameIn(values);
    return name === null ? null : { ...name, exchange: null };
  },
  symbolOf: symbolOfNews,
  rowOf: (values) => newsRowOf(values),
});

/** Imports one file of news. @throws FileProblem when nothing of it can be imported */
export async function importNews(store: Store, request: ImportRequest): Promise<ImportReport> {
  const { newRows: _, ...report } = await importRows(
    store,
    withAssetName(request),
    kindOf(request.zone ?? null),
  );
  return report;
}
