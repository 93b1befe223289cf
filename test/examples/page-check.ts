// All that is tried of one page: files are written, commands run in order, then requests made, then inline
// code looked up.
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { clientVariables } from '../../src/cli/config.ts';
import { allEndpoints } from '../../src/contract/index.ts';
import { python, skipPython } from '../python.ts';
import { allOf, callsIn, lookUp } from './commands.ts';
import { differingJson, differingText } from './compare.ts';
import type { Desk } from './desk.ts';
import { type Block, commandsOf, consoleOf, type Page } from './page.ts';
import { foreignKinds, programs } from './programs.ts';
import { oddParameters, oddSettings } from './tables.ts';

const root = join(import.meta.dirname, '../..');

/** How a program for the TypeScript client is compiled. */
const compilerFlags = [
  '--ignoreConfig --noEmit --strict --noUncheckedIndexedAccess --allowImportingTsExtensions',
  '--target es2024 --lib es2024,dom,dom.iterable --module nodenext --types ""',
].join(' ');

const kinds = [
  'console',
  'sh',
  'usage',
  'http',
  'csv',
  'json',
  'python',
  'ts',
  'text',
  ...Object.keys(foreignKinds),
];

export class PageCheck {
  readonly problems: string[] = [];
  readonly reasons = new Set<string>();
  readonly #page: Page;
  readonly #desk: Desk;
  readonly #bourse: Command;
  readonly #done: Set<string>;

  /** `done` has the commands that other pages have run already. */
  constructor(page: Page, desk: Desk, bourse: Command, done: Set<string>) {
    this.#page = page;
    this.#desk = desk;
    this.#bourse = bourse;
    this.#done = done;
  }

  async run(): Promise<void> {
    this.#checkKinds();
    for (const block of this.#of('csv', 'json')) this.#write(block);
    await this.#runCommands((command) => !isRequest(command));
    await this.#runCommands(isRequest);
    for (const block of this.#of('http')) await this.#ask(block);
    await this.#runPython(this.#of('python'));
    await this.#runTypeScript();
    for (const block of this.#of('usage', ...Object.keys(foreignKinds))) this.#lookAt(block);
    for (const { line, text } of this.#page.inline) await this.#tryInline(line, text);
    this.problems.push(...oddSettings(this.#page, this.#bourse), ...oddParameters(this.#page));
  }

  #of(...wanted: readonly string[]): Block[] {
    return this.#page.blocks.filter(({ kind }) => wanted.includes(kind));
  }

  get #files(): string[] {
    return this.#of('csv', 'json').map(({ name }) => name);
  }

  #fail(line: number, problem: string | null): void {
    if (problem !== null) this.problems.push(`${this.#page.path}:${line}: ${problem}`);
  }

  #checkKinds(): void {
    for (const { line, kind } of this.#page.blocks)
      if (!kinds.includes(kind))
        this.#fail(
          line,
          `a block of the kind "${kind}" is not tried: mark it \`\`\` with one of ${kinds.join(', ')} (CONTRIBUTING.md, Examples)`,
        );
  }

  #write({ line, kind, name, text }: Block): void {
    if (name === '') {
      this.#fail(line, `a file needs its name, so that it can be used: \`\`\`${kind} NAME.${kind}`);
      return;
    }
    const commands = this.#of('console', 'sh').map((block) => block.text);
    const isUsed = [...commands, ...this.#page.inline.map((inline) => inline.text)].some((one) =>
      one.includes(name),
    );
    if (!isUsed) this.#fail(line, `no command of the page uses ${name}: show the one that imports it`);
    if (kind === 'json') JSON.parse(text);
    this.#desk.write(name, text);
  }

  async #runCommands(isNow: (command: string) => boolean): Promise<void> {
    for (const { line, kind, text } of this.#of('console', 'sh')) {
      const shown = kind === 'console' ? consoleOf(text) : commandsOf(text).map(withoutOutput);
      if (shown.length === 0) this.#fail(line, 'a console without a line that begins with "$ "');
      for (const { command, output } of shown.filter((one) => isNow(one.command)))
        await this.#runLine(line, command, output);
    }
  }

  /** Runs a line where it can be run, and compares what it printed with what is shown. */
  async #runLine(line: number, command: string, output: string | null): Promise<void> {
    for (const problem of this.#oddCalls(command)) this.#fail(line, problem);
    const reason = programs.whyNot(command);
    if (reason !== null) this.reasons.add(reason);
    if (reason !== null || (!output && !isNew(this.#done, command, this.#files))) return;
    const { printed, problem } = await this.#desk.run(command, output !== null);
    this.#fail(line, problem);
    if (problem === null && output !== null) this.#fail(line, differing(output, printed));
  }

  #oddCalls(text: string): string[] {
    const calls = callsIn(text).map((call) => ({ call, found: lookUp(this.#bourse, call) }));
    const unknown = calls.length > 0 && calls.every(({ found }) => found === null);
    return [
      ...programs.oddScripts(text),
      ...(unknown &&
      !/docker (?:build|run|compose up)|npm install|sudo (?:useradd|systemctl)|--version$/.test(text)
        ? [`${text}: no command of bourse`]
        : []),
      ...calls.flatMap(({ call, found }) => (found?.problem ? [`bourse ${call}: ${found.problem}`] : [])),
    ];
  }

  #lookAt({ line, kind, text }: Block): void {
    for (const command of kind === 'usage' ? commandsOf(text) : [text])
      for (const problem of this.#oddCalls(command)) this.#fail(line, problem);
    const foreign = foreignKinds[kind];
    if (foreign === undefined) return;
    this.reasons.add(foreign.reason);
    if (foreign.isOdd(text)) this.#fail(line, `this is not ${kind}`);
  }

  /** Requests, one a line; behind an empty line what the last of them gives. */
  async #ask({ line, text }: Block): Promise<void> {
    const [requests = '', ...answer] = text.split('\n\n');
    let given: string | null = null;
    for (const request of requests.split('\n')) {
      const path = request.replace(/^GET /, '');
      if (path === request) this.#fail(line, `a request begins with GET: ${request}`);
      else if (path.includes('{') || isTemplate(path)) this.#fail(line, unknownTemplate(path));
      else given = await this.#answerTo(line, path);
    }
    if (answer.length > 0 && given !== null) this.#fail(line, differing(answer.join('\n\n'), given));
  }

  /** The answer to a request, which must give something. */
  async #answerTo(line: number, path: string): Promise<string | null> {
    const { url, key } = this.#desk.service;
    if (/\s/.test(path)) this.#fail(line, `${path}: a space is not sent in an address: write %20`);
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    const text = await response.text();
    if (response.status !== 200) this.#fail(line, `${path}: ${response.status} ${text}`);
    else if (isEmpty(text)) this.#fail(line, `${path} gives nothing: an example shows something`);
    return response.status === 200 ? this.#desk.shown(text) : null;
  }

  /** Runs the blocks of a page as one program. */
  async #runPython(blocks: readonly Block[]): Promise<void> {
    const [first] = blocks;
    if (first === undefined) return;
    if (skipPython !== false) {
      this.reasons.add(skipPython);
      return;
    }
    this.#desk.write('example.py', this.#desk.here(blocks.map(({ text }) => text).join('\n')));
    const { url, key } = this.#desk.service;
    const program = `BOURSE_URL=${url} BOURSE_KEY=${key} ${python} example.py`;
    this.#fail(first.line, (await this.#desk.run(program)).problem);
  }

  /** Compiles and runs the page's program. */
  async #runTypeScript(): Promise<void> {
    const [first, ...others] = this.#of('ts');
    if (first === undefined) return;
    const text = [first, ...others].map((block) => block.text).join('\n');
    const client = `'${join(root, 'packages/client/index.ts')}'`;
    this.#desk.write('example.mts', this.#desk.here(text).replace("'bourse/client'", client));
    const compiler = relative(this.#desk.folder, join(root, 'node_modules/.bin/tsc'));
    for (const command of [`${compiler} ${compilerFlags} example.mts`, 'node example.mts'])
      this.#fail(first.line, (await this.#desk.run(command)).problem);
  }

  async #tryInline(line: number, text: string): Promise<void> {
    for (const problem of this.#oddWords(text)) this.#fail(line, problem);
    if (/^(?:GET )?\/(?:api\/|healthz|readyz|docs$|openapi\.json)/.test(text))
      await this.#tryPath(line, text);
    if (/^(?:bin\/)?bourse [a-z]/.test(text)) await this.#tryInlineCommand(line, text);
    else if (/^(?:npm|\w+=\S+ (?:bin\/)?bourse) /.test(text))
      for (const problem of this.#oddCalls(text)) this.#fail(line, problem);
  }

  /** Flags and variables that a text names and nothing has. */
  #oddWords(text: string): string[] {
    const known = allOf(this.#bourse).flatMap((one) => one.options);
    const flags = /^--[a-z-]+/.exec(text) ?? [];
    const variables = text.match(/\bBOURSE_[A-Z_]+/g) ?? [];
    return [
      ...Array.from(flags).filter(
        (flag) => !foreignFlags.includes(flag) && !known.some((option) => option.long === flag),
      ),
      ...variables.filter(
        (name) =>
          !clientVariables.includes(name) &&
          !known.some(({ description }) => description.includes(`environment: ${name})`)),
      ),
    ].map((word) => `nothing is called ${word}`);
  }

  async #tryPath(line: number, text: string): Promise<void> {
    const path = text.replace(/^GET /, '');
    if (/[{…]/.test(path)) {
      this.#fail(line, unknownTemplate(path));
      return;
    }
    // It needs a key of another scope.
    if (path === allEndpoints.operateStatus.path) return;
    const { url, key } = this.#desk.service;
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) this.#fail(line, `${path}: ${response.status} ${await response.text()}`);
  }

  /** Runs a command that is whole; one that is only named is looked up. */
  async #tryInlineCommand(line: number, text: string): Promise<void> {
    const call = text.replace(/^(?:bin\/)?bourse /, '');
    const isWhole = lookUp(this.#bourse, call)?.isWhole === true;
    if (!isWhole || /[…[]/.test(text)) for (const problem of this.#oddCalls(text)) this.#fail(line, problem);
    else await this.#runLine(line, text, null);
  }
}

/** Flags of docker and curl that the pages name. */
const foreignFlags = ['--init', '--compressed'];

const isRequest = (command: string): boolean => command.startsWith('curl ');

const withoutOutput = (command: string) => ({ command, output: null });

/** Whether a command is to be run: what reads no file that its page shows does the same on every page. */
export function isNew(done: Set<string>, command: string, shown: readonly string[] = []): boolean {
  const plain = command
    .replace(/^bin\//, '')
    .replace(/ +# .*$/, '')
    .replace(/\b(undo) \d+/, '$1 RUN');
  const isOwn = shown.some((name) => plain.includes(name)) || /\brestore\b|\/backup\/|\/tmp\//.test(plain);
  const isFirst = !done.has(plain);
  if (!isOwn) done.add(plain);
  return isOwn || isFirst;
}

const differing = (shown: string, given: string): string | null =>
  /^\s*[{[]/.test(shown) && /^\s*[{[]/.test(given)
    ? differingJson(shown, given)
    : differingText(shown, given);

/** Whether a line is an endpoint's path as it is declared, which is shown and not asked. */
const isTemplate = (path: string): boolean =>
  Object.values(allEndpoints).some((endpoint) => endpoint.path === path);

/** What is wrong with a path that has `{names}`. */
function unknownTemplate(path: string): string | null {
  const fixed = path.split('?')[0]!;
  const form = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  const isKnown = Object.values(allEndpoints).some((endpoint) => form(endpoint.path).test(fixed));
  return isKnown ? null : `${fixed} is the path of no endpoint`;
}

/** Whether an answer has no record. */
function isEmpty(text: string): boolean {
  if (!text.startsWith('{')) return text.trim().split('\n').length < 2;
  const { result } = JSON.parse(text) as { readonly result?: { readonly count?: number } };
  return (
    result === null || result?.count === 0 || (typeof result === 'object' && Object.keys(result).length === 0)
  );
}
