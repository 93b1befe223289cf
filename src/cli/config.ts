// Settings: flag, then environment, then bourse.config.json, then default. The only file that reads the environment.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { nearest } from '../base/nearest.ts';

/** A setting that cannot be used; exit status 2. */
export class UsageProblem extends Error {
  /** Lines to be printed below the message. */
  readonly below: string;

  constructor(message: string, { below = '', ...options }: ErrorOptions & { readonly below?: string } = {}) {
    super(message, options);
    this.name = 'UsageProblem';
    this.below = below;
  }
}

type Setting<T> = {
  readonly env: string;
  readonly default: T;
  readonly parse: (text: string, where: string) => T;
  /** What its flag takes; null for a switch. */
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
  if (fits) return url.href.replace(/\/+$/, '');
  throw new UsageProblem(
    `${where}: ${value} must be the address that callers use, such as https://data.example.com/bourse`,
  );
}

function hostNames(value: string, where: string): readonly string[] {
  const names = value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
  const odd = names.find((name) => !/^[a-z0-9.-]+$/.test(name));
  if (odd === undefined) return names;
  throw new UsageProblem(`${where}: ${odd} must be the name of a host alone, without scheme, port and path`);
}

/** What follows a wrong word where a right one is near. */
function isIt(word: string, words: readonly string[]): string {
  const near = nearest(word, words);
  return near === undefined ? '' : `; is it ${near}?`;
}

function oneOf(...words: readonly string[]) {
  return (value: string, where: string): string => {
    if (words.includes(value)) return value;
    throw new UsageProblem(`${where}: ${value} must be one of ${words.join(', ')}${isIt(value, words)}`);
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

/** Every setting: where the environment has it, its default, how its text is read, and what it is. */
const settings = {
  store: {
    env: 'BOURSE_STORE',
    default: 'sqlite:data/bourse.db',
    parse: text,
    takes: 'url',
    about: 'the store',
  },
  host: {
    env: 'BOURSE_HOST',
    default: '127.0.0.1',
    parse: address,
    takes: 'address',
    about: 'the address to listen on; 0.0.0.0 is every IPv4 address of the machine',
  },
  port: {
    env: 'BOURSE_PORT',
    default: 8080,
    parse: wholeNumber(0, 65_535),
    takes: 'number',
    about: 'the port to listen on; 0 is any free one',
  },
  workers: {
    env: 'BOURSE_WORKERS',
    default: 1,
    parse: wholeNumber(1, 64),
    takes: 'count',
    about: 'serving processes, which share the port',
  },
  publicUrl: {
    env: 'BOURSE_PUBLIC_URL',
    default: null,
    parse: publicUrl,
    takes: 'url',
    about: 'the address that callers reach the service by, with its path',
  },
  allowedHosts: {
    env: 'BOURSE_ALLOWED_HOSTS',
    default: [],
    parse: hostNames,
    takes: 'names',
    about: 'host names, parted by commas, that the service answers to beside loopback and IP addresses',
  },
  trustProxy: {
    env: 'BOURSE_TRUST_PROXY',
    default: false,
    parse: yesOrNo,
    takes: null,
    about: 'believe the Forwarded and X-Forwarded-* headers: only behind a proxy that writes them itself',
  },
  tlsCert: {
    env: 'BOURSE_TLS_CERT',
    default: null,
    parse: filePath,
    takes: 'file',
    about: 'serve HTTPS with this certificate (PEM, its chain after it); read anew when it changes',
  },
  tlsKey: {
    env: 'BOURSE_TLS_KEY',
    default: null,
    parse: filePath,
    takes: 'file',
    about: 'the private key of the certificate (PEM, without a passphrase)',
  },
  metricsPort: {
    env: 'BOURSE_METRICS_PORT',
    default: null,
    parse: wholeNumber(0, 65_535),
    takes: 'number',
    about:
      'give Prometheus metrics at /metrics of this port, which may be that of the service; 0 is any free one',
  },
  metricsHost: {
    env: 'BOURSE_METRICS_HOST',
    default: '127.0.0.1',
    parse: address,
    takes: 'address',
    about: 'the address to listen on with a port of metrics alone',
  },
  logLevel: {
    env: 'BOURSE_LOG_LEVEL',
    default: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
    takes: 'level',
    about: 'trace, debug, info, warn, error or silent',
  },
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** The names of all settings, as `bourse.config.json` has them. */
export const settingNames = Object.keys(settings) as readonly SettingName[];

/** What the command line gave; a switch is `true`. */
export type SettingFlags = Readonly<Partial<Record<SettingName, string | true>>>;

/** The settings with their values. */
export type Settings = {
  readonly store: string;
  readonly host: string;
  readonly port: number;
  /** Serving processes, which share the port. */
  readonly workers: number;
  readonly publicUrl: string | null;
  readonly allowedHosts: readonly string[];
  /** Whether what a proxy forwards of a request's address is believed. */
  readonly trustProxy: boolean;
  /** Files in full form; null without TLS. */
  readonly tlsCert: string | null;
  readonly tlsKey: string | null;
  /** Null without metrics. */
  readonly metricsPort: number | null;
  readonly metricsHost: string;
  readonly logLevel: string;
};

const CONFIG_FILE = 'bourse.config.json';

function readConfigFile(): Readonly<Record<string, unknown>> {
  let content: string;
  try {
    content = readFileSync(CONFIG_FILE, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageProblem(`${CONFIG_FILE} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    const parsed: unknown = JSON.parse(content);
    if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed))
      return checkNames(parsed as Record<string, unknown>);
  } catch (error) {
    if (error instanceof UsageProblem) throw error;
    throw new UsageProblem(`${CONFIG_FILE} is not JSON: ${(error as Error).message}`, { cause: error });
  }
  throw new UsageProblem(`${CONFIG_FILE} must hold a JSON object of settings`);
}

function checkNames(config: Record<string, unknown>): Record<string, unknown> {
  const unknown = Object.keys(config).find((name) => !Object.hasOwn(settings, name));
  if (unknown === undefined) return config;
  throw new UsageProblem(
    `${CONFIG_FILE}: there is no setting ${unknown}; the settings are ${settingNames.join(', ')}${isIt(unknown, settingNames)}`,
  );
}

/** What JSON may have for a setting beside the text that its flag takes: by its default, and in words. */
function jsonOf({
  default: standard,
  takes,
}: Setting<unknown>): [fits: (value: unknown) => boolean, words: string] {
  if (takes === null) return [(value) => typeof value === 'boolean', 'true or false'];
  if (typeof standard === 'number' || takes === 'number')
    return [(value) => typeof value === 'number', 'a number'];
  if (Array.isArray(standard)) return [isTexts, 'a list of texts'];
  return [() => false, typeof standard === 'string' ? `text, such as "${standard}"` : 'text'];
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((part) => typeof part === 'string');

/** A value of the configuration file as its flag would write it. */
function textOf(name: SettingName, value: unknown): string {
  const [fits, words] = jsonOf(settings[name]);
  if (typeof value === 'string' || fits(value)) return String(value);
  throw new UsageProblem(`${CONFIG_FILE}: ${name}: ${JSON.stringify(value)} must be ${words}`);
}

const flagOf = (name: SettingName): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** What is known of a setting whatever its value. */
export type SettingFacts = {
  readonly flag: string;
  readonly env: string;
  readonly default: unknown;
  readonly takes: string | null;
  readonly about: string;
};

/** A setting as its flag, the environment and the documentation have it. */
export function factsOf(name: SettingName): SettingFacts {
  const { env, takes, about, default: standard } = settings[name];
  return { flag: flagOf(name), env, default: standard, takes, about };
}

/** A setting's value and the place that gave it: a flag, a variable's name, `bourse.config.json` or `default`. */
export type SourcedSetting = { readonly name: SettingName; readonly value: unknown; readonly from: string };

/** The settings of this call, each with where it comes from. @throws UsageProblem for one that cannot be used */
export function readSourced(flags: SettingFlags): SourcedSetting[] {
  const file = readConfigFile();
  return settingNames.map((name) => {
    const setting: Setting<unknown> = settings[name];
    const flag = flags[name];
    const variable = process.env[setting.env];
    if (flag !== undefined)
      return { name, value: setting.parse(String(flag), flagOf(name)), from: flagOf(name) };
    if (variable !== undefined && variable !== '')
      return { name, value: setting.parse(variable, setting.env), from: setting.env };
    if (file[name] !== undefined) {
      const value = setting.parse(textOf(name, file[name]), `${CONFIG_FILE}: ${name}`);
      return { name, value, from: CONFIG_FILE };
    }
    return { name, value: setting.default, from: 'default' };
  });
}

/** The settings of this call. @throws UsageProblem for one that cannot be used */
export function readSettings(flags: SettingFlags): Settings {
  return Object.fromEntries(readSourced(flags).map(({ name, value }) => [name, value])) as Settings;
}

/** Variables of the environment that look like settings and are none, each with the setting that it is near. */
export function strayVariables(): { readonly name: string; readonly near: string | undefined }[] {
  const known: readonly string[] = settingNames.map((name) => settings[name].env);
  return Object.keys(process.env)
    .filter((name) => name.startsWith('BOURSE_') && !known.includes(name))
    .map((name) => ({ name, near: nearest(name, known) }));
}
