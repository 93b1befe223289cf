// A page of the documentation taken apart: its fenced blocks, its inline code, its tables' rows and its
// links.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** A fenced block: the words behind its opening fence, and its lines. */
export type Block = {
  readonly line: number;
  readonly kind: string;
  /** The rest of the info string: the name of the file that it is. */
  readonly name: string;
  readonly text: string;
};

/** Inline code and where it stands. */
export type Inline = { readonly line: number; readonly text: string };

export type Page = {
  readonly path: string;
  readonly markdown: string;
  readonly blocks: readonly Block[];
  readonly inline: readonly Inline[];
};

/** Reads a page of the project by its path from the root. */
export function readPage(path: string): Page {
  const markdown = readFileSync(join(root, path), 'utf8');
  const blocks: Block[] = [];
  const inline: Inline[] = [];
  let open: { line: number; kind: string; name: string; lines: string[] } | null = null;
  for (const [index, text] of markdown.split('\n').entries()) {
    const fence = /^\s*```(\S*)\s*(.*)$/.exec(text);
    if (fence === null) {
      if (open !== null) open.lines.push(text);
      else for (const [, code] of text.matchAll(/`([^`]+)`/g)) inline.push({ line: index + 1, text: code! });
    } else if (open === null) {
      open = { line: index + 1, kind: fence[1]!, name: fence[2]!.trim(), lines: [] };
    } else {
      blocks.push({ line: open.line, kind: open.kind, name: open.name, text: open.lines.join('\n') });
      open = null;
    }
  }
  return { path, markdown, blocks, inline };
}

/** Commands of a block, one a line; a line that ends in a backslash goes on. */
export function commandsOf(text: string): string[] {
  return text
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** What a console shows: each command behind `$ `, and what it prints up to the next. */
export function consoleOf(text: string): { command: string; output: string }[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.replace(/\\\n\s*/g, '').split('\n');
      return { command, output: output.join('\n').trim() };
    });
}
