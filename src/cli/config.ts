// Settings: flag, then environment, then bourse.config.json, then default. The only file that reads the environment.
import { readFileSync } from 'node:fs';

/** A setting that cannot be used; exit status 2. */
export class UsageProblem extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UsageProblem';
  }
}

type Setting<T> = {
  readonly env: string;
  readonly default: T;
  readonly parse: (text: string, where: string) => T;
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

const hostNames = (value: string): readonly string[] =>
  value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');

function oneOf(...words: readonly string[]) {
  return (value: string, where: string): string => {
    if (words.includes(value)) return value;
    throw new UsageProblem(`${where}: ${value} must be one of ${words.join(', ')}`);
  };
}

/** Every setting: where the environment has it, its default, how its text is read. */
const settings = {
  store: { env: 'BOURSE_STORE', default: 'sqlite:data/bourse.db', parse: text },
  host: { env: 'BOURSE_HOST', default: '127.0.0.1', parse: text },
  port: { env: 'BOURSE_PORT', default: 8080, parse: wholeNumber(0, 65_535) },
  workers: { env: 'BOURSE_WORKERS', default: 1, parse: wholeNumber(1, 64) },
  publicUrl: { env: 'BOURSE_PUBLIC_URL', default: null, parse: publicUrl },
  allowedHosts: { env: 'BOURSE_ALLOWED_HOSTS', default: [], parse: hostNames },
  logLevel: {
    env: 'BOURSE_LOG_LEVEL',
    default: 'info',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'),
  },
} as const satisfies Record<string, Setting<unknown>>;

export type SettingName = keyof typeof settings;

/** The settings with their values. */
export type Settings = {
  readonly store: string;
  readonly host: string;
  readonly port: number;
  /** Serving processes, which share the port. */
  readonly workers: number;
  readonly publicUrl: string | null;
  readonly allowedHosts: readonly string[];
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
    `${CONFIG_FILE}: there is no setting ${unknown}; the settings are ${Object.keys(settings).join(', ')}`,
  );
}

/** A value of the configuration file as its flag would write it. */
function textOf(name: string, value: unknown): string {
  if (Array.isArray(value) && value.every((part) => typeof part === 'string')) return value.join();
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  throw new UsageProblem(`${CONFIG_FILE}: ${name} must be text or a number`);
}

/** The settings of this call: `flags` are the texts given on the command line. */
export function readSettings(flags: Readonly<Partial<Record<SettingName, string>>>): Settings {
  const file = readConfigFile();
  const values: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(settings) as [SettingName, Setting<unknown>][]) {
    const fromFile = file[name];
    const fromEnv = process.env[setting.env];
    if (flags[name] !== undefined) values[name] = setting.parse(flags[name], `--${kebab(name)}`);
    else if (fromEnv !== undefined && fromEnv !== '') values[name] = setting.parse(fromEnv, setting.env);
    else if (fromFile !== undefined)
      values[name] = setting.parse(textOf(name, fromFile), `${CONFIG_FILE}: ${name}`);
    else values[name] = setting.default;
  }
  return values as Settings;
}

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
