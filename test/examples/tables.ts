// Tables of a page against what they list: the settings with their flags, variables and defaults; parameters;
// errors.
import type { Command } from 'commander';
import { contract, errors } from '../../src/contract/index.ts';
import { allOf } from './commands.ts';
import { type Page, readPage } from './page.ts';

/** What all answers have in common is told once. */
const common = readPage('docs/using/answers.md').markdown;

const code = '`([^`]+)`';
const settingRow = new RegExp(
  `^\\| ${code} +\\| \`(--[a-z-]+)\` +\\| ${code} +\\| (?:\`([^\`]+)\`|none) +\\|`,
  'gm',
);

/** Rows of settings that say otherwise than the command line does, and settings that have no row. */
export function oddSettings({ path, markdown }: Page, bourse: Command): string[] {
  const rows = [...markdown.matchAll(settingRow)];
  if (rows.length === 0) return [];
  const serve = allOf(bourse).find((command) => command.name() === 'serve')!;
  const listed = new Set(rows.map(([, , flag]) => flag));
  const missing = serve.options.filter(({ long }) => long !== '--help' && !listed.has(long!));
  return [
    ...missing.map(({ long }) => `${path}: the table of settings lacks ${long}`),
    ...rows.flatMap(([, name, flag, variable, standard]) => {
      const option = serve.options.find(({ long }) => long === flag);
      if (option === undefined) return [`${path}: serve has no flag ${flag}`];
      const usual = standard === undefined || standard === 'false' ? '' : `default ${standard}; `;
      const isTrue =
        option.attributeName() === name && option.description.endsWith(`(${usual}environment: ${variable})`);
      return isTrue ? [] : [`${path}: the row of ${name} says otherwise than ${option.description}`];
    }),
  ];
}

/**
 * Parameters of the endpoints whose paths a page shows first that it does not name, and errors with another
 * status.
 */
export function oddParameters({ path, markdown, blocks }: Page): string[] {
  const shown = blocks
    .filter(({ kind }) => kind === 'http')
    .map(({ text }) => text)
    .join('\n');
  const named = Object.values(contract).filter((endpoint) =>
    shown.split('\n').includes(`GET ${endpoint.path}`),
  );
  const parameters = new Set(named.flatMap((endpoint) => Object.keys(endpoint.parameters)));
  const words =
    named.length === 0 ? [] : [...markdown.matchAll(/^\| (`\w+`(?:, `\w+`)*) +\| ([45]\d\d[\d, ]*?) +\|/gm)];
  return [
    ...[...parameters]
      .filter((name) => ![markdown, common].some((text) => new RegExp(`\`${name}\\b`).test(text)))
      .map((name) => `${path}: does not name the parameter ${name}`),
    ...words.flatMap(([, names, statuses]) =>
      Array.from(names!.matchAll(/\w+/g), ([word]) => word).flatMap((word) => {
        const known = (errors as Readonly<Record<string, { readonly status: number }>>)[word];
        return known !== undefined && statuses!.includes(String(known.status))
          ? []
          : [`${path}: ${word} is no error ${statuses}`];
      }),
    ),
  ];
}
