// The numbers that say how much one has to know to change the program. `npm run size` prints them.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { isInterfaceDeclaration, isMethodSignatureDeclaration } from 'typescript/unstable/ast/is';
import { git, root } from '../golden/worktree.ts';
import { exportsOf, importLinesOf, linesOf, type Source, sourcesOf, targetsOf } from './sources.ts';

const HELP = `npm run size [-- --commit COMMIT]
  Prints how large the program is, in numbers that say how much one has to know to change it.
  --commit COMMIT  also the numbers of another commit, before those of this working tree`;

const HISTORICAL_BARS = 'src/queries/bars.ts';
const PORT = 'src/store/store.ts';
const GLOSSARY = 'docs/glossary.md';

const sumOf = <T>(all: Iterable<T>, of: (one: T) => number): number =>
  Array.from(all, of).reduce((sum, one) => sum + one, 0);

/** The sources that a file needs, itself too: all that it imports, and these import, types too. */
function closureOf(sources: readonly Source[], start: string): Source[] {
  const byPath = new Map(sources.map((one) => [one.path, one]));
  const found = new Map<string, Source>();
  const visit = (path: string): void => {
    const source = byPath.get(path);
    if (source === undefined || found.has(path)) return;
    found.set(path, source);
    for (const target of targetsOf(source)) visit(target);
  };
  visit(start);
  return [...found.values()];
}

/** The methods of an interface of a source and of those of the file that it extends. */
function methodsOf(source: Source, name: string): string[] {
  const found = source.tree.statements.find((one) => isInterfaceDeclaration(one) && one.name.text === name);
  if (found === undefined || !isInterfaceDeclaration(found)) return [];
  const parents = (found.heritageClauses ?? []).flatMap(({ types }) => types.map((one) => one.getText()));
  const own = found.members.filter(isMethodSignatureDeclaration).map((one) => one.name.getText());
  return [...own, ...parents.flatMap((parent) => methodsOf(source, parent))];
}

/** The number of sources directly in the folder that has most. */
function fullestFolder(sources: readonly Source[]): number {
  const counts = new Map<string, number>();
  for (const { path } of sources) {
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** The rows of the glossary; 0 without one. */
function glossaryWords(checkout: string): number {
  const path = join(checkout, GLOSSARY);
  return existsSync(path) ? (readFileSync(path, 'utf8').match(/^\| .+ \| `.+` \|$/gm)?.length ?? 0) : 0;
}

/** Measures a checkout whose sources were read: each number by its name. */
export function sizeOf(checkout: string, sources: readonly Source[]): Record<string, number> {
  const lines = new Map(sources.map((one) => [one, linesOf(one)]));
  const codeOf = (all: readonly Source[]): number => sumOf(all, (one) => lines.get(one)!.code);
  const closure = closureOf(sources, HISTORICAL_BARS);
  const port = sources.filter(({ path }) => path === PORT);
  const methods = port.flatMap((one) => ['Reader', 'Writer'].flatMap((name) => methodsOf(one, name)));
  return {
    'lines of code': codeOf(sources),
    'exported names': sumOf(sources, (one) => exportsOf(one).length),
    files: sources.length,
    'import lines': sumOf(sources, importLinesOf),
    'files that historical bars need': closure.length,
    'lines of code that historical bars need': codeOf(closure),
    'methods of Reader and Writer': new Set(methods).size,
    'files that know asOf': sources.filter(({ tree }) => /asOf/i.test(tree.text)).length,
    'flat files of the fullest folder': fullestFolder(sources),
    'words of the glossary': glossaryWords(checkout),
    'comment lines per 100 lines of code':
      (100 * sumOf(lines.values(), ({ comment }) => comment)) / Math.max(1, codeOf(sources)),
  };
}

/** Measures a commit, which is checked out in a temporary folder. */
function sizeOfCommit(commit: string): Record<string, number> {
  const path = join(mkdtempSync(join(tmpdir(), 'bourse-size-')), 'checkout');
  try {
    git('worktree', 'add', '--quiet', '--detach', path, commit);
    return sizeOf(path, sourcesOf(path));
  } finally {
    rmSync(join(path, '..'), { recursive: true, force: true });
    git('worktree', 'prune');
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { commit: { type: 'string' }, help: { type: 'boolean' } } });
  if (values.help) console.log(HELP);
  else {
    const here = sizeOf(root, sourcesOf(root));
    const there = values.commit === undefined ? null : sizeOfCommit(values.commit);
    const words = (number: number): string => Number(number.toFixed(1)).toLocaleString('en');
    const nameWidth = Math.max(...Object.keys(here).map((name) => name.length));
    const row = (name: string, ...cells: readonly string[]): void =>
      console.log(name.padEnd(nameWidth), ...cells.map((cell) => cell.padStart(14)));
    row('', ...(there === null ? [] : [values.commit!.slice(0, 12)]), 'working tree');
    for (const [name, number] of Object.entries(here))
      row(name, ...(there === null ? [] : [words(there[name]!)]), words(number));
  }
}
