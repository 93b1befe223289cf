// Which tests hold which rule: the rules of docs/contract.md, and where tests cite them. Run by itself it
// prints the table.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

/** The rules by name, such as `contract 4.3` and `spec 4.6 rule 3`, in their order. */
export function rulesOf(text: string): string[] {
  const names = Array.from(
    text.matchAll(/\*\*((?:spec )?\d+(?:\.\d+)?(?: rule \d)?)\*\*/g),
    (match) => match[1]!,
  );
  return names.map((name) => (name.startsWith('spec') ? name : `contract ${name}`));
}

/** The rules that a text cites: `contract 4.1, 4.2`, `spec 4.6 rules 1 and 2`, `contract 6.2 and 7.4`. */
export function citedIn(text: string): string[] {
  const cited: string[] = [];
  const citation =
    /(spec|contract) (\d+(?:\.\d+)?)( rules? \d(?:(?:, | and )\d)*)?((?:(?:, | and )\d+(?:\.\d+)?(?! and \d+ [a-z]))*)/g;
  for (const [, source, first, rules, others] of text.matchAll(citation)) {
    cited.push(`${source} ${first}`);
    for (const rule of rules?.match(/\d/g) ?? []) cited.push(`${source} ${first} rule ${rule}`);
    for (const other of others!.match(/\d+(?:\.\d+)?/g) ?? []) cited.push(`${source} ${other}`);
  }
  return cited;
}

/** The names of tests: what stands in quotes, not in comments. */
const quotedIn = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line))
    .flatMap((line) => line.match(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`/g) ?? []);

/** How many names of tests cite each rule, by the tests' files. */
export function citations(): Map<string, Map<string, number>> {
  const found = new Map<string, Map<string, number>>();
  for (const folder of ['src', 'test'])
    for (const name of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      // The names of the tests of each endpoint have their rule from the table of all.
      if (!/\.test\.ts$|^endpoints\.ts$/.test(name) || name === 'rules.test.ts') continue;
      const file = `${folder}/${name}`;
      for (const rule of quotedIn(readFileSync(join(root, file), 'utf8')).flatMap(citedIn)) {
        const files = found.get(rule) ?? new Map<string, number>();
        found.set(rule, files.set(file, (files.get(file) ?? 0) + 1));
      }
    }
  return found;
}

/** Every rule of the project. */
export const rules = (): string[] => rulesOf(readFileSync(join(root, 'docs/contract.md'), 'utf8'));

if (import.meta.main) {
  const found = citations();
  for (const rule of rules()) {
    const files = [...(found.get(rule) ?? [])].map(([file, count]) =>
      count === 1 ? file : `${file} (${count})`,
    );
    console.log(`${rule.padEnd(20)} ${files.join(', ') || 'NO TEST'}`);
  }
  const without = rules().filter((rule) => !found.has(rule));
  console.log(`\nrules without a test: ${without.join(', ') || 'none'}`);
  process.exitCode = without.length > 0 ? 1 : 0;
}
