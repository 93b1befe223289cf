// Where a service listens, and what to do where it cannot.
import { once } from 'node:events';
import { type AddressInfo, createServer, isIP } from 'node:net';
import { factsOf, type Settings } from '../config.ts';

/** The service cannot run as things are; the message says what to do. Exit status 3. */
export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';
}

/** The settings of an address to listen on. */
type AddressSettings = { readonly host: 'host' | 'metricsHost'; readonly port: 'port' | 'metricsPort' };

/** The settings of the service's own address. */
const serviceAddress: AddressSettings = { host: 'host', port: 'port' };

/** The settings of the address that serves only metrics. */
export const metricsAddress: AddressSettings = { host: 'metricsHost', port: 'metricsPort' };

/** The address of what listens, for callers. */
export const urlOf = (scheme: string, host: string, port: number): string =>
  `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;

/** Why an address cannot be listened on, and which of its settings to change. */
const cures: Readonly<Record<string, readonly [what: string, setting: 'host' | 'port', value: string]>> = {
  EADDRINUSE: ['is taken: choose another', 'port', 'N'],
  EACCES: ['is not allowed for this user: choose one from 1024', 'port', 'N'],
  EADDRNOTAVAIL: ['is not an address of this machine: choose one', 'host', 'ADDRESS'],
  ENOTFOUND: ['is not known: choose an address of this machine', 'host', 'ADDRESS'],
};

/** An error of listening as a `ServiceProblem`; any other error as it is. */
export function portProblem(error: unknown, settings: Settings, address = serviceAddress): unknown {
  const cure = cures[(error as NodeJS.ErrnoException).code ?? ''];
  if (cure === undefined) return error;
  const [what, setting, value] = cure;
  const { flag, env } = factsOf(address[setting]);
  const where = `port ${settings[address.port]} of ${settings[address.host]}`;
  return new ServiceProblem(`${where} ${what} with ${flag} ${value} or ${env}`, { cause: error });
}

/**
 * Listens on an address for a moment: its port, which is a free one for 0. @throws ServiceProblem where that
 * fails
 */
export async function tryPort(settings: Settings, address = serviceAddress): Promise<number> {
  const [host, port] = [settings[address.host], settings[address.port] ?? 0];
  const server = createServer().listen({ host, port, exclusive: true });
  await once(server, 'listening').catch((error: unknown) => {
    throw portProblem(error, settings, address);
  });
  const { port: found } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return found;
}
