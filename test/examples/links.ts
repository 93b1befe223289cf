// Links of a page: files of the project, and headings in them.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from './page.ts';

const root = join(import.meta.dirname, '../..');

const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');

/** Links that lead nowhere. */
export function brokenLinks({ path, markdown }: Page): string[] {
  const text = markdown.replace(/^```[\s\S]*?^```/gm, '');
  return Array.from(text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)).flatMap(([, file, anchor]) => {
    const target = file === '' ? join(root, path) : join(root, dirname(path), file!);
    if (!existsSync(target)) return [`${path}: nothing is at ${file}`];
    if (anchor === undefined) return [];
    const headings = readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm);
    const isThere = Array.from(headings).some(([, heading]) => anchorOf(heading!) === anchor);
    return isThere ? [] : [`${path}: ${file} has no heading #${anchor}`];
  });
}
