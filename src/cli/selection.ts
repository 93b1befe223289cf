// Flags that say which rows a command is about.
import { type ParsedInstant, parseInstant } from '../base/instant.ts';
import {
  type AssetSchema,
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../contract/identifiers.ts';
import { type Interval, intervalsAllowed, parseInterval } from '../contract/interval.ts';
import type { Field, FieldRule } from '../datasets/field.ts';
import { fileDatasetNamed } from '../datasets/index.ts';
import { UsageProblem } from './config.ts';

/** The value of a flag; null when it was not given. @throws UsageProblem */
export function readFlag<T>(
  flag: string,
  text: string | undefined,
  parse: (text: string) => T | null,
  allowed: string,
): T | null {
  if (text === undefined) return null;
  const value = parse(text);
  if (value === null) throw new UsageProblem(`${flag} ${text}: must be ${allowed}`);
  return value;
}

/** `--schema` */
export const readSchema = (text: string | undefined): AssetSchema | null =>
  readFlag('--schema', text, parseAssetSchema, `one of ${assetSchemas.join(', ')}`);

/** `--country` */
export const readCountry = (text: string | undefined): string | null =>
  readFlag('--country', text, parseCountry, 'a two-letter code such as US, or GLOBAL');

/** `--symbol` */
export const readSymbol = (text: string | undefined): string | null =>
  readFlag('--symbol', text, parseSymbol, symbolAllowed);

/** A flag that gives or selects a field of a dataset. @throws UsageProblem where the field cannot be that */
export function readField(flag: string, text: string, { rule }: Field): string {
  const { parse, reason } = rule as FieldRule;
  const value = parse(text);
  if (value === undefined) throw new UsageProblem(`${flag} ${text}: ${reason}`);
  return value as string;
}

/** `--symbol` of a dataset: it may be `*` where rows may be those of a whole market. */
export const readSymbolOf = (dataset: string, text: string | undefined): string | null => {
  const field = fileDatasetNamed(dataset)?.file.fields.symbol;
  return text === '*' && field !== undefined ? readField('--symbol', text, field) : readSymbol(text);
};

/** `--interval` */
export const readInterval = (text: string | undefined): Interval | null =>
  readFlag('--interval', text, parseInterval, `one of ${intervalsAllowed}`);

/** `--from` and `--to` */
export const readBound = (flag: string, text: string | undefined): ParsedInstant | null =>
  readFlag(flag, text, parseInstant, 'a date such as 2025-03-03, or a time such as 2025-03-03T14:30:00Z');
