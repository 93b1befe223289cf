// The notebook of the examples: its cells run in their order, on a demo.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { copyDemo, demoKey, startDemo } from '../demo-store.ts';
import { python, pythonClient, skipPython } from '../python.ts';
import { Workshop } from '../service.ts';

type Cell = {
  readonly cell_type: string;
  readonly source: readonly string[];
  readonly outputs?: readonly unknown[];
  readonly metadata: { readonly tags?: readonly string[] };
};

const shop = new Workshop();
after(() => shop.close());

/** Prints the value of the last line of each cell, as a notebook does. */
const RUN = `
import ast, json, sys
space = {}
for cell in json.load(sys.stdin):
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), space)
    if last is not None:
        print(eval(compile(ast.Expression(last.value), "cell", "eval"), space), end="\\n---\\n")
`;

test('the notebook runs from its first cell to its last', { skip: skipPython }, async () => {
  await copyDemo(shop.folder);
  const demo = await startDemo(shop);
  const path = join(import.meta.dirname, '../../examples/first-steps.ipynb');
  const { cells } = JSON.parse(readFileSync(path, 'utf8')) as { cells: readonly Cell[] };
  const code = cells.filter(({ cell_type }) => cell_type === 'code');
  assert.ok(
    code.every(({ outputs }) => outputs!.length === 0),
    'it is saved without outputs',
  );
  const hasPlots = spawnSync(python!, ['-c', 'import matplotlib']).status === 0;
  const run = code.filter(({ metadata }) => hasPlots || metadata.tags?.includes('matplotlib') !== true);
  assert.ok(run.length >= code.length - 1);
  const env = { ...process.env, BOURSE_URL: demo.url, BOURSE_KEY: demoKey(demo), MPLBACKEND: 'Agg' };
  const { status, stdout, stderr } = spawnSync(python!, ['-c', RUN], {
    env: { ...env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: pythonClient },
    input: JSON.stringify(run.map(({ source }) => source.join(''))),
    encoding: 'utf8',
  });
  await demo.stop();
  assert.equal(status, 0, stderr);
  const printed = stdout.split('\n---\n');
  assert.equal(printed.length, run.length + 1);
  assert.match(printed[0]!, /AAPL +1M/);
  assert.match(printed[1]!, /crypto:GLOBAL:BTCUSD/);
});
