// `bourse doctor`: the checks outside the store (Node.js, time zones, clock, settings, address, TLS, open
// files), those of its engine, and with `--deep` every byte of the store, with what to run for what is
// damaged.
import { get } from 'node:http';
import { get as getSecurely } from 'node:https';
import type { Command } from 'commander';
import { DAY_MS, dateOf, formatInstant, MINUTE_MS } from '../../base/instant.ts';
import { isOlder, openFilesMax } from '../../base/runtime.ts';
import { marketOfKey } from '../../market/calendar/calendar.ts';
import type { Market } from '../../market/calendar/market.ts';
import { markets } from '../../market/calendar/markets/index.ts';
import { findZone } from '../../market/calendar/zone.ts';
import { runAhead } from '../../runs/former-runs.ts';
import { readOverrides } from '../../series/calendars.ts';
import { seriesAfter } from '../../series/future-bars.ts';
import { isLive } from '../../serve/keys/api-keys.ts';
import { hasQuota } from '../../serve/keys/quotas.ts';
import { allRows } from '../../store/all-rows.ts';
import { readSoundKeys } from '../../store/control.ts';
import {
  broken,
  type Damage,
  DamagedData,
  type Diagnosis,
  doubtful,
  fine,
  readableByOthers,
} from '../../store/damage.ts';
import { engineAt, howToRestore, openControl } from '../../store/engines.ts';
import { storeLimits } from '../../store/limits.ts';
import { series } from '../../store/schema/bars.ts';
import { spokenName } from '../../store/schema/dataset.ts';
import { BARS, fileDatasets } from '../../store/schema/index.ts';
import { apiKeys } from '../../store/schema/internal.ts';
import { instruments } from '../../store/schema/reference.ts';
import { type Reader, StoreUnusable } from '../../store/store.ts';
import {
  readSettings,
  type SettingFlags,
  type Settings,
  settingNames,
  strayVariables,
  UsageProblem,
} from '../config.ts';
import { metricsAddress, ServiceProblem, tryPort } from '../serve/listen-address.ts';
import { damagedParts } from '../serve/scrubbing.ts';
import { certificateOf, exposureOf, isLoopback } from '../serve/serving.ts';
import { command, type FlagsOf, jsonFlag, quietFlag, settingFlags } from '../shared/flags.ts';
import { closing, readStore } from '../shared/opened-store.ts';
import { count, formatTable, note, print, withProgress } from '../shared/output.ts';
import { EXIT_PARTLY } from '../shared/problem.ts';

type Check = (settings: Settings) => Diagnosis | null | Promise<Diagnosis | null>;

/** Each connection is an open file, and a service may have two thousand at once. */
const OPEN_FILES_LEAST = 4_096;

/** Automatic renewal replaces a certificate earlier than this before its end. */
const CERTIFICATE_DAYS_LEAST = 14;

const PROBE_TIMEOUT_MS = 2_000;

/** Some names, and that there are others. */
const someOf = <T>(found: readonly T[], most: number, nameOf: (one: T) => string): string =>
  found.slice(0, most).map(nameOf).join(', ') + (found.length > most ? ' and others' : '');

/** As `bin/bourse` requires. */
const NODE_LEAST = '24.15';

function nodeVersion(): Diagnosis {
  const found = process.versions.node;
  if (!isOlder(found, NODE_LEAST)) return fine('node', `Node.js ${found}`);
  return broken('node', `Node.js ${found} is too old`, `use ${NODE_LEAST} or newer; npm ci brings it`);
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
/**
 * Mexico keeps standard time since 2022 (2022f), Kazakhstan has one zone since 2024 (2024a), Paraguay summer
 * time since 2024 (2025a).
 */
const newTransitions = [
  ['America/Mexico_City', '2023-07-01T00:00:00Z', -360],
  ['Asia/Almaty', '2024-07-01T00:00:00Z', 300],
  ['America/Asuncion', '2025-07-01T00:00:00Z', -180],
] as const;

const isWrong = ([name, at, minutes]: readonly [string, string, number]): boolean =>
  findZone(name)?.offsetAt(Date.parse(at)) !== minutes * MINUTE_MS;

function timeZones(): Diagnosis {
  const data = `zone data ${process.versions.tz ?? 'of the system'}`;
  const [wrong] = oldTransitions.find(isWrong) ?? [];
  if (wrong !== undefined)
    return broken(
      'time zones',
      `${data} gives a wrong clock in ${wrong}`,
      'use the Node.js that npm ci brings',
    );
  const [old] = newTransitions.find(isWrong) ?? [];
  if (old !== undefined)
    return doubtful('time zones', `${data} is from before 2025: ${old} is not up to date`, 'update Node.js');
  return fine('time zones', data);
}

/** Reads the store; null where it cannot be read, which the store's own checks report. */
const readOf = <T>(url: string, read: (reader: Reader) => Promise<T>): Promise<T | null> =>
  // Damage is found by `bourse doctor --deep` and stops no other check.
  readStore(url, 'inspect', read).catch((error: unknown) => {
    if (error instanceof StoreUnusable || error instanceof DamagedData) return null;
    throw error;
  });

async function clock({ store }: Settings): Promise<Diagnosis> {
  const nowMs = Date.now();
  const ahead = await readOf(store, (reader) => runAhead(reader, nowMs));
  if (ahead === null) return fine('clock', formatInstant(nowMs));
  return broken(
    'clock',
    `it is ${formatInstant(nowMs)} here, but the newest import ended at ${ahead.finishedAt} (run ${ahead.runId})`,
    'set the clock of this machine: the latest bar depends on it',
  );
}

/** Series that are named where several have bars that open after now. */
const FUTURE_SERIES_NAMED = 3;

async function barsAfterNow({ store }: Settings): Promise<Diagnosis | null> {
  const found = await readOf(store, (reader) => seriesAfter(reader, Date.now(), FUTURE_SERIES_NAMED + 1));
  if (found === null) return null;
  if (found.length === 0) return fine('bars after now', 'no stored bar opens after now');
  const named = someOf(
    found,
    FUTURE_SERIES_NAMED,
    ({ name, interval, openMs }) => `${name} ${interval} (${formatInstant(openMs)})`,
  );
  return doubtful(
    'bars after now',
    `the last bars of ${named} open after now`,
    'check the clock of this machine; where the file or its --zone was wrong, undo its import: bourse undo',
  );
}

/** A calendar should be updated this many days before its end: next year's list is published by then. */
const CALENDAR_DAYS_LEAST = 60;

/** True if imported overrides of the whole market reach a year. */
async function isImported(reader: Reader, { assetSchema, country }: Market, year: number): Promise<boolean> {
  const days = await readOverrides(reader, assetSchema, country);
  return days.some(({ symbol, calendar_date: day }) => symbol === '*' && dateOf(day).year >= year);
}

/** True if the store has an instrument of a market. */
async function isTraded(reader: Reader, { assetSchema, country }: Market): Promise<boolean> {
  const where = { asset_schema: assetSchema, country_iso_code: country };
  return (await reader.rows(instruments, { where, order: [['symbol', 'asc']], limit: 1 })).length > 0;
}

async function calendars({ store }: Settings): Promise<Diagnosis> {
  const soon = dateOf(Math.floor(Date.now() / DAY_MS) + CALENDAR_DAYS_LEAST).year;
  const ends: string[] = [];
  for (const market of markets) {
    if (market.holidays.length === 0 || market.years[1] >= soon) continue;
    if (!(await readOf(store, (reader) => isTraded(reader, market)))) continue;
    if (await readOf(store, (reader) => isImported(reader, market, soon))) continue;
    ends.push(`${market.country} holidays are known to the end of ${market.years[1]}`);
  }
  if (ends.length === 0)
    return fine(
      'calendars',
      `the holidays of the store's markets are known for the next ${CALENDAR_DAYS_LEAST} days and more`,
    );
  return doubtful(
    'calendars',
    `${ends.join(', ')} only: on later days all weekdays count as sessions`,
    'update Bourse, or import them: bourse import holidays FILE',
  );
}

/** Instruments that are named where several have unknown calendar keys. */
const UNKNOWN_KEYS_NAMED = 5;

/** An instrument's name and its unknown key. */
type UnknownKey = { readonly name: string; readonly key: string };

/** The first `limit` instruments with an unknown calendar key, in order of asset type, country and symbol. */
async function unknownCalendarKeys(reader: Reader, limit: number): Promise<UnknownKey[]> {
  const found: UnknownKey[] = [];
  for await (const { calendar_key: key, ...row } of allRows(reader, instruments)) {
    if (key === null || marketOfKey(key) !== null) continue;
    found.push({ name: `${row.asset_schema}:${row.country_iso_code}:${row.symbol}`, key });
    if (found.length === limit) break;
  }
  return found;
}

async function calendarKeys({ store }: Settings): Promise<Diagnosis | null> {
  const found = await readOf(store, (reader) => unknownCalendarKeys(reader, UNKNOWN_KEYS_NAMED + 1));
  if (found === null) return null;
  if (found.length === 0) return fine('calendar keys', 'every calendar key names a market');
  const named = someOf(found, UNKNOWN_KEYS_NAMED, ({ name, key }) => `${name} (${key})`);
  return doubtful(
    'calendar keys',
    `no market has the calendar_key of ${named}: they follow the market of their asset type and country`,
    `import these instruments with one of ${markets.map(({ key }) => key).join(', ')}`,
  );
}

function variables(): Diagnosis | null {
  const [stray] = strayVariables();
  if (stray === undefined) return null;
  const cure = stray.near === undefined ? 'bourse config shows them all' : `is it ${stray.near}?`;
  return doubtful('environment', `${stray.name} is not a setting`, cure);
}

/** Keys that are named where several have no quota. */
const KEYS_NAMED = 5;

/** Keys that work and have no quota, where others can reach the service. */
async function quotas({ host, store }: Settings): Promise<Diagnosis | null> {
  if (await isLoopback(host)) return null;
  // The store's own checks report a faulty control file.
  const keys = await closing(openControl(store, 'inspect'), readSoundKeys).catch(() => []);
  const free = keys.filter((key) => isLive(key, Date.now()) && !hasQuota(key));
  if (free.length === 0) return fine('quotas', 'every key has a quota');
  const named = someOf(free, KEYS_NAMED, ({ name }) => name);
  return doubtful(
    'quotas',
    `others can reach ${host}, and these keys have no quota: ${named}`,
    'create keys with bourse keys create NAME --per-minute N --per-day N, and revoke those without a quota',
  );
}

async function exposure(settings: Settings): Promise<Diagnosis> {
  const words = await exposureOf(settings);
  if (words === null) return fine('exposure', 'with these settings no key crosses the network unencrypted');
  const [message, cure] = words.split(': ') as [string, string];
  return doubtful('exposure', `${settings.host}: ${message}`, cure);
}

async function certificate(settings: Settings): Promise<Diagnosis | null> {
  try {
    const found = certificateOf(settings);
    if (found === null) return null;
    const { files, x509 } = found;
    const days = Math.floor((x509.validToDate.getTime() - Date.now()) / DAY_MS);
    const renew = `renew it and replace ${files.cert} and ${files.key}`;
    if (days < 0) return broken('certificate', `it ended on ${x509.validTo}`, renew);
    if (days < CERTIFICATE_DAYS_LEAST)
      return doubtful('certificate', `it ends in ${days} days, on ${x509.validTo}`, renew);
    const isOpen = (await readableByOthers([files.key])).length > 0;
    const readable = `every user of this machine can read ${files.key}`;
    if (isOpen) return doubtful('certificate', readable, `chmod o-rwx ${files.key}`);
    return coverage(settings, x509) ?? fine('certificate', `${files.cert}, until ${x509.validTo}`);
  } catch (error) {
    if (error instanceof UsageProblem) return broken('certificate', error.message, null);
    throw error;
  }
}

/** A finding where a certificate does not cover the address that callers use. */
function coverage(
  { publicUrl }: Settings,
  x509: { checkHost(name: string): string | undefined },
): Diagnosis | null {
  const host = publicUrl === null ? null : new URL(publicUrl).hostname;
  if (host === null || x509.checkHost(host) !== undefined) return null;
  const message = `it is not for ${host}, the host of the public address`;
  return doubtful('certificate', message, 'get one for that name, unless a proxy has its own');
}

/** True if Bourse answers on an address: its answer to an unknown path has a word of its own. */
function isBourse(host: string, port: number, isSecure: boolean): Promise<boolean> {
  const options = { host, port, path: '/api/v2/', timeout: PROBE_TIMEOUT_MS, rejectUnauthorized: false };
  return new Promise((resolve) => {
    const request = (isSecure ? getSecurely : get)(options, (response) => {
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

const port = (settings: Settings): Promise<Diagnosis> =>
  portCheck('port', settings.host, settings.port, settings.tlsCert !== null, () => tryPort(settings));

/** The port of metrics, where it is not the port of the service. */
async function metricsPort(settings: Settings): Promise<Diagnosis | null> {
  const { metricsHost, metricsPort: number } = settings;
  if (number === null || number === settings.port) return null;
  return portCheck('metrics port', metricsHost, number, false, () => tryPort(settings, metricsAddress));
}

async function portCheck(
  name: string,
  host: string,
  number: number,
  isSecure: boolean,
  attempt: () => Promise<number>,
): Promise<Diagnosis> {
  try {
    await attempt();
    return fine(name, number === 0 ? 'any free one' : `${number} of ${host} is free`);
  } catch (error) {
    if (!(error instanceof ServiceProblem)) throw error;
    const isTaken = (error.cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    if (isTaken && (await isBourse(host, number, isSecure)))
      return fine(name, `Bourse answers on ${number} of ${host}`);
    const [message, cure] = error.message.split(': ') as [string, string];
    return broken(name, message, cure);
  }
}

function openFiles(): Diagnosis | null {
  const most = openFilesMax();
  if (most === null) return null;
  const shown = Number.isFinite(most) ? String(most) : 'unlimited';
  if (most >= OPEN_FILES_LEAST) return fine('open files', `${shown} for a process`);
  return doubtful(
    'open files',
    `${shown} for a process, and each connection counts as one`,
    `ulimit -n ${OPEN_FILES_LEAST}, or LimitNOFILE= of the systemd unit`,
  );
}

const checks: readonly Check[] = [
  nodeVersion,
  timeZones,
  clock,
  barsAfterNow,
  calendars,
  calendarKeys,
  variables,
  port,
  metricsPort,
  exposure,
  quotas,
  certificate,
  openFiles,
];

/** The findings of all checks of the machine and the settings. */
async function diagnoseMachine(settings: Settings): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [];
  for (const check of checks) {
    const diagnosis = await check(settings);
    if (diagnosis !== null) found.push(diagnosis);
  }
  return found;
}

const CHECK = 'data';

/** The cure of a damaged part. */
function cureOf({ dataset, part }: Damage, restore: string): string {
  if (dataset === BARS)
    return `delete these bars (bourse delete bars) and import their files again, or ${restore}`;
  if (part !== 'row') return restore;
  if (dataset === series.name)
    return `delete all its bars (bourse delete bars) and import their files again, or ${restore}`;
  if (dataset === instruments.name)
    return `delete it with its bars (bourse delete instruments) and import all of it again, or ${restore}`;
  if (dataset === apiKeys.name) return `bourse keys create makes another key; or ${restore}`;
  const imported = fileDatasets.find(
    ({ name, file }) =>
      file.deletion !== undefined && (name === dataset || file.beside?.dataset.name === dataset),
  );
  return imported === undefined
    ? restore
    : `delete it (bourse delete ${spokenName(imported)}) and import its file again, or ${restore}`;
}

/** Reads all of a store. */
export async function diagnoseData(url: string): Promise<Diagnosis[]> {
  if (!(await engineAt(url).isMade())) return [];
  const restore = howToRestore(url);
  try {
    const { named, more } = await withProgress({ name: 'reading the store' }, ({ reached }) =>
      damagedParts(url, storeLimits.damageNamedMax, note, reached),
    );
    if (named.length === 0) return [fine(CHECK, 'every row, block and index is as it was written')];
    const found = named.map((one) => {
      const { dataset, place, problem } = one;
      return broken(CHECK, `damaged: ${dataset ?? 'the store'}, ${place}: ${problem}`, cureOf(one, restore));
    });
    return more === 0 ? found : [...found, broken(CHECK, `damaged: ${count(more)} more parts`, restore)];
  } catch (error) {
    if (error instanceof StoreUnusable) return [broken(CHECK, error.message, restore)];
    throw error;
  }
}

const ownFlags = {
  ...quietFlag,
  '--deep': 'also read every byte of the store, and name damaged parts',
  ...jsonFlag,
} as const;

export const doctorCommand = (): Command =>
  command(
    'doctor',
    { ...settingFlags(...settingNames), ...ownFlags },
    'bourse doctor',
    'bourse doctor --deep',
    'bourse doctor --store sqlite:/var/lib/bourse/data/bourse.db --json',
  ).action(async (flags: SettingFlags & FlagsOf<typeof ownFlags>) => {
    const given = readSettings(flags);
    const settings = { ...given, store: engineAt(given.store).address };
    const found = [
      ...(await diagnoseMachine(settings)),
      ...(await engineAt(settings.store).diagnose()),
      ...(flags.deep ? await diagnoseData(settings.store) : []),
    ];
    const rows = found.map(({ state, check, message, cure }) => [
      state,
      check,
      cure === null ? message : `${message}: ${cure}`,
    ]);
    print(flags, found, formatTable([['STATE', 'CHECK', 'FINDING'], ...rows]), 2);
    if (found.some(({ state }) => state === 'fail')) process.exitCode = EXIT_PARTLY;
  });
