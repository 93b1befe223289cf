// Certificates for tests, made by OpenSSL where it is on the machine.
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Why a test that needs a certificate is skipped; false where one can be made. */
export const withoutOpenssl: string | false =
  spawnSync('openssl', ['version']).status === 0
    ? false
    : 'openssl is not on this machine: no certificate can be made';

export type Issued = { readonly cert: string; readonly key: string };

/** How OpenSSL makes a key of each kind. */
const newKeys = { ec: 'ec -pkeyopt ec_paramgen_curve:prime256v1', rsa: 'rsa:2048' } as const;

/**
 * Makes a certificate with its key, issued to a name and valid for some hosts; the key is its owner's alone.
 */
export function issue(
  folder: string,
  name: string,
  hosts = 'DNS:localhost,IP:127.0.0.1',
  days = 100,
  keyKind: keyof typeof newKeys = 'ec',
): Issued {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  const made = `req -x509 -newkey ${newKeys[keyKind]} -nodes -days ${days} -subj /CN=${name}`;
  const written = ['-addext', `subjectAltName=${hosts}`, '-keyout', files.key, '-out', files.cert];
  execFileSync('openssl', [...made.split(' '), ...written], { stdio: 'ignore' });
  return files;
}
