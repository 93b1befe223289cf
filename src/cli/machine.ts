// What `bourse doctor` looks at outside the store: Node.js, time zones, clock, settings, address, TLS, open files.
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { get as getSecurely } from 'node:https';
import { createServer } from 'node:net';
import { DAY_MS, dateOf, formatInstant } from '../base/instant.ts';
import type { Market } from '../calendar/market.ts';
import { markets } from '../calendar/markets/index.ts';
import { findZone } from '../calendar/zone.ts';
import { importRuns } from '../datasets/internal.ts';
import { unknownCalendarKeys } from '../series/unknown-keys.ts';
import { readOverrides } from '../store/calendar-overrides.ts';
import { broken, type Diagnosis, doubtful, fine, readableByOthers } from '../store/diagnosis.ts';
import { openStore } from '../store/engines.ts';
import { type Reader, StoreUnusable } from '../store/store.ts';
import { type Settings, strayVariables, UsageProblem } from './config.ts';
import { portProblem } from './listen-address.ts';
import { ServiceProblem } from './problem.ts';
import { certificateOf, exposureOf } from './serving.ts';

type Check = (settings: Settings) => Diagnosis | null | Promise<Diagnosis | null>;

/** Each connection is an open file; two thousand callers at once are many. */
const OPEN_FILES_LEAST = 4_096;

/** Certificates that are renewed by themselves are renewed earlier than this before their end. */
const CERTIFICATE_DAYS_LEAST = 14;

const PROBE_TIMEOUT_MS = 2_000;

function nodeVersion(): Diagnosis {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const wanted = (JSON.parse(file) as { engines: { node: string } }).engines.node.replace('>=', '');
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorLeast = 0, minorLeast = 0] = wanted.split('.').map(Number);
  const isNew = major > majorLeast || (major === majorLeast && minor >= minorLeast);
  if (isNew) return fine('node', `Node.js ${process.versions.node}`);
  return broken(
    'node',
    `Node.js ${process.versions.node} is too old`,
    `use ${wanted} or newer; npm ci brings it`,
  );
}

/** Offsets in minutes that markets' rules give (IANA Time Zone Database, its release notes). */
const oldTransitions = [
  ['America/New_York', '2025-03-09T06:59:00Z', -300],
  ['America/New_York', '2025-03-09T07:00:00Z', -240],
  ['America/Chicago', '2025-11-02T06:59:00Z', -300],
  ['America/Chicago', '2025-11-02T07:00:00Z', -360],
  ['Europe/London', '2025-03-30T01:00:00Z', 60],
  ['Asia/Tokyo', '2025-07-01T00:00:00Z', 540],
] as const;
/** Mexico kept standard time from 2022 (2022f), Kazakhstan has one zone since March 2024 (2024a), Paraguay summer time since 2024 (2025a). */
const newTransitions = [
  ['America/Mexico_City', '2023-07-01T00:00:00Z', -360],
  ['Asia/Almaty', '2024-07-01T00:00:00Z', 300],
  ['America/Asuncion', '2025-07-01T00:00:00Z', -180],
] as const;

const isKnown = ([name, at, minutes]: readonly [string, string, number]): boolean =>
  findZone(name)?.offsetAt(Date.parse(at)) === minutes * 60_000;

function timeZones(): Diagnosis {
  const release = process.versions.tz ?? 'of the system';
  const wrong = oldTransitions.find((transition) => !isKnown(transition));
  if (wrong !== undefined)
    return broken(
      'time zones',
      `zone data ${release} gives a wrong clock in ${wrong[0]}`,
      'use the Node.js that npm ci brings',
    );
  const old = newTransitions.find((transition) => !isKnown(transition));
  if (old !== undefined)
    return doubtful(
      'time zones',
      `zone data ${release} is from before 2025: ${old[0]} is not up to date`,
      'update Node.js',
    );
  return fine('time zones', `zone data ${release}`);
}

/** What is read of the store; null where it cannot be read, which is told elsewhere. */
async function readOf<T>(url: string, read: (reader: Reader) => Promise<T>): Promise<T | null> {
  try {
    const store = await openStore(url, 'inspect');
    try {
      return await store.snapshot(read);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof StoreUnusable) return null;
    throw error;
  }
}

async function clock({ store }: Settings): Promise<Diagnosis> {
  const nowMs = Date.now();
  const newest = { order: [['run_id', 'desc']], limit: 1 } as const;
  const runs = await readOf(store, (reader) => reader.rows(importRuns, newest));
  const newestMs = runs?.[0]?.finished_ms ?? null;
  if (newestMs === null || newestMs <= nowMs) return fine('clock', formatInstant(nowMs));
  return broken(
    'clock',
    `it is ${formatInstant(nowMs)} here, but the newest import ended at ${formatInstant(newestMs)}`,
    'set the clock of this machine: what is the latest bar depends on it',
  );
}

/** Days before the end of what a calendar holds at which it should be updated: by then next year's list is out. */
const CALENDAR_DAYS_LEAST = 60;

/** Whether files have brought days of the whole market from a year on. */
async function isImported(reader: Reader, { assetSchema, country }: Market, year: number): Promise<boolean> {
  const days = await readOverrides(reader, assetSchema, country);
  return days.some(({ symbol, calendar_date: day }) => symbol === '*' && dateOf(day).year >= year);
}

async function calendars({ store }: Settings): Promise<Diagnosis> {
  const soon = dateOf(Math.floor(Date.now() / DAY_MS) + CALENDAR_DAYS_LEAST).year;
  const ending: Market[] = [];
  for (const market of markets) {
    if (market.holidays.length === 0 || market.years[1] >= soon) continue;
    if ((await readOf(store, (reader) => isImported(reader, market, soon))) !== true) ending.push(market);
  }
  if (ending.length === 0)
    return fine('calendars', `holidays are known for the next ${CALENDAR_DAYS_LEAST} days and more`);
  const ends = ending.map(({ country, years }) => `${country} holidays are known to the end of ${years[1]}`);
  return doubtful(
    'calendars',
    `${ends.join(', ')} only: on later days all weekdays count as sessions`,
    'update Bourse, or import them: bourse import holidays FILE',
  );
}

/** Instruments that are named where several have unknown calendar keys. */
const UNKNOWN_KEYS_NAMED = 5;

async function calendarKeys({ store }: Settings): Promise<Diagnosis | null> {
  const found = await readOf(store, (reader) => unknownCalendarKeys(reader, UNKNOWN_KEYS_NAMED + 1));
  if (found === null) return null;
  if (found.length === 0) return fine('calendar keys', 'every calendar key names a market');
  const named = found.slice(0, UNKNOWN_KEYS_NAMED).map(({ name, key }) => `${name} (${key})`);
  const more = found.length > UNKNOWN_KEYS_NAMED ? ' and others' : '';
  return doubtful(
    'calendar keys',
    `no market has the calendar_key of ${named.join(', ')}${more}: they follow the market of their asset type and country`,
    `import these instruments with one of ${markets.map(({ key }) => key).join(', ')}`,
  );
}

function variables(): Diagnosis | null {
  const [stray] = strayVariables();
  if (stray === undefined) return null;
  const cure = stray.near === undefined ? 'bourse config shows them all' : `is it ${stray.near}?`;
  return doubtful('environment', `${stray.name} is no setting`, cure);
}

async function exposure(settings: Settings): Promise<Diagnosis> {
  const words = await exposureOf(settings);
  if (words === null) return fine('exposure', 'nobody on the way reads keys, as far as the settings tell');
  const [message, cure] = words.split(': ') as [string, string];
  return doubtful('exposure', `${settings.host}: ${message}`, cure);
}

async function certificate(settings: Settings): Promise<Diagnosis | null> {
  try {
    const found = certificateOf(settings);
    if (found === null) return null;
    const { files, x509 } = found;
    const days = Math.floor((x509.validToDate.getTime() - Date.now()) / DAY_MS);
    const renew = `renew it and put the new files in place of ${files.cert} and ${files.key}`;
    if (days < 0) return broken('certificate', `it ended on ${x509.validTo}`, renew);
    if (days < CERTIFICATE_DAYS_LEAST)
      return doubtful('certificate', `it ends in ${days} days, on ${x509.validTo}`, renew);
    if ((await readableByOthers([files.key])).length > 0)
      return doubtful(
        'certificate',
        `every user of this machine can read ${files.key}`,
        `chmod o-rwx ${files.key}`,
      );
    return coverage(settings, x509) ?? fine('certificate', `${files.cert}, until ${x509.validTo}`);
  } catch (error) {
    if (error instanceof UsageProblem) return broken('certificate', error.message, null);
    throw error;
  }
}

/** What is wrong with the names of a certificate; null where they cover the address that callers use. */
function coverage(
  { publicUrl }: Settings,
  x509: { checkHost(name: string): string | undefined },
): Diagnosis | null {
  if (publicUrl === null) return null;
  const { hostname } = new URL(publicUrl);
  if (x509.checkHost(hostname) !== undefined) return null;
  return doubtful(
    'certificate',
    `it is not for ${hostname}, the host of the public address`,
    'get one for that name, unless a proxy has its own',
  );
}

type Listened = Pick<Settings, 'host' | 'port' | 'tlsCert'>;

/** Whether Bourse answers on an address: by the word of its answer to a path that it does not have. */
function isBourse({ host, port, tlsCert }: Listened): Promise<boolean> {
  const options = { host, port, path: '/api/v2/', timeout: PROBE_TIMEOUT_MS, rejectUnauthorized: false };
  return new Promise((resolve) => {
    const request = (tlsCert === null ? get : getSecurely)(options, (response) => {
      let body = '';
      response.on('data', (piece) => {
        body = `${body}${piece}`.slice(0, 1_000);
      });
      response.on('end', () => resolve(body.includes('"error":"unknown_path"')));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

function port(settings: Settings): Promise<Diagnosis> {
  return portCheck('port', settings, (error) => portProblem(error, settings));
}

/** The port of metrics, where it is theirs alone. */
async function metricsPort(settings: Settings): Promise<Diagnosis | null> {
  const { metricsHost: host, metricsPort: number } = settings;
  if (number === null || number === settings.port) return null;
  const place = { host: 'metricsHost', port: 'metricsPort' } as const;
  return portCheck('metrics port', { host, port: number, tlsCert: null }, (error) =>
    portProblem(error, settings, place),
  );
}

async function portCheck(
  name: string,
  listened: Listened,
  problemOf: (error: unknown) => unknown,
): Promise<Diagnosis> {
  const { host, port: number } = listened;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port: number, exclusive: true }, resolve);
    });
    await new Promise((resolve) => server.close(resolve));
    return fine(name, number === 0 ? 'any that is free' : `${number} of ${host} is free`);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (isTaken && (await isBourse(listened))) return fine(name, `Bourse answers on ${number} of ${host}`);
    const problem = problemOf(error);
    if (!(problem instanceof ServiceProblem)) throw error;
    const [message, cure] = problem.message.split(': ') as [string, string];
    return broken(name, message, cure);
  }
}

function openFiles(): Diagnosis | null {
  type Limits = { readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } } };
  if (process.report === undefined) return null;
  const soft = (process.report.getReport() as Limits).userLimits?.open_files.soft;
  if (soft === undefined) return null;
  if (soft === 'unlimited' || soft >= OPEN_FILES_LEAST) return fine('open files', `${soft} for a process`);
  return doubtful(
    'open files',
    `${soft} for a process, and each connection is one`,
    `ulimit -n ${OPEN_FILES_LEAST}, or LimitNOFILE= of the systemd unit`,
  );
}

const checks: readonly Check[] = [
  nodeVersion,
  timeZones,
  clock,
  calendars,
  calendarKeys,
  variables,
  port,
  metricsPort,
  exposure,
  certificate,
  openFiles,
];

/** Everything that can be said of the machine and the settings. */
export async function diagnoseMachine(settings: Settings): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const check of checks) {
    const diagnosis = await check(settings);
    if (diagnosis !== null) found.push(diagnosis);
  }
  return found;
}
