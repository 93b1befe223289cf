// Arguments and flags that say which rows a command is about.
import { type ParsedInstant, parseInstant } from '../../base/instant.ts';
import {
  type AssetSchema,
  assetSchemas,
  parseAssetSchema,
  parseCountry,
  parseSymbol,
  symbolAllowed,
} from '../../contract/identifiers.ts';
import { type Interval, intervalsAllowed, parseInterval } from '../../contract/interval.ts';
import type { Field, FieldRule } from '../../store/schema/dataset.ts';
import { fileDatasetNamed } from '../../store/schema/index.ts';
import { UsageProblem } from '../config.ts';

/** A flag of one meaning: reads its value; null when it was not given. @throws UsageProblem */
const reader =
  <T>(flag: string, parse: (text: string) => T | null, allowed: string) =>
  (text: string | undefined): T | null => {
    const value = text === undefined ? null : parse(text);
    if (text !== undefined && value === null) throw new UsageProblem(`${flag} ${text}: must be ${allowed}`);
    return value;
  };

/** `--schema` */
export const readSchema = reader<AssetSchema>(
  '--schema',
  parseAssetSchema,
  `one of ${assetSchemas.join(', ')}`,
);

/** `--country` */
export const readCountry = reader<string>(
  '--country',
  parseCountry,
  'a two-letter code such as US, or GLOBAL',
);

/** `--symbol` */
export const readSymbol = reader<string>('--symbol', parseSymbol, symbolAllowed);

/** `--interval` */
export const readInterval = reader<Interval>('--interval', parseInterval, `one of ${intervalsAllowed}`);

/** `--from` and `--to` */
export const readBound = (flag: string, text: string | undefined): ParsedInstant | null =>
  reader(flag, parseInstant, 'a date such as 2025-03-03, or a time such as 2025-03-03T14:30:00Z')(text);

/**
 * A flag that gives or selects a field of a dataset. @throws UsageProblem for a value that the field cannot
 * have
 */
export function readField(flag: string, text: string, { rule }: Field): string {
  const { parse, reason } = rule as FieldRule;
  const value = parse(text);
  if (value === undefined) throw new UsageProblem(`${flag} ${text}: ${reason}`);
  return value as string;
}

/** `--symbol` of a dataset: it may be `*` where rows may be those of a whole market. */
export function readSymbolOf(dataset: string, text: string | undefined): string | null {
  const field = fileDatasetNamed(dataset)?.file.fields.symbol;
  return text === '*' && field !== undefined ? readField('--symbol', text, field) : readSymbol(text);
}
