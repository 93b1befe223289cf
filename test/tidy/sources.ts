// The sources of a checkout, parsed by the compiler: `npm run size` counts them, `npm run tidy` judges them.
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, sep } from 'node:path';
import { type Node, type SourceFile, type Statement, SyntaxKind } from 'typescript/unstable/ast';
import {
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isNamedExports,
  isVariableStatement,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';

/** A source file: its path from the root of the checkout, with slashes, and its syntax tree. */
export type Source = { readonly path: string; readonly tree: SourceFile };

/** The paths of files below a root, with slashes, in order; without libraries and what a build made. */
export const pathsOf = (root: string, globs: readonly string[]): string[] =>
  globSync(globs, { cwd: root, exclude: ['**/node_modules/**', '**/dist/**'] })
    .map((path) => path.replaceAll(sep, '/'))
    .sort();

/** Every source but tests and suites. Nothing is resolved, so a checkout needs no libraries. */
export function sourcesOf(root: string): Source[] {
  const paths = pathsOf(root, ['{src,packages}/**/*.{ts,tsx,js}']).filter(
    (path) => !/(?:\.test|-suite)\.tsx?$/.test(path),
  );
  const folder = mkdtempSync(join(tmpdir(), 'bourse-sources-'));
  const config = join(folder, 'tsconfig.json');
  const files = paths.map((path) => join(root, path));
  const compilerOptions = { noLib: true, noResolve: true, types: [], jsx: 'preserve', allowJs: true };
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const api = new API({ cwd: join(import.meta.dirname, '../..') });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    return paths.map((path) => ({ path, tree: project!.program.getSourceFile(join(root, path))! }));
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

/** A node and everything below it. */
export function* nodesOf(node: Node): Generator<Node> {
  yield node;
  const below: Node[] = [];
  node.forEachChild((child) => void below.push(child));
  for (const child of below) yield* nodesOf(child);
}

/** In texts of these kinds, `//` begins no comment. */
const literals = new Set<SyntaxKind>([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.JsxText,
]);

/** Counts the lines that have code, and those that have only a comment; a blank line is neither. */
export function linesOf({ tree }: Source): { readonly code: number; readonly comment: number } {
  const marks = tree.text.split('');
  for (const node of nodesOf(tree))
    if (literals.has(node.kind))
      for (let at = node.getStart(); at < node.end; at++) if (marks[at] !== '\n') marks[at] = 'x';
  const plain = marks.join('');
  const bare = plain.replace(/\/\/.*|\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/\S/g, ' '));
  const isFilled = (line: string): boolean => line.trim() !== '';
  const filled = plain.split('\n').filter(isFilled).length;
  const code = bare.split('\n').filter(isFilled).length;
  return { code, comment: filled - code };
}

/** The lines that a statement takes, without the comment before it. */
const heightOf = (statement: Statement): number => statement.getText().split('\n').length;

/** The statements that name another file or library. */
const importsOf = ({ tree }: Source): Statement[] =>
  tree.statements.filter(
    (one) => isImportDeclaration(one) || (isExportDeclaration(one) && one.moduleSpecifier !== undefined),
  );

export const importLinesOf = (source: Source): number =>
  importsOf(source).reduce((sum, one) => sum + heightOf(one), 0);

/** The paths of the files of the checkout that a source imports, as types too. */
export const targetsOf = (source: Source): string[] =>
  importsOf(source).flatMap((one) => {
    const [, specifier] = /['"](\.[^'"]*)['"];?$/.exec(one.getText()) ?? [];
    return specifier === undefined ? [] : [posix.join(posix.dirname(source.path), specifier)];
  });

const isExported = (statement: Statement): boolean =>
  'modifiers' in statement &&
  ((statement.modifiers as readonly Node[] | undefined) ?? []).some(
    ({ kind }) => kind === SyntaxKind.ExportKeyword,
  );

/** A name that a file exports, with its docstring; null where it has none. */
export type Exported = { readonly name: string; readonly docstring: string | null };

/** The names that a statement exports. `export *` is one. */
function namesOf(statement: Statement): string[] {
  if (isExportDeclaration(statement)) {
    const { exportClause } = statement;
    return exportClause !== undefined && isNamedExports(exportClause)
      ? exportClause.elements.map(({ name }) => name.getText())
      : ['*'];
  }
  if (!isExported(statement)) return [];
  if (isVariableStatement(statement))
    return statement.declarationList.declarations.flatMap(({ name }) =>
      isIdentifier(name)
        ? [name.text]
        : Array.from(nodesOf(name))
            .filter((node) => 'initializer' in node)
            .map((node) => node.getText()),
    );
  return 'name' in statement ? [(statement.name as Node).getText()] : ['default'];
}

/** Every name that a source exports. */
export const exportsOf = ({ tree }: Source): Exported[] =>
  tree.statements.flatMap((statement) => {
    const before = tree.text.slice(statement.pos, statement.getStart());
    const docstring = before.match(/\/\*\*[\s\S]*?\*\//g)?.at(-1) ?? null;
    return namesOf(statement).map((name) => ({ name, docstring }));
  });
