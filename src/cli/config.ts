// Settings: flag, then environment, then bourse.config.json, then default. The only file that reads the
// environment. And the version of the program.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '../base/words.ts';

/** The call or a setting is wrong; exit status 2. */
export class UsageProblem extends Error {
  /** Lines printed below the message. */
  readonly below: string;

  constructor(message: string, { below = '', ...options }: ErrorOptions & { readonly below?: string } = {}) {
    super(message, options);
    this.name = 'UsageProblem';
    this.below = below;
  }
}

type Setting<T> = {
  readonly default: T;
  readonly parse: (text: string, where: string) => T;
  /** The name of its flag's value; null for a switch. */
  readonly takes: string | null;
  readonly about: string;
};

const text = (value: string): string => value;

function wholeNumber(least: number, most: number) {
  return (value: string, where: string): number => {
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new UsageProblem(`${where}: ${value} must be a whole number from ${least} to ${most}`);
  };
}

function publicUrl(value: string, where: string): string | null {
  if (value === '') return null;
  const url = URL.canParse(value) ? new URL(value) : null;
  const fits =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === '' &&
    url.hash === '' &&
    url.username === '';
  if (fits) return url.href.replace(/(?<!\/)\/+$/, '');
  throw new UsageProblem(
    `${where}: ${value} must be the address that callers use, such as https://data.example.com/bourse`,
  );
}

function hostNames(value: string, where: string): readonly string[] {
  const names = value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const odd = names.find((name) => !/^[a-z0-9._-]+$/.test(name));
  if (odd === undefined) return names;
  throw new UsageProblem(`${where}: ${odd} must be only the name of a host, without scheme, port and path`);
}

/** The end of a message about a wrong word: the right one, where one is near. */
export function hintFor(word: string, words: readonly string[]): string {
  const near = nearest(word, words);
  return near === undefined ? '' : `; is it ${near}?`;
}

function oneOf(...words: readonly string[]) {
  return (value: string, where: string): string => {
    if (words.includes(value)) return value;
    throw new UsageProblem(`${where}: ${value} must be one of ${words.join(', ')}${hintFor(value, words)}`);
  };
}

function yesOrNo(value: string, where: string): boolean {
  const word = value.toLowerCase();
  if (['true', 'yes', '1'].includes(word)) return true;
  if (['false', 'no', '0'].includes(word)) return false;
  throw new UsageProblem(`${where}: ${value} must be yes or no`);
}

/** An empty address would be every address of the machine. */
function address(value: string, where: string): string {
  if (value !== '') return value;
  throw new UsageProblem(`${where}: must be an address to listen on, such as 127.0.0.1`);
}

function filePath(value: string, where: string): string {
  if (value !== '') return resolve(value);
  throw new UsageProblem(`${where}: must name a file`);
}

/**
 * Every setting: its default, how its text is read, and what it is. Its flag and variable follow from its
 * name.
 */
const settings = {
  store: {
    default: 'sqlite:data/bourse.db',
    parse: text,
    takes: 'url',
    about: 'the store: sqlite:PATH, a path that ends in .db, or postgres://USER@HOST/DATABASE',
  },
  host: {
    default: '127.0.0.1',
    parse: address,
    takes: 'address',
    about: 'the address to listen on; 0.0.0.0 is every IPv4 address of the machine',
  },
  port: {
    default: 8080,
    parse: wholeNumber(0, 65_535),
    takes: 'number',
    about: 'the port to listen on; 0 is any free one',
  },
  workers: {
    default: 1,
    parse: wholeNumber(1, 64),
    takes: 'count',
    about: 'serving processes, which share the port',
  },
  publicUrl: {
    default: null,
    parse: publicUrl,
    takes: 'url',
    about: 'the address that callers use to reach the service, with its path',
  },
  allowedHosts: {
    default: [],
    parse: hostNames,
    takes: 'names',
    about: 'host names, separated by commas, that the service answers to besides loopback and IP addresses',
  },
  trustProxy: {
    default: false,
    parse: yesOrNo,
    takes: null,
    about: 'trust the Forwarded and X-Forwarded-* headers: only behind a proxy that writes them itself',
  },
  tlsCert: {
    default: null,
    parse: filePath,
    takes: 'file',
    about: 'serve HTTPS with this certificate (PEM, followed by its chain); read again when it changes',
  },
  tlsKey: {
    default: null,
    parse: filePath,
    takes: 'file',
    about: 'the private key of the certificate (PEM, without a passphrase)',
  },
  metricsPort: {
    default: null,
    parse: wholeNumber(0, 65_535),
    takes: 'number',
    about:
      'serve Prometheus metrics at /metrics of this port, which may be the port of the service; 0 is any free one',
  },
  metricsHost: {
    default: '127.0.0.1',
    parse: address,
    takes: 'address',
    about: 'the address to listen on for metrics, if they have their own port',
  },
  scrubHours: {
    default: 24,
    parse: wholeNumber(0, 8_760),
    takes: 'count',
    about: 'hours between two slow checks of the whole store for damage while serving; 0 is never',
  },
  logLevel: {
    default: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    takes: 'level',
    about: 'trace, debug, info, warn, error or silent',
  },
  logAddresses: {
    default: 'on',
    parse: oneOf('on', 'off'),
    takes: 'on|off',
    about: 'whether the log line of a request has the address of its caller: on or off',
  },
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** The names of all settings, as `bourse.config.json` has them. */
export const settingNames = Object.keys(settings) as readonly SettingName[];

/** The flags of a call; a switch is `true`. */
export type SettingFlags = Readonly<Partial<Record<SettingName, string | true>>>;

/** The settings with their values; null where there is no default. Files have their full path. */
export type Settings = {
  readonly [N in SettingName]: ReturnType<(typeof settings)[N]['parse']> | (typeof settings)[N]['default'];
};

const CONFIG_FILE = 'bourse.config.json';

function readConfigFile(): Readonly<Record<string, unknown>> {
  if (!existsSync(CONFIG_FILE)) return {};
  let config: unknown;
  try {
    config = JSON.parse(readFileSync(CONFIG_FILE, 'utf8'));
  } catch (error) {
    const what = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read';
    throw new UsageProblem(`${CONFIG_FILE} ${what}: ${(error as Error).message}`, { cause: error });
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new UsageProblem(`${CONFIG_FILE} must hold a JSON object of settings`);
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(settings, name));
  if (unknown === undefined) return config as Record<string, unknown>;
  throw new UsageProblem(
    `${CONFIG_FILE}: there is no setting ${unknown}; the settings are ${settingNames.join(', ')}${hintFor(unknown, settingNames)}`,
  );
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((part) => typeof part === 'string');

/** The JSON that a setting may have besides the text of its flag, and how a message names it. */
function jsonOf({
  default: standard,
  takes,
}: Setting<unknown>): [fits: (value: unknown) => boolean, words: string] {
  if (takes === null) return [(value) => typeof value === 'boolean', 'true or false'];
  if (takes === 'number' || takes === 'count') return [(value) => typeof value === 'number', 'a number'];
  if (takes === 'names') return [isTexts, 'a list of texts'];
  return [() => false, typeof standard === 'string' ? `text, such as "${standard}"` : 'text'];
}

/** A value of the configuration file as its flag would write it. */
function textOf(name: SettingName, value: unknown): string {
  const [fits, words] = jsonOf(settings[name]);
  if (typeof value === 'string' || fits(value)) return String(value);
  throw new UsageProblem(`${CONFIG_FILE}: ${name}: ${JSON.stringify(value)} must be ${words}`);
}

/**
 * Everything about a setting apart from its value: `publicUrl` has the flag `--public-url` and the variable
 * `BOURSE_PUBLIC_URL`.
 */
export function factsOf(name: SettingName) {
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const setting: Setting<unknown> = settings[name];
  return { ...setting, flag: `--${words}`, env: `BOURSE_${words.toUpperCase().replaceAll('-', '_')}` };
}

/**
 * A setting's value and the place that gave it: a flag, a variable's name, `bourse.config.json` or `default`.
 */
type SourcedSetting = { readonly name: SettingName; readonly value: unknown; readonly from: string };

/** The settings of this call, each with its source. @throws UsageProblem for a wrong one */
export function readSourced(flags: SettingFlags): SourcedSetting[] {
  const file = readConfigFile();
  return settingNames.map((name) => {
    const { parse, flag, env, default: standard } = factsOf(name);
    const variable = process.env[env];
    if (flags[name] !== undefined) return { name, value: parse(String(flags[name]), flag), from: flag };
    if (variable !== undefined && variable !== '') return { name, value: parse(variable, env), from: env };
    if (file[name] === undefined) return { name, value: standard, from: 'default' };
    const value = parse(textOf(name, file[name]), `${CONFIG_FILE}: ${name}`);
    return { name, value, from: CONFIG_FILE };
  });
}

/** The settings of this call. @throws UsageProblem for a wrong one */
export function readSettings(flags: SettingFlags): Settings {
  return Object.fromEntries(readSourced(flags).map(({ name, value }) => [name, value])) as Settings;
}

/** The variables that the clients read; programs that use the service may run where it runs. */
export const clientVariables: readonly string[] = ['BOURSE_URL', 'BOURSE_KEY'];

/** The environment's `BOURSE_…` variables that nothing reads, each with the setting whose name is near. */
export function strayVariables(): { readonly name: string; readonly near: string | undefined }[] {
  const known = settingNames.map((name) => factsOf(name).env);
  return Object.keys(process.env)
    .filter((name) => name.startsWith('BOURSE_') && ![...known, ...clientVariables].includes(name))
    .map((name) => ({ name, near: nearest(name, known) }));
}

/** The environment of a command that an operator named: the own one, and more. */
export const environmentWith = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
});

/** The version of the program. */
export const version = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version;
