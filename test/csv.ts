// CSV as RFC 4180 has it, read by a reader that is not the product's.

/**
 * A cell: null where nothing stands between the commas, text with the difference of `""` kept (contract 5.1).
 */
export type Cell = string | null;

/** The rows of a text whose lines end in CR LF. @throws where it is not well-formed */
export function parseCsv(text: string): Cell[][] {
  const rows: Cell[][] = [];
  let row: Cell[] = [];
  for (let at = 0; at < text.length; ) {
    const quoted = /"((?:[^"]|"")*)"/y;
    const plain = /[^",\r\n]*/y;
    const pattern = text[at] === '"' ? quoted : plain;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) throw new Error(`a quote is not closed at ${at}`);
    row.push(pattern === quoted ? match[1]!.replaceAll('""', '"') : match[0] || null);
    at += match[0].length;
    if (text[at] === ',') {
      at++;
      continue;
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no end of a line at ${at}`);
    at += 2;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** A JSON record's values as CSV has them. */
export const cellsOf = (record: Readonly<Record<string, unknown>>): Cell[] =>
  Object.values(record).map((value) =>
    value === null ? null : typeof value === 'string' ? value : JSON.stringify(value),
  );
