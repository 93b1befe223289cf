// Rows of another form as plain ones: JSON that is no list of objects - lists of values, columns, objects by
// their dates or symbols, an answer with its list - as one object a line, and CSV whose columns are those of
// several symbols as one row for each. A reader process runs it; values keep their text.
import { closeSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { limits } from '../../contract/limits.ts';
import { arrowRows } from './arrow.ts';
import { contentProblem, type FileProblem, longRow, unfitProblem } from './file-problem.ts';
import { cellsOf, lineOf } from './sample.ts';
import { refuseBomb } from './unpack.ts';

/** A file, the place for its rows, and the columns that the mapping names: of lists, and of paths. */
export type Reshaping = {
  readonly kind: 'json' | 'symbols' | 'arrow';
  readonly name: string;
  readonly path: string;
  readonly target: string;
  readonly header?: readonly string[] | undefined;
  readonly paths?: readonly string[] | undefined;
};

/** The rows of a file in another: objects, or a CSV with this header; and what they were made of, in words. */
export type Reshaped = {
  readonly shape: string;
  readonly header: readonly string[] | null;
  /** True if the rows are those of several symbols, which are a column. */
  readonly isOfSymbols?: boolean;
  readonly leftOut?: { readonly reason: string; readonly count: number };
};

/** Writes the rows of a file to another; null for one that is read as it is. @throws FileProblem */
export function reshape(reshaping: Reshaping): Reshaped | null {
  if (reshaping.kind === 'symbols') return symbolRows(reshaping);
  if (reshaping.kind === 'json') return reshapeJson(reshaping);
  const header = writing(reshaping, (add) => arrowRows(reshaping.name, reshaping.path, add));
  return { shape: 'Arrow', header };
}

const [QUOTE, COLON, COMMA, BACKSLASH] = [0x22, 0x3a, 0x2c, 0x5c];
const [ARRAY, ARRAY_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];
const BLANKS: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const BARE = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[-+]?\d+)?|true|false|null|NaN|-?Infinity)$/i;

/** Bytes that a reader holds of a file: there may be one for each column. */
const PIECE_BYTES = 64 * 1024;

/** A text of which checkJson says what is wrong. */
class TooDeep extends Error {}

/** Reads a JSON text from a place on, value by value; texts are Latin-1, so that they keep their bytes. */
class JsonReader {
  readonly #name: string;
  readonly #file: number;
  readonly #piece = Buffer.allocUnsafe(PIECE_BYTES);
  #at = 0;
  #to = 0;
  #end: number;
  #depth = 0;

  constructor(name: string, file: number, start = 0) {
    this.#name = name;
    this.#file = file;
    this.#end = start;
  }

  get place(): number {
    return this.#end - this.#to + this.#at;
  }

  #byte(): number {
    if (this.#at === this.#to) {
      this.#to = readSync(this.#file, this.#piece, 0, PIECE_BYTES, this.#end);
      this.#end += this.#to;
      this.#at = 0;
    }
    return this.#to === 0 ? -1 : this.#piece[this.#at]!;
  }

  /** The next byte that is no blank; -1 at the end. */
  peek(): number {
    let byte = this.#byte();
    for (; BLANKS.has(byte); byte = this.#byte()) this.#at++;
    return byte;
  }

  #problem(): Error {
    const how = this.peek() < 0 ? 'it ends too early' : `near byte ${this.place}`;
    return contentProblem(this.#name, `the JSON is not well-formed: ${how}. Nothing was imported.`);
  }

  isContainer(): boolean {
    const byte = this.peek();
    return byte === ARRAY || byte === OBJECT;
  }

  /** Goes into a list or an object. */
  open(): void {
    if (++this.#depth > limits.jsonDepthMax) throw new TooDeep();
    this.peek();
    this.#at++;
  }

  /** Goes to the next entry of the list or object that is open; false at its end. */
  more(isFirst: boolean, end: number): boolean {
    const byte = this.peek();
    if (byte === end) {
      this.#at++;
      this.#depth--;
      return false;
    }
    if (isFirst) return true;
    if (byte !== COMMA) throw this.#problem();
    this.#at++;
    if (this.peek() === end) throw this.#problem();
    return true;
  }

  /** The key before a value, with its quotes. */
  key(): string {
    if (this.peek() !== QUOTE) throw this.#problem();
    const key = this.#scalar();
    if (this.peek() !== COLON) throw this.#problem();
    this.#at++;
    return key;
  }

  /** Visits the entries of a list or an object; `visit` reads each value. */
  each(visit: (key: string, index: number) => void): void {
    const isList = this.peek() === ARRAY;
    this.open();
    const end = isList ? ARRAY_END : OBJECT_END;
    for (let index = 0; this.more(index === 0, end); index++) visit(isList ? '' : this.key(), index);
  }

  #scalar(): string {
    const isText = this.peek() === QUOTE;
    let text = '';
    let isEscaped = false;
    let start = this.#at;
    for (let first = true; ; first = false) {
      if (this.#at === this.#to) {
        text += this.#piece.toString('latin1', start, this.#to);
        if (text.length > limits.importRowBytesMax) throw longRow(this.#name);
        start = 0;
      }
      const byte = this.#byte();
      if (isText) {
        if (byte < 0) throw this.#problem();
        this.#at++;
        if (byte === QUOTE && !isEscaped && !first) break;
        isEscaped = byte === BACKSLASH && !isEscaped;
      } else {
        if (byte <= 0x20 || byte === COMMA || byte === ARRAY_END || byte === OBJECT_END || byte === COLON)
          break;
        this.#at++;
      }
    }
    text += this.#piece.toString('latin1', start, this.#at);
    if (isText) return text;
    if (!BARE.test(text)) throw this.#problem();
    // Python writes missing numbers so.
    return /^(NaN|-?Infinity)$/i.test(text) ? 'null' : text;
  }

  /** A whole value as text. @throws FileProblem where it is longer than a row may be */
  value(): string {
    if (!this.isContainer()) return this.#scalar();
    const [isList, start] = [this.peek() === ARRAY, this.place];
    const parts: string[] = [];
    this.each((key) => {
      parts.push(key === '' ? this.value() : `${key}:${this.value()}`);
      if (this.place - start > limits.importRowBytesMax) throw longRow(this.#name);
    });
    return isList ? `[${parts.join()}]` : `{${parts.join()}}`;
  }

  skip(): void {
    if (this.isContainer()) this.each(() => this.skip());
    else this.#scalar();
  }
}

/** Kinds of values. */
const [SCALAR, LIST, RECORD] = [1, 2, 4];

/** A list or an object: what is in it, and its first lists and objects; of a list only the first one. */
type Node = {
  readonly key: string;
  readonly start: number;
  readonly isList: boolean;
  readonly kids: Node[];
  count: number;
  /** The kinds of its values, as a sum. */
  kinds: number;
  /** True if all of its keys are dates, epochs or numbers of rows. */
  areMoments: boolean;
  /** True if all of its keys may be symbols. */
  areSymbols: boolean;
  firstKey: string;
};

/** Lists and objects of an object that are looked at: more than any table has columns. */
const KIDS_MAX = 256;

const MOMENT = /^"(?:\d{4}-\d\d-\d\d(?:[ T][\d:.Z+-]*)?|\d+)"$/;
/** No interval, such as `1D` or `H4`. */
const SYMBOL =
  /^"(?!(?:\d+[SMHDWY]|\d+(?:MIN|MON)|[MHDW]\d+|DAY|WEEK|MON)")(?=.*[A-Z])[A-Z0-9^][A-Z0-9.^=/:_-]*"$/;
/** Keys of the symbol of a row, other than `symbol`. */
const SYMBOL_KEY = /^"(?:ticker|sym|instrument|(?:ts_)?code|(?:contract|option)_?symbol)"$/i;
/** A text that is no number and no date. */
const WORDS = /^"[^-+.\d]/;
const ROW_NUMBER = /^"?\d{1,7}"?$/;
/** Keys of lists that name the values in others. */
const NAMES_KEY = /columns|fields|names/i;
const TIME_KEY = /^"(?:t|ticks|dates?|datetime|times?|timestamps?)"$/i;

function outline(reader: JsonReader, key: string): Node {
  const [isList, start] = [reader.peek() === ARRAY, reader.place];
  const keys = { areMoments: !isList, areSymbols: !isList, firstKey: '' };
  const node: Node = { key, start, isList, kids: [], count: 0, kinds: 0, ...keys };
  reader.each((inner, index) => {
    if (index === 0) node.firstKey = inner;
    node.count++;
    node.areMoments &&= MOMENT.test(inner);
    node.areSymbols &&= SYMBOL.test(inner);
    const byte = reader.peek();
    node.kinds |= byte === ARRAY ? LIST : byte === OBJECT ? RECORD : SCALAR;
    if (reader.isContainer() && node.kids.length < (isList ? 1 : KIDS_MAX))
      node.kids.push(outline(reader, inner));
    else reader.skip();
  });
  return node;
}

/** Rows of a file: `nodes` is the one that has them, or its columns; `beside` are the lists beside it. */
type Table = {
  readonly kind: 'lists' | 'objects' | 'dated' | 'columns' | 'keyed';
  readonly nodes: readonly Node[];
  readonly keys: readonly string[];
  readonly beside: readonly Node[];
};

const isColumn = (node: Node): boolean => node.isList && node.kinds === SCALAR;

/** The columns beside a column of times, and those in objects below that are as long. */
function columnsIn(node: Node): readonly Node[] {
  const own = node.kids.filter(isColumn);
  const count = own.find(({ key }) => TIME_KEY.test(key))?.count ?? 0;
  const below = (inner: Node): Node[] => {
    if (isColumn(inner) || (inner.isList && inner.count > 1)) return [];
    const columns = inner.kids.filter(isColumn);
    return [...(columns.some((one) => one.count === count) ? columns : []), ...inner.kids.flatMap(below)];
  };
  return count === 0 ? [] : [...own, ...node.kids.flatMap(below)];
}

const isOfValues = (node: Node): boolean => !node.isList && node.kinds === SCALAR;

/** The lists of objects of a symbol: the node itself, or those of its answer. */
const listsOf = (node: Node): readonly Node[] =>
  [node, ...node.kids].filter((one) => one.isList && one.kinds === RECORD);

/** True for an object with rows by symbol: of several symbols, or of one whose answer has its `meta`. */
function areKeyed({ kids, kinds, areSymbols, areMoments }: Node): boolean {
  if (!areSymbols || areMoments || (kinds & SCALAR) > 0) return false;
  if (kinds === RECORD && kids.every((one) => isOfValues(one) && !one.areMoments))
    return kids.length > 1 && new Set(kids.map(({ firstKey }) => firstKey)).size === 1;
  // Lists of another key, or several, may have other rows.
  const forms = kids.flatMap((kid) => {
    const [list, ...more] = listsOf(kid);
    return list === undefined
      ? []
      : `${list === kid ? '' : list.key} ${list.kids[0]!.firstKey} ${more.length}`;
  });
  const isSure = forms.length > 1 || kids.some((one) => one.kids.some(({ key }) => key === '"meta"'));
  return isSure && new Set(forms).size === 1 && forms[0]!.endsWith(' 0');
}

/** The table that a node is by itself. */
function tableAt(node: Node, keys: readonly string[], beside: readonly Node[]): Table | null {
  const table = (kind: Table['kind'], nodes: readonly Node[] = [node]): Table => ({
    kind,
    nodes,
    keys,
    beside,
  });
  const { kids } = node;
  // The index of a frame of pandas may have lists as its rows have.
  if (node.key === '"index"' && beside.length > 2) return null;
  if (node.isList && node.kinds === LIST) return table('lists');
  if (node.isList && node.kinds === RECORD && keys.length > 0 && !NAMES_KEY.test(node.key))
    return (node.count === 1 ? tableAt(kids[0]!, keys, kids) : null) ?? table('objects');
  if (node.isList) return null;
  if (areKeyed(node)) return table('keyed');
  if (node.kinds === RECORD && node.areMoments && kids.every(isOfValues)) return table('dated');
  const areColumns = node.kinds === RECORD && kids.length > 2 && kids.length === node.count;
  if (areColumns && kids.every((kid) => isOfValues(kid) && kid.areMoments)) return table('columns', kids);
  const columns = kids.some((kid) => kid.isList && kid.kinds === LIST) ? [] : columnsIn(node);
  return columns.length > 2 ? table('columns', columns) : null;
}

const parsed = (raw: string): unknown => JSON.parse(Buffer.from(raw, 'latin1').toString());
const textOf = (raw: string): string => parsed(raw) as string;

/** The table of a file, the nearest to its beginning, or null. @throws where there are several */
function tableIn(name: string, root: Node): Table | null {
  let level: (readonly [Node, readonly string[], readonly Node[]])[] = [[root, [], []]];
  while (level.length > 0) {
    const tables = level.flatMap(([node, keys, beside]) => tableAt(node, keys, beside) ?? []);
    if (tables.length === 1) return tables[0]!;
    // An object with several lists of objects may be a row.
    if (tables.some(({ kind }) => kind === 'objects')) return null;
    if (tables.length > 1) {
      const names = tables.map(({ keys }) => keys.map(textOf).join('.')).slice(0, 10);
      throw unfitProblem(
        name,
        `has several tables: ${names.join(', ')}. Write the one to be imported into a file of its own`,
      );
    }
    level = level.flatMap(([node, keys]) =>
      node.isList && node.count > 1
        ? []
        : node.kids.map((kid) => [kid, kid.key === '' ? keys : [...keys, kid.key], node.kids] as const),
    );
  }
  return null;
}

/** Whether a mapping reads the file's own objects. */
const readsOwn = (
  { kids, firstKey }: Node,
  { paths = [] }: Pick<Reshaping, 'paths'>,
  { kind }: Table,
): boolean =>
  paths.some((path) => path.includes('[]')) ||
  (['objects', 'keyed'].includes(kind) &&
    paths.length > 0 &&
    paths.every((path) =>
      [firstKey, ...kids.map(({ key }) => key)].includes(JSON.stringify(path.split('.')[0])),
    ));

/** Orders of the values of bars, by their number; the documentation of the exchanges named has them. */
const orders: readonly string[] = [
  'datetime open high low close',
  // ccxt, freqtrade; Coinbase; Bitfinex.
  'datetime open high low close volume',
  'datetime low high open close volume',
  'datetime open close high low volume',
  // Bybit; KuCoin.
  'datetime open high low close volume turnover',
  'datetime open close high low volume turnover',
  // Kraken; Gate.
  'datetime open high low close vwap volume trades',
  'datetime turnover close high low open volume closed',
  // Binance.
  'datetime open high low close volume close_time quote_volume trades taker_volume taker_quote unused',
];

/** Rows by which an order is recognised. */
const SEEN_ROWS = 1_000;

/** Whether rows have their values in an order: a time first, the high above and the low below the others. */
function isOrder(names: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const places = ['open', 'high', 'low', 'close'].map((field) => names.indexOf(field));
  // Rows of other lengths are refused later.
  return rows.every((row) => {
    if (row.length !== names.length) return true;
    const [open, high, low, close] = places.map((place) => Number(row[place]!.replaceAll('"', '')));
    const isTime = /^"?(?:\d{4}-\d\d-\d\d|\d{9,19}(?:\.\d+)?"?$)/.test(row[0]!);
    return isTime && high! >= Math.max(open!, close!) && low! <= Math.min(open!, close!);
  });
}

/** The orders of values in which rows can be bars. */
export const ordersOf = (rows: readonly (readonly string[])[]): readonly (readonly string[])[] =>
  orders
    .map((one) => one.split(' '))
    .filter((names) => names.length === rows[0]?.length && isOrder(names, rows));

/** Writes the lines that `work` adds, many at a time. @throws FileProblem where they are far more than the file */
function writing<T>(
  { name, path, target }: Pick<Reshaping, 'name' | 'path' | 'target'>,
  work: (add: (row: string) => void) => T,
): T {
  const [file, packedBytes] = [openSync(target, 'w'), statSync(path).size];
  let [text, bytes] = ['', 0];
  const flush = (): void => {
    bytes += text.length;
    refuseBomb(name, bytes, packedBytes);
    writeSync(file, text, null, 'latin1');
    text = '';
  };
  try {
    const made = work((row) => {
      if (row.length > limits.importRowBytesMax) throw longRow(name);
      text += `${row}\n`;
      if (text.length > PIECE_BYTES) flush();
    });
    flush();
    return made;
  } finally {
    closeSync(file);
  }
}

const raw = (text: string): string => Buffer.from(JSON.stringify(text)).toString('latin1');

/** A text in raw JSON without the number that Alpha Vantage puts before names: `1. open`. */
const withoutNumber = (key: string): string => key.replace(/^"\d+[a-z]?\. /, '"');

/**
 * Writes the rows of a JSON file as objects, a line each; in words what it found, or null for one that is
 * read as it is. @throws FileProblem where it is cut off, or its rows do not fit each other
 */
function reshapeJson(request: Reshaping): Reshaped | null {
  const { name, path } = request;
  const file = openSync(path, 'r');
  const reader = new JsonReader(name, file);
  const at = (start: number): JsonReader => new JsonReader(name, file, start);
  try {
    if (!reader.isContainer()) return null;
    const root = outline(reader, '');
    // Objects in a list, or one after the other, are rows.
    const areRows = root.isList && root.kids[0]?.isList === false;
    const table = areRows || reader.peek() >= 0 ? null : tableIn(name, root);
    if (table === null || readsOwn(root, request, table)) return null;
    const [node] = table.nodes as [Node, ...Node[]];
    const rows = at(node.start);
    const without: string[] = [];
    const said: Readonly<Record<Table['kind'], (add: (row: string) => void) => string>> = {
      keyed(add) {
        // Its key, where the symbols have answers with a list.
        const [list] = node.kids.flatMap((kid) => listsOf(kid).map((one) => (one === kid ? '' : one.key)));
        rows.each((symbol) => {
          const refuse = (how: string): FileProblem =>
            unfitProblem(name, `${how}. Write the rows of all into one list, with a column symbol`);
          const beside = new Map([['"symbol"', symbol]]);
          const others: string[] = [];
          let count = 0;
          const addRow = (): void => {
            if (rows.peek() !== OBJECT)
              throw contentProblem(name, `a row of ${textOf(symbol)} is no object. Nothing was imported.`);
            const own: [key: string, value: string][] = [];
            rows.each((key) => own.push([key, rows.value()]));
            const keys = new Set(own.map(([key]) => key));
            const row = [...[...beside].filter(([key]) => !keys.has(key)), ...own];
            const isOther = ([key, value]: [string, string]): boolean =>
              SYMBOL_KEY.test(key) && value.startsWith('"') && value.toUpperCase() !== symbol;
            const other = keys.has('"symbol"') ? undefined : row.find(isOther)?.map(textOf).join(' ');
            if (other !== undefined)
              throw refuse(`its key ${textOf(symbol)} may not be a symbol: a row below it has the ${other}`);
            add(`{${row.map(([key, value]) => `${key}:${value}`).join()}}`);
            count++;
          };
          if (list === undefined) addRow();
          else if (rows.peek() === OBJECT)
            rows.each((key) => {
              if (key === list && rows.peek() === ARRAY) return rows.each(addRow);
              const value = rows.value();
              others.push(value);
              if (value.startsWith('{') || WORDS.test(value)) beside.set(key, value);
            });
          else if (list === '') rows.each(addRow);
          else others.push(rows.value());
          if (others.some((one) => one.startsWith('[{') || (count === 0 && one.includes('[{'))))
            throw refuse(`the rows of ${textOf(symbol)} are not where those of other symbols are`);
          if (count === 0) without.push(textOf(symbol));
        });
        return 'JSON, objects by their symbols';
      },
      objects(add) {
        rows.each(() => add(rows.value()));
        return `JSON, the objects of ${table.keys.map(textOf).join('.')}`;
      },
      dated(add) {
        const hasTime = ROW_NUMBER.test(node.firstKey);
        rows.each((key) => {
          const cells: string[] = [];
          let isDated = hasTime;
          rows.each((inner) => {
            isDated ||= TIME_KEY.test(inner);
            cells.push(`${withoutNumber(inner)}:${rows.value()}`);
          });
          add(`{${[...(isDated ? [] : [`"datetime":${key}`]), ...cells].join()}}`);
        });
        return 'JSON, one object per date, which is its datetime';
      },
      columns(add) {
        const columns = table.nodes.map(({ start }) => at(start));
        for (const column of columns) column.open();
        const end = node.isList ? ARRAY_END : OBJECT_END;
        for (let row = 0; ; row++) {
          const isMore = columns.map((column) => column.more(row === 0, end));
          const keys = node.isList || !isMore[0] ? [] : columns.map((column) => column.key());
          if (new Set(isMore).size > 1 || new Set(keys).size > 1)
            throw contentProblem(
              name,
              `its columns differ from each other at row ${row + 1}. Nothing was imported.`,
            );
          if (!isMore[0]) break;
          const dated = keys.length === 0 || ROW_NUMBER.test(node.firstKey) ? [] : [`"datetime":${keys[0]}`];
          add(
            `{${[...dated, ...columns.map((column, place) => `${table.nodes[place]!.key}:${column.value()}`)].join()}}`,
          );
        }
        return `JSON, columns ${table.nodes.map(({ key }) => textOf(key)).join(', ')}`;
      },
      lists(add) {
        const width = node.kids[0]!.count;
        const names =
          namesOf(request, table, (one) => at(one.start).value()) ?? orderOf(name, at(node.start), width);
        if (names.length !== width)
          throw unfitProblem(
            name,
            `its rows are lists of ${width} values, but ${names.length} names are given`,
          );
        const indexNode = table.beside.find(({ key, count }) => key === '"index"' && count === node.count);
        const index = indexNode === undefined ? null : at(indexNode.start);
        index?.open();
        rows.each((_, row) => {
          const cells: string[] = [];
          rows.each((__, place) => cells.push(`${raw(names[place] ?? '')}:${rows.value()}`));
          if (cells.length !== width)
            throw contentProblem(
              name,
              `row ${row + 1} has ${cells.length} values, others have ${width}. Nothing was imported.`,
            );
          index?.more(row === 0, ARRAY_END);
          if (index?.isContainer())
            index.each((_, level) => cells.push(`"__index_level_${level}__":${index.value()}`));
          else {
            const moment = index?.value();
            if (moment !== undefined && !ROW_NUMBER.test(moment)) cells.push(`"datetime":${moment}`);
          }
          add(`{${cells.join()}}`);
        });
        return `JSON, lists of ${names.join(', ')}`;
      },
    };
    const shape = writing(request, said[table.kind]);
    const reason = `symbols without rows, such as ${without[0]}`;
    const leftOut = without.length > 0 && { leftOut: { reason, count: without.length } };
    const isOfSymbols = table.kind === 'keyed' && node.count - without.length > 1;
    return { shape, header: null, isOfSymbols, ...leftOut };
  } catch (error) {
    if (error instanceof TooDeep) return null;
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Names of the values in lists: those that a mapping gives, or that a list beside them has. */
function namesOf(
  { header }: Pick<Reshaping, 'header'>,
  { nodes, beside }: Table,
  read: (node: Node) => string,
): readonly string[] | null {
  const width = nodes[0]!.kids[0]!.count;
  const named = beside.find(({ count, isList, key }) => isList && count === width && NAMES_KEY.test(key));
  if (header !== undefined || named === undefined) return header ?? null;
  const names = parsed(read(named)) as readonly (string | { readonly name?: string } | null)[];
  return names.map((name) => (typeof name === 'string' ? name : String(name?.name)));
}

/** The order of the values of bars in lists without names. @throws FileProblem where it is not certain */
function orderOf(name: string, reader: JsonReader, width: number): readonly string[] {
  const seen: string[][] = [];
  reader.open();
  while (seen.length < SEEN_ROWS && reader.more(seen.length === 0, ARRAY_END)) {
    const cells: string[] = [];
    reader.each(() => cells.push(reader.value()));
    seen.push(cells);
  }
  const fitting = ordersOf(seen);
  if (fitting.length === 1) return fitting[0]!;
  const known =
    fitting.length === 0 ? 'no known order' : `the order ${fitting.map((one) => one.join()).join(' or ')}`;
  throw unfitProblem(
    name,
    `its rows are lists of ${width} values without names, in ${known}, such as ${seen[0]!.join().slice(0, 100)}. Name them by --map FILE with {"header": [${width} names], "columns": {…}}`,
  );
}

/** Lines of a text in Latin-1, so that they keep their bytes. */
function* linesIn(name: string, path: string): Generator<string> {
  const file = openSync(path, 'r');
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    let rest = '';
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece)) {
      const lines = (rest + piece.toString('latin1', 0, count)).split(/\r?\n/);
      rest = lines.pop()!;
      if (rest.length > limits.importRowBytesMax) throw longRow(name);
      yield* lines;
    }
    if (rest !== '') yield rest;
  } finally {
    closeSync(file);
  }
}

const UTF8_MARK = /^(?:\ufeff|\xef\xbb\xbf)/;
const cellsIn = (line: string): string[] => cellsOf(line.replace(UTF8_MARK, ''), ',') ?? [];

/**
 * The header lines of a frame with the columns of several symbols, as yfinance.download gives it: the fields
 * and the symbols, in either order, and the name of the index alone, if it has one. Null for any other file.
 */
export function symbolHeader(lines: readonly string[]) {
  const [first = [], second = [], third = []] = lines.slice(0, 3).map(cellsIn);
  const isField = (row: readonly string[]): boolean =>
    /,open,/i.test(`,${row.join()},`) && row.some((cell) => /^close$/i.test(cell));
  const width = third.length;
  const isRow = /^\d{4}-\d\d-\d\d/.test(third[0] ?? '');
  const isOne =
    width > 1 &&
    first.length === width &&
    second.length === width &&
    (isRow || third.slice(1).join('') === '');
  const names = /^(?:Price|Ticker|Attributes|Symbols|)$/;
  if (!isOne || !names.test(first[0]!) || !names.test(second[0]!) || isField(first) === isField(second))
    return null;
  const [fields, symbols] = isField(first) ? [first, second] : [second, first];
  // Below a single name may also be units.
  if (isRow && first[0] === '' && new Set(symbols.slice(1)).size === 1) return null;
  const index = isRow || third[0] === '' ? 'Date' : third[0]!;
  return { fields: fields.slice(1), symbols: symbols.slice(1), index, count: isRow ? 2 : 3 };
}

/** Writes a row for each symbol of each line; symbols without a value on a line are left out. */
function symbolRows(reshaping: Reshaping): Reshaped {
  const { name, path } = reshaping;
  const lines = linesIn(name, path);
  const head = Array.from({ length: 3 }, () => lines.next().value ?? '');
  const { fields, symbols, index, count: headerLines } = symbolHeader(head)!;
  const below = function* () {
    yield* head.slice(headerLines);
    yield* lines;
  };
  const names = [...new Set(fields)];
  const all = [...new Set(symbols)];
  const places = all.map((symbol) =>
    names.map((field) => fields.findIndex((one, at) => one === field && symbols[at] === symbol)),
  );
  if (fields.length !== new Set(fields.map((field, at) => `${field},${symbols[at]}`)).size)
    throw contentProblem(name, 'two columns have the same field and symbol');
  const header = [index, 'symbol', ...names];
  let [row, count] = [0, 0];
  writing(reshaping, (add) => {
    const write = (cells: readonly string[]): void => add(lineOf(cells).trimEnd());
    write(header);
    for (const line of below()) {
      if (line === '') continue;
      row++;
      const [at = '', ...cells] = cellsIn(line);
      if (cells.length !== fields.length)
        throw contentProblem(
          name,
          `row ${row} has ${cells.length + 1} cells, others have ${fields.length + 1}. Nothing was imported.`,
        );
      for (const [which, symbol] of all.entries()) {
        const values = places[which]!.map((place) => cells[place] ?? '');
        if (values.some((value) => value !== '')) write([at, symbol, ...values]);
        else count++;
      }
    }
  });
  return {
    shape: `columns of ${all.length} ${all.length === 1 ? 'symbol' : 'symbols'}, whose names are symbol`,
    header: header.map((one) => Buffer.from(one, 'latin1').toString()),
    isOfSymbols: all.length > 1,
    leftOut: { reason: 'a symbol has no value on a date', count },
  };
}
