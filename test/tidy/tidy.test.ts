// The ratchet finds each kind of what it is there for, in a small program where that was planted.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { boundsOf, type Measured, measure, problemsOf, tightened } from './tidy.ts';

const port = `// The port.
export interface RowReader {
  rows(): void;
}
export interface Reader extends RowReader {
  readonly id: string;
  blocks(): void;
}
export interface Writer extends Reader {
  put(): void;
}
`;

const bars = `import { open } from '../store/store.ts';
import type {
  Reader,
} from '../store/store.ts';

/** The answer. */
export const bars = (reader: Reader): string => \`// \${open(reader)} /* no comment\`; // one
/* more
   than one line */
const form = /\\/\\/ no comment/;
export { form, form as other };
`;

const program: Readonly<Record<string, string>> = {
  'src/store/store.ts': `${port}export const open = (reader: Reader): string => reader.id;\n`,
  'src/queries/bars.ts': bars,
  'src/queries/bars.test.ts': 'export const notCounted = 1;\n',
  'src/store/engine-suite.ts': 'export const notCounted = 1;\n',
  'docs/glossary.md':
    '| word | what it is | file |\n| --- | --- | --- |\n| bar | a bar | `src/queries/bars.ts` |\n',
};

function measured(files: Readonly<Record<string, string>>): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'bourse-tidy-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const found = measure(folder);
  rmSync(folder, { recursive: true });
  return found;
}

const plain = measured(program);
const bounds = boundsOf(plain);

test('a program is counted without tests, suites, comments and blank lines', () => {
  assert.deepEqual(plain.numbers, {
    'lines of code': 18,
    'exported names': 7,
    files: 2,
    'import lines': 4,
    'files that historical bars need': 2,
    'lines of code that historical bars need': 18,
    'methods of Reader and Writer': 3,
    'files that know asOf': 0,
    'flat files of the fullest folder': 1,
    'words of the glossary': 1,
    'comment lines per 100 lines of code': (100 * 4) / 18,
  });
  assert.deepEqual(problemsOf(plain, bounds), []);
});

const many = (count: number, of: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => of(at)).join('');

/** What is planted, and the beginning of the only problem, or of the problems, that it makes. */
const planted: readonly [
  name: string,
  files: Readonly<Record<string, string>>,
  problems: readonly string[],
][] = [
  [
    'many lines of code',
    { 'src/queries/bars.ts': `${bars}${many(100, (at) => `void ${at}; // here\n`)}` },
    [
      'lines of code: 118, and may be 100 at most. If it must be so, write 200 in test/tidy/bounds.json',
      'lines of code that historical bars need: 118,',
      'comment lines per 100 lines of code: 3.39, and may be 22 at least.',
    ],
  ],
  ['a file', { 'src/store/a.ts': '// More.\n' }, ['files: 3,', 'flat files of the fullest folder: 2,']],
  [
    'an import of historical bars',
    {
      'src/queries/bars.ts': `import '../store/a.ts';\n${bars}`,
      'src/store/a.ts': '// More.\n',
    },
    ['files: 3,', 'files that historical bars need: 3,', 'flat files of the fullest folder: 2,'],
  ],
  [
    'import lines',
    {
      'src/queries/bars.ts':
        bars + many(3, () => '// More.\n') + many(17, () => "import '../store/store.ts';\n"),
    },
    ['import lines: 21, and may be 20 at most.', 'comment lines per 100 lines of code: 20,'],
  ],
  [
    'exported names',
    { 'src/queries/bars.ts': `${bars}export const ${many(3, (at) => `a${at} = ${at}, `)}a = 0; // Here.\n` },
    ['exported names: 11, and may be 10 at most.', 'comment lines per 100 lines of code: 21.05,'],
  ],
  [
    'a method of the writer',
    { 'src/store/store.ts': program['src/store/store.ts']!.replace('put(', 'remove(): void; put(') },
    ['methods of Reader and Writer: 4,'],
  ],
  ['as of', { 'src/queries/bars.ts': `${bars}// Knows asOf.\n` }, ['files that know asOf: 1,']],
  [
    'a word',
    { 'docs/glossary.md': `${program['docs/glossary.md']}| block | bars | \`src/queries/bars.ts\` |\n` },
    ['words of the glossary: 2,'],
  ],
  [
    'a wide line, of a test too',
    { 'src/queries/bars.test.ts': `\n// ${'x'.repeat(108)}\n`, 'bench/a.ts': `// ${'é'.repeat(107)}\n` },
    ['src/queries/bars.test.ts: 1 lines have more than 110 columns, 0 may: line 2'],
  ],
  [
    'poor docstrings',
    {
      'src/queries/bars.ts': bars
        .replace('The answer.', 'What is answered.')
        .replace('export {', '/**\n * Whether it is other.\n */\nexport {'),
    },
    [
      'src/queries/bars.ts: 3 docstrings of exported names begin with What, Whether, How or Where, ' +
        '0 may: bars, form, other',
    ],
  ],
  [
    'a name twice',
    {
      'src/store/answer.ts': '// One.\n',
      'src/queries/answer.ts': '// Two.\n',
      // These may have the names of others.
      'src/store/bars.ts': '// An area.\n',
      'src/queries/render/store.ts': '// Two.\n',
      'src/store/postgres/answer.ts': '// An engine.\n',
    },
    [
      'files: 7,',
      'flat files of the fullest folder: 3,',
      'answer.ts: 2 modules have a file of this name, 0 may: src/queries, src/store',
      'store.ts: 2 modules have a file of this name, 0 may: src/queries, src/store',
    ],
  ],
  [
    'foreign words',
    { 'README.md': 'It goes on.\nThe bars of then\n', 'docs/a/b.md': 'One row a day. So do we.\n' },
    [
      'README.md: 2 words that are foreign to plain English, 0 may: goes on (line 1), of then (line 2)',
      'docs/a/b.md: 2 words that are foreign to plain English, 0 may: One row a day (line 1), So do',
    ],
  ],
];

for (const [name, files, expected] of planted)
  test(`the ratchet finds what was planted: ${name}`, () => {
    const problems = problemsOf(measured({ ...program, ...files }), bounds);
    assert.deepEqual(
      problems.map((problem, at) => problem.slice(0, expected[at]?.length)),
      expected,
    );
  });

test('a bound that allows more than there is must be lowered, which raises no other', () => {
  const loose = {
    ...bounds,
    numbers: { ...bounds.numbers, files: 3, 'files that know asOf': -1 },
    'wide lines': { 'src/queries/bars.ts': 2, 'src/gone.ts': 1 },
  };
  const tight = tightened(plain, loose);
  assert.deepEqual(tight, { ...bounds, numbers: { ...bounds.numbers, 'files that know asOf': -1 } });
  assert.match(problemsOf(plain, tight).join('\n'), /^files that know asOf: 0, and may be -1 at most\. .*$/);
  assert.match(
    problemsOf(plain, { ...bounds, numbers: { ...bounds.numbers, files: 3 } }).join('\n'),
    /^test\/tidy\/bounds\.json allows more than there is: npm run tidy -- --write$/,
  );
});
