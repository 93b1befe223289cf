// The files of deploy/ for several machines, as far as they can be judged without a container engine; nginx
// itself where it is installed.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, suite, test } from 'node:test';
import { factsOf, settingNames } from '../src/cli/config.ts';
import { limits } from '../src/contract/limits.ts';
import { readPostgresAddress } from '../src/store/postgres/address.ts';
import { until } from './until.ts';

const deploy = join(import.meta.dirname, '../deploy');
const composeFiles = ['two-servers/compose.yaml', 'citus/compose.yaml'];
const hasYaml = spawnSync('python3', ['-c', 'import yaml']).status === 0;
const skipYaml = !hasYaml && 'Python with its module yaml is not installed: apt-get install python3-yaml';

type Service = {
  readonly image: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly networks: readonly string[];
  readonly stop_grace_period?: string;
  readonly mem_limit?: string;
};
type Compose = {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: object;
  readonly volumes: object;
};

function parsed(file: string): Compose {
  const program = 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)';
  const input = readFileSync(join(deploy, file));
  const { status, stdout, stderr } = spawnSync('python3', ['-c', program], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Compose;
}

for (const file of composeFiles)
  test(`${file} names services, networks, volumes and files that are there, and settings that Bourse has`, {
    skip: skipYaml,
  }, () => {
    const { services, networks, volumes } = parsed(file);
    for (const [name, service] of Object.entries(services)) {
      for (const needed of Array.isArray(service.depends_on)
        ? service.depends_on
        : Object.keys(service.depends_on ?? {}))
        assert.ok(needed in services, `${name} needs ${needed}`);
      for (const network of service.networks) assert.ok(network in networks, `${name}: ${network}`);
      for (const volume of service.volumes ?? []) {
        const [from] = volume.split(':') as [string];
        const folder = join(deploy, file, '..');
        assert.ok(
          from.startsWith('.') ? existsSync(resolve(folder, from)) : from in volumes,
          `${name}: ${from}`,
        );
      }
      const variables = Object.keys(service.environment ?? {}).filter((one) => one.startsWith('BOURSE_'));
      const known = settingNames.map((setting) => factsOf(setting).env);
      assert.deepEqual(
        variables.filter((one) => !known.includes(one)),
        [],
      );
    }
  });

for (const file of composeFiles)
  test(`the servers of ${file} have an address that can be read, without a password, and the limits of compose.yaml`, {
    skip: skipYaml,
  }, () => {
    const { services } = parsed(file);
    const main = readFileSync(join(deploy, '../compose.yaml'), 'utf8');
    const servers = Object.values(services).filter(({ build }) => build !== undefined);
    assert.ok(servers.length > 0);
    for (const { environment, mem_limit: memory, stop_grace_period: grace } of servers) {
      const address = readPostgresAddress(environment!.BOURSE_STORE!.replace('postgres:', ''));
      assert.equal(address.password, null);
      for (const { host } of address.hosts) assert.ok(host in services, host);
      assert.match(main, new RegExp(`^ +mem_limit: ${memory}$`, 'm'));
      assert.ok(Number.parseInt(grace!, 10) * 1_000 > limits.stopTimeoutMs);
    }
  });

test('the systemd unit keeps temporary files in a folder that it makes, on a disk', () => {
  const unit = readFileSync(join(deploy, 'bourse.service'), 'utf8');
  const [, folder] = /^CacheDirectory=(\S+)$/m.exec(unit)!;
  assert.match(unit, new RegExp(`^Environment=.*\\bTMPDIR=/var/cache/${folder}$`, 'm'));
});

test('an image without a digest says why, and how to find it', () => {
  for (const file of composeFiles) {
    const text = readFileSync(join(deploy, file), 'utf8');
    for (const [, comment, image] of text.matchAll(/^(.*)\n +image: (\S+:\S+)$/gm))
      assert.match(comment!, /# .*docker buildx imagetools inspect/, image);
  }
});

const hasNginx = spawnSync('nginx', ['-v']).status === 0;

suite('nginx before two servers', {
  skip: !hasNginx && 'nginx is not installed: apt-get install nginx',
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'bourse-nginx-'));
  const stops: (() => Promise<unknown>)[] = [];
  after(async () => {
    for (const stop of stops) await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  type Backend = {
    readonly server: Server;
    readonly port: number;
    status: number;
    readonly seen: IncomingMessage[];
  };

  async function backend(): Promise<Backend> {
    const seen: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      seen.push(request);
      response.writeHead(made.status, { 'Retry-After': '1' });
      response.end(`${made.port}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const made: Backend = { server, port: (server.address() as AddressInfo).port, status: 200, seen };
    stops.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    return made;
  }

  /** Starts nginx on a port that was free a moment ago; null where another program has it now. */
  async function startOnce(backends: readonly [Backend, Backend]): Promise<string | null> {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as AddressInfo;
    await new Promise((resolve) => probe.close(resolve));
    const text = readFileSync(join(deploy, 'nginx.conf'), 'utf8')
      .replace('worker_processes auto', 'worker_processes 1')
      .replace('listen 80', `listen 127.0.0.1:${port}`)
      .replace('bourse-1:8080', `127.0.0.1:${backends[0].port}`)
      .replace('bourse-2:8080', `127.0.0.1:${backends[1].port}`);
    const file = join(folder, `${port}.conf`);
    writeFileSync(file, text);
    const own = `daemon off; pid ${folder}/${port}.pid;`;
    const errors = join(folder, `${port}.errors`);
    const child = spawn('nginx', ['-c', file, '-g', own, '-e', errors], { stdio: 'ignore' });
    let isRunning = true;
    const ended = once(child, 'exit').then(() => {
      isRunning = false;
    });
    stops.push(() => {
      child.kill('SIGTERM');
      return ended;
    });
    const url = `http://127.0.0.1:${port}`;
    await until(
      'nginx answers or has ended',
      async () => !isRunning || fetch(url).then(Boolean, () => false),
    );
    if (isRunning) return url;
    const said = readFileSync(errors, 'utf8');
    assert.match(said, /Address already in use/);
    return null;
  }

  async function start(backends: readonly [Backend, Backend]): Promise<string> {
    for (;;) {
      const url = await startOnce(backends);
      if (url !== null) return url;
    }
  }

  test('asks both servers over kept connections, and tells them the public address', async () => {
    const both = [await backend(), await backend()] as const;
    const url = await start(both);
    for (let count = 0; count < 8; count++)
      assert.equal((await fetch(`${url}/x`, { headers: { forwarded: 'host=evil.example' } })).status, 200);
    for (const { seen } of both) assert.ok(seen.length >= 4);
    const { headers } = both[0].seen.at(-1)!;
    assert.equal(headers['x-forwarded-proto'], 'http');
    assert.equal(headers['x-forwarded-host'], '127.0.0.1');
    assert.equal(headers['x-forwarded-port'], new URL(url).port);
    assert.deepEqual(
      [headers.forwarded, headers['x-forwarded-prefix'], headers.connection],
      [undefined, undefined, undefined],
    );
  });

  test('asks the other server after a 503 or a refused connection, passes on a 503 of both, and hides metrics', async () => {
    const both = [await backend(), await backend()] as const;
    const url = await start(both);
    const statuses = async (): Promise<number[]> => {
      const found: number[] = [];
      for (let count = 0; count < 10; count++) found.push((await fetch(`${url}/y`)).status);
      return found;
    };
    both[0].status = 503;
    assert.deepEqual(new Set(await statuses()), new Set([200]));
    both[1].status = 503;
    assert.deepEqual(new Set(await statuses()), new Set([503]));
    const refused = await fetch(`${url}/y`);
    assert.equal(refused.headers.get('retry-after'), '1');
    both[1].status = 200;
    both[0].server.closeAllConnections();
    both[0].server.close();
    assert.deepEqual(new Set(await statuses()), new Set([200]));
    assert.equal((await fetch(`${url}/metrics`)).status, 404);
  });
});
