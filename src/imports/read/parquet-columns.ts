// Columns of a Parquet file in SQL, by their types: as the text that a CSV would have, or as the number of
// that text.

/** A column as text. NaN is null: data frames write missing numbers so. */
export function parquetText(column: string, type: string): string {
  if (type === 'TIMESTAMP WITH TIME ZONE')
    return `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%fZ')`;
  if (type === 'FLOAT' || type === 'DOUBLE')
    return `case when isnan(${column}) then null else ${column}::varchar end`;
  return `${column}::varchar`;
}

/** Integers that DuckDB rounds to a double as reading their text does. */
const INTEGER = /^U?(TINYINT|SMALLINT|INTEGER|BIGINT)$/;

/** So many digits are exact as a whole number, so that the quotient with a power of ten is rounded once. */
const EXACT_DIGITS = 15;

/**
 * A column of numbers as the doubles that reading their texts gives; NaN and null are missing. Null for any
 * other type: what is a number is then to be seen from each text.
 */
export function parquetNumber(column: string, type: string): string | null {
  if (type === 'DOUBLE') return column;
  if (INTEGER.test(type)) return `${column}::double`;
  const digits = /^DECIMAL\((\d+),\d+\)$/.exec(type)?.[1];
  if (digits !== undefined && Number(digits) <= EXACT_DIGITS) return `${column}::double`;
  return digits !== undefined || type === 'FLOAT' || type === 'HUGEINT' ? `${column}::varchar::double` : null;
}

/**
 * The form of the texts in a column of dates or times: with an offset, without one, or dates. Null for any
 * other type.
 */
export function parquetMoment(type: string): 'instant' | 'local' | 'date' | null {
  if (type === 'TIMESTAMP WITH TIME ZONE') return 'instant';
  if (type === 'TIMESTAMP' || type === 'TIMESTAMP_NS') return 'local';
  return type === 'DATE' ? 'date' : null;
}

/**
 * A column of dates or times as milliseconds since 1970, as if in UTC; infinite ones are null. It fails at a
 * part of a microsecond: that would be lost.
 */
export function parquetMs(column: string, type: string): string {
  const ms = `epoch_us(${column}) / 1000.0`;
  if (type !== 'TIMESTAMP_NS') return ms;
  return `case when epoch_ns(${column}) % 1000 <> 0 then error('nanoseconds') else ${ms} end`;
}
