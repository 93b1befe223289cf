// The tests of pure functions in one process: most of these files alone would take longer to start than to run.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pureFiles } from './pure-files.ts';

const root = join(import.meta.dirname, '..');

for (const path of globSync(pureFiles, { cwd: root }).sort()) await import(join(root, path));
