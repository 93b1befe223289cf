// Where a service listens, and what to do where it cannot.
import { isIP } from 'node:net';
import { factsOf, type Settings } from './config.ts';
import { ServiceProblem } from './problem.ts';

/** The settings that say where to listen. */
export type PlaceSettings = {
  readonly host: 'host' | 'metricsHost';
  readonly port: 'port' | 'metricsPort';
};

const servicePlace: PlaceSettings = { host: 'host', port: 'port' };

/** The address of what listens, for callers. */
export const urlOf = (scheme: string, host: string, port: number): string =>
  `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** What to do where an address cannot be listened on, and with which of its settings. */
const cures: Readonly<Record<string, readonly [what: string, setting: 'host' | 'port', value: string]>> = {
  EADDRINUSE: ['is taken: choose another', 'port', 'N'],
  EACCES: ['is not for this user: choose one from 1024', 'port', 'N'],
  EADDRNOTAVAIL: ['is no address of this machine: choose one', 'host', 'ADDRESS'],
  ENOTFOUND: ['is not known: choose an address of this machine', 'host', 'ADDRESS'],
};

/** An address that could not be listened on, in words; any other error as it is. */
export function portProblem(error: unknown, settings: Settings, place = servicePlace): unknown {
  const cure = cures[(error as NodeJS.ErrnoException).code ?? ''];
  if (cure === undefined) return error;
  const [what, setting, value] = cure;
  const { flag, env } = factsOf(place[setting]);
  const where = `port ${settings[place.port]} of ${settings[place.host]}`;
  return new ServiceProblem(`${where} ${what} with ${flag} ${value} or ${env}`, { cause: error });
}
