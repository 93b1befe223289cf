// No regular expression of the program backtracks more than in proportion to its text: each is read from the
// syntax tree of `src` and judged by scslre. It finds loops that share a character; what starts again at
// every repetition of a longer text it does not find.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { analyse } from 'scslre';
import type { Expression, Node } from 'typescript/unstable/ast';
import {
  isNewExpression,
  isRegularExpressionLiteral,
  isTemplateExpression,
} from 'typescript/unstable/ast/is';
import { API } from 'typescript/unstable/sync';
import { limits } from '../../src/contract/limits.ts';
import { groupedNumbers, suffixedNumber } from '../../src/imports/map/cell.ts';

const root = join(import.meta.dirname, '../..');

/**
 * Expressions inside `new RegExp(…)`, and a text that each stands for; null for a pattern that the operator
 * writes.
 */
const samples: Readonly<Record<string, string | null>> = {
  ...Object.fromEntries(Object.entries(limits).map(([name, value]) => [`limits.${name}`, String(value)])),
  'hex(server.port, 4)': '1F90',
  'RegExp.escape(basename(place))': 'bourse\\.db',
  'RegExp.escape(JSON.stringify(key))': '"key"',
  "RegExp.escape(written).replace('\\\\*', '([A-Z])')": 'p([A-Z])w',
  "Object.keys(plainLetters).join('')": 'øł',
  "COMPANIONS.join('|')": '-journal|-wal|-shm',
  "fields.join('|')": 'strike_price|symbol|status',
  CLOCK: '([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d',
  MONTH_LETTERS: 'FGHJKMNQUVXZ',
  apart: `(?!.*[.])(?:${groupedNumbers[' ']}|${groupedNumbers["'"]})`,
  'groupedNumbers[mark]': groupedNumbers[' '],
  'groupedNumbers[other]': groupedNumbers[','],
  mark: ';',
  range: '1 2 3',
  skip: '2',
  suffixedNumber,
  // The form of an option, in imports/map/presets/alpaca.ts.
  form: `^[A-Z]+${'[0-9]'.repeat(6)}[CP]${'[0-9]'.repeat(8)}$`,
  // A kind of parameter: `code` in contract/kinds.ts.
  pattern: '^HOLIDAY_[A-Za-z0-9_]+$',
  // A mapping file's: DuckDB reads with it, in linear time.
  value: null,
};

type Found = { readonly where: string; readonly source: string; readonly flags: string };

function sampleOf(text: string): string | null {
  const sample = samples[text];
  assert.ok(
    sample !== undefined,
    `new RegExp of ${text}: add to the samples of this test what it stands for`,
  );
  return sample;
}

/** The pattern of `new RegExp(…)`; null where it is not the program's. */
function patternOf(argument: Expression): string | null {
  if (!isTemplateExpression(argument)) return sampleOf(argument.getText());
  const parts = argument.templateSpans.map(
    ({ expression, literal }) => `${sampleOf(expression.getText())}${literal.text}`,
  );
  return argument.head.text + parts.join('');
}

/** The regular expression that a node of the syntax tree is, if it is one. */
function expressionAt(node: Node, where: string): Found[] {
  if (isRegularExpressionLiteral(node)) {
    const end = node.text.lastIndexOf('/');
    return [{ where, source: node.text.slice(1, end), flags: node.text.slice(end + 1) }];
  }
  if (!isNewExpression(node) || node.expression.getText() !== 'RegExp') return [];
  const [argument, flags] = node.arguments!;
  const source = patternOf(argument!);
  return source === null ? [] : [{ where, source, flags: flags?.getText().slice(1, -1) ?? '' }];
}

function* nodesOf(node: Node): Generator<Node> {
  yield node;
  const below: Node[] = [];
  node.forEachChild((child) => void below.push(child));
  for (const child of below) yield* nodesOf(child);
}

/** Every regular expression of the program. */
function allExpressions(): Found[] {
  const api = new API({ cwd: root });
  const configs = ['tsconfig.json', 'tsconfig.browser.json'].map((name) => join(root, name));
  const projects = api.updateSnapshot({ openProjects: configs }).getProjects();
  const found = projects.flatMap(({ program }) =>
    program
      .getSourceFileNames()
      .filter((name) => name.startsWith(join(root, 'src')) && !name.endsWith('.test.ts'))
      .flatMap((name) => {
        const where = name.slice(root.length + 1);
        return Array.from(nodesOf(program.getSourceFile(name)!)).flatMap((node) => expressionAt(node, where));
      }),
  );
  api.close();
  return found;
}

/**
 * Why an expression may take more than linear time: the characters that two of its loops, or two starts,
 * share.
 */
const problemsOf = ({ where, source, flags }: Found): string[] =>
  analyse({ source, flags }, { reportTypes: { Move: !flags.includes('y') } }).reports.map(
    ({ type, character }) => `${where}: /${source}/${flags} (${type} of ${character.literal.source})`,
  );

test('no regular expression of the program backtracks more than in proportion to its text', () => {
  const all = allExpressions();
  assert.ok(all.length > 150, `${all.length} were found`);
  for (const folder of ['src/serve/docs/browser/', 'src/serve/', 'src/contract/', 'src/imports/read/'])
    assert.ok(
      all.some(({ where }) => where.startsWith(folder)),
      folder,
    );
  assert.deepEqual(all.flatMap(problemsOf), []);
});

test('the judgement finds what is quadratic or worse', () => {
  for (const source of ['^\\d+\\.?\\d*$', '0+$', '^(a+)+$', '\\{([^}]+)\\}'])
    assert.equal(problemsOf({ where: '', source, flags: '' }).length, 1, source);
});
