// `npm run tidy`, a ratchet: counts what the program should have less of, and holds each count to its bound.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../golden/worktree.ts';
import { sizeOf } from './size.ts';
import { exportsOf, pathsOf, type Source, sourcesOf } from './sources.ts';

const HELP = `npm run tidy [-- --write]
  Counts what the program should have less of, and compares that with test/tidy/bounds.json.
  Exit status 0: each count has its bound; 1: one is above it, or so far below that the bound must be lowered.
  --write  writes the bounds of counts that are better than before; it makes none looser`;

const BOUNDS = 'test/tidy/bounds.json';

const COLUMNS_MAX = 110;

/** The number of which more is better: its bound is the least that it may be. */
const COMMENTS = 'comment lines per 100 lines of code';

/** Bounds of these numbers are multiples, so that a small change leaves them as they are. */
const multiples: Readonly<Record<string, number>> = {
  'lines of code': 100,
  'exported names': 5,
  'import lines': 20,
  'lines of code that historical bars need': 100,
  [COMMENTS]: 0.5,
};

/** Names that files of several modules may have: the areas, and what many modules have. */
const sharedNames = new Set([
  ...['reference', 'corporate-actions', 'news', 'options', 'holidays', 'bars', 'economic'],
  ...['index', 'limits'],
]);

/** Engines have files of the same names, which are read by analogy. */
const engines = ['src/store/sqlite/', 'src/store/postgres/'];

const POOR_BEGINNING = /^\/\*\*[\s*]*(?:What|Whether|How|Where)\b/;

/** Words that readers of pages stumble over, and `one row a day` for `one row for each day`. */
const FOREIGN = new RegExp(
  [
    String.raw`\b(?:vouch\w*|anew|dear|(?:is|are) told|tells? (?:what|how|those|which|of)|of then`,
    String.raw`(?:go|goes|went) on|lets? in|(?:is|are) about(?! \d| half)|no more(?=[.,;:)])`,
    'but for|(?:can|may) be had|(?:the|its) very(?! first| last)|(?<=[.;] )so (?:are|do|is)',
    String.raw`(?:an?|one) (?!(?:as|at|by|for|from|in|of|on|or|than|to|with)\b)\w+ an? (?:bar|column|day`,
    String.raw`file|instrument|key|line|market|minute|request|row|series|session|symbol))\b`,
  ].join('|'),
  'gi',
);

/** Faults of style, which are counted by file or by name of a file. */
const faults = {
  'wide lines': `lines have more than ${COLUMNS_MAX} columns`,
  'poor docstrings': 'docstrings of exported names begin with What, Whether, How or Where',
  'repeated names': 'modules have a file of this name',
  'foreign words': 'words that are foreign to plain English',
};

type Fault = keyof typeof faults;

/** A checkout as measured: numbers by their names, and the places of faults by kind and name. */
export type Measured = {
  readonly numbers: Readonly<Record<string, number>>;
  readonly places: Readonly<Record<Fault, ReadonlyMap<string, readonly string[]>>>;
};

/** The bounds of numbers and of the counts of faults. A fault that is not listed has the bound 0. */
export type Bounds = Readonly<Record<'numbers' | Fault, Readonly<Record<string, number>>>>;

/** The numbers of the lines that are too wide, from 1. */
const wideLines = (text: string): string[] =>
  text.split('\n').flatMap((line, at) => (Array.from(line).length > COLUMNS_MAX ? [`line ${at + 1}`] : []));

/** The foreign words of a page, each with its line. */
const foreignWords = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, at) => Array.from(line.matchAll(FOREIGN), ([word]) => `${word} (line ${at + 1})`));

const poorDocstrings = (source: Source): string[] =>
  exportsOf(source).flatMap(({ name, docstring }) => (POOR_BEGINNING.test(docstring ?? '') ? [name] : []));

/** The modules that have a file of a name, by names that more than one has. */
function repeatedNames(sources: readonly Source[]): [name: string, modules: string[]][] {
  const found = new Map<string, Set<string>>();
  for (const { path } of sources) {
    const name = posix.basename(path);
    if (sharedNames.has(name.split('.')[0]!) || engines.some((folder) => path.startsWith(folder))) continue;
    const [top, module] = path.split('/');
    found.set(name, (found.get(name) ?? new Set()).add(`${top}/${module}`));
  }
  return Array.from(found, ([name, modules]) => [name, modules.size > 1 ? [...modules] : []]);
}

const withPlaces = (all: readonly (readonly [string, readonly string[]])[]): Map<string, readonly string[]> =>
  new Map(all.filter(([, places]) => places.length > 0).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Measures a checkout. */
export function measure(checkout: string): Measured {
  const sources = sourcesOf(checkout);
  const files = pathsOf(checkout, ['{src,packages,test,bench}/**/*.{ts,tsx,js,css}']);
  const texts = (paths: readonly string[], faultsOf: (text: string) => string[]) =>
    withPlaces(paths.map((path) => [path, faultsOf(readFileSync(join(checkout, path), 'utf8'))]));
  return {
    numbers: sizeOf(checkout, sources),
    places: {
      'wide lines': texts(files, wideLines),
      'poor docstrings': withPlaces(sources.map((source) => [source.path, poorDocstrings(source)])),
      'repeated names': withPlaces(repeatedNames(sources)),
      'foreign words': texts(
        pathsOf(checkout, ['*.md', '{clients,docs,examples,packages,src}/**/*.md']),
        foreignWords,
      ),
    },
  };
}

/** A number as its bound: rounded to a multiple, away from what is better. */
function boundOf(name: string, number: number): number {
  const multiple = multiples[name] ?? 1;
  return (name === COMMENTS ? Math.floor : Math.ceil)(number / multiple) * multiple;
}

const isWorse = (name: string, number: number, bound: number): boolean =>
  name === COMMENTS ? number < bound : number > bound;

/** The bounds of a checkout as it is. */
export const boundsOf = ({ numbers, places }: Measured): Bounds => {
  const counts = Object.entries(places).map(([fault, found]) => [
    fault,
    Object.fromEntries(Array.from(found, ([name, all]) => [name, all.length])),
  ]);
  const rounded = Object.entries(numbers).map(([name, number]) => [name, boundOf(name, number)]);
  return { numbers: Object.fromEntries(rounded), ...Object.fromEntries(counts) } as Bounds;
};

/** Lowers the bounds of counts that have fallen, and raises none. */
export function tightened(measured: Measured, bounds: Bounds): Bounds {
  const now = boundsOf(measured);
  const all = (kind: keyof Bounds): Record<string, number> =>
    Object.fromEntries(
      Object.entries(now[kind]).flatMap(([name, found]) => {
        const bound = bounds[kind]?.[name] ?? (kind === 'numbers' ? found : 0);
        const kept = isWorse(name, found, bound) ? bound : found;
        return kept === 0 && kind !== 'numbers' ? [] : [[name, kept]];
      }),
    );
  const kinds = Object.keys(now) as (keyof Bounds)[];
  return Object.fromEntries(kinds.map((kind) => [kind, all(kind)])) as Bounds;
}

/** Names each bound that a checkout breaks; if it breaks none, says whether some allow more than there is. */
export function problemsOf(measured: Measured, bounds: Bounds): string[] {
  const problems: string[] = [];
  const now = boundsOf(measured);
  for (const [name, number] of Object.entries(measured.numbers)) {
    const bound = bounds.numbers[name] ?? 0;
    if (!isWorse(name, number, bound)) continue;
    const words = Number(number.toFixed(2)).toLocaleString('en');
    const side = name === COMMENTS ? 'least' : 'most';
    problems.push(
      `${name}: ${words}, and may be ${bound.toLocaleString('en')} at ${side}. If it must be so, ` +
        `write ${now.numbers[name]} in ${BOUNDS}, and the reason in the commit's message.`,
    );
  }
  for (const fault of Object.keys(faults) as Fault[])
    for (const [name, found] of measured.places[fault]) {
      const bound = bounds[fault]?.[name] ?? 0;
      if (found.length > bound)
        problems.push(`${name}: ${found.length} ${faults[fault]}, ${bound} may: ${found.join(', ')}`);
    }
  if (problems.length === 0 && JSON.stringify(tightened(measured, bounds)) !== JSON.stringify(bounds))
    problems.push(`${BOUNDS} allows more than there is: npm run tidy -- --write`);
  return problems;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { write: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  });
  if (values.help) console.log(HELP);
  else {
    const path = join(root, BOUNDS);
    const measured = measure(root);
    const before = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Bounds) : boundsOf(measured);
    const bounds = values.write ? tightened(measured, before) : before;
    if (values.write) writeFileSync(path, `${JSON.stringify(bounds, null, 2)}\n`);
    const problems = problemsOf(measured, bounds);
    for (const problem of problems) console.log(problem);
    process.exitCode = problems.length > 0 ? 1 : 0;
  }
}
