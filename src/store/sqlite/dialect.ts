// What the SQL of SQLite has of its own.
import { type Dialect, SqlCompiler } from '../sql.ts';

const dialect: Dialect = {
  types: {
    text: 'text',
    integer: 'integer',
    real: 'real',
    instant: 'integer',
    day: 'integer',
    boolean: 'integer',
    json: 'text',
    bytes: 'blob',
  },
  clustered: 'without rowid',
  // Null precedes every value by itself (sqlite.org/datatype3.html, 4.1), and an index takes no other word
  // about it.
  nullsFirst: { asc: '', desc: '' },
  // A unary plus (sqlite.org/optoverview.html, 8).
  unchosen: (column) => `+${column}`,
  mark: () => '?',
  typed: (mark) => mark,
};

/** Statement texts for SQLite. */
export const sqliteCompiler = new SqlCompiler(dialect);
