// What the SQL of PostgreSQL has of its own.
import { type Dialect, SqlCompiler } from '../sql.ts';
import { type Element, type ElementType, SentArray } from './session.ts';

const dialect: Dialect = {
  // Text is compared by its UTF-8 bytes, as in every engine, and a boolean is 0 or 1: checksums of rows are
  // then the same everywhere.
  types: {
    text: 'text collate "C"',
    integer: 'bigint',
    real: 'double precision',
    instant: 'bigint',
    day: 'bigint',
    boolean: 'bigint',
    json: 'text collate "C"',
    bytes: 'bytea',
  },
  clustered: '',
  nullsFirst: { asc: ' nulls first', desc: ' nulls last' },
  // An expression is in no index.
  unchosen: (column) => `+${column}`,
  mark: (at) => `$${at}`,
  typed: (mark, kind) => `${mark}::${dialect.types[kind]}`,
};

/** Statement texts for PostgreSQL. */
export const postgresCompiler = new SqlCompiler(dialect);

/** The type of an array of a kind of column. */
export const arrayType = (kind: keyof Dialect['types']): string =>
  `${dialect.types[kind].split(' collate')[0]}[]`;

const elementTypes: Readonly<Record<keyof Dialect['types'], ElementType>> = {
  text: 'text',
  integer: 'int8',
  real: 'float8',
  instant: 'int8',
  day: 'int8',
  boolean: 'int8',
  json: 'text',
  bytes: 'bytea',
};

/** Values of a kind of column, as a parameter of the type `arrayType`. */
export const arrayOf = (kind: keyof Dialect['types'], values: readonly Element[]): SentArray =>
  new SentArray(elementTypes[kind], values);
