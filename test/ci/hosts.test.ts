// Whatever Host and forwarded headers say, no answer holds a name that is not the service's own (contract
// 4.3).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Connection, type RawAnswer } from '../connection.ts';
import { Random } from '../fuzz/random.ts';
import { openService } from '../fuzz/sockets.ts';
import { seed } from '../seed.ts';
import { type Server, Workshop } from '../service.ts';

/** So many where names are judged by themselves, and the first of them with each setting. */
const [ALL, FIRST] = [1_000, 300];

const shop = new Workshop();
let plain: Server;
let key = '';
after(() => shop.close());
before(async () => {
  const { server, known } = await openService(shop);
  plain = server;
  key = known.liveKey;
});

/** In every foreign name, and in nothing of ours: too long to stand in a page key by chance. */
const MARK = 'evilhost';

const OURS = ['localhost', 'LOCALHOST:8080', '127.0.0.1', '[::1]:8080', '203.0.113.7:65535'];

/** A foreign name, plain or dressed up as one of ours. */
function foreignName(random: Random): string {
  const name = random.pick([
    MARK,
    `${MARK}.example`,
    `a-${MARK}.example`,
    `xn--${MARK}`,
    `${MARK}.localhost`,
    `\u00e9${MARK}`,
  ]);
  const ours = random.pick([...OURS, 'bars.example.com', 'data.example.com']);
  const dressed = [
    ...[
      name,
      `${name}:80`,
      `${name}:99999`,
      `${name}.`,
      `.${name}`,
      random.anyCase(name),
      `[${name}]`,
      `//${name}`,
    ],
    ...[`${ours}.${name}`, `${name}.${ours}`, `${ours}@${name}`, `${name}@${ours}`, `${ours}:80@${name}`],
    ...[`${ours}, ${name}`, `${name}, ${ours}`, `${ours} ${name}`, `${ours}\t${name}`, `${ours};${name}`],
    ...[`${ours}#${name}`, `${ours}?${name}`, `${ours}/${name}`, `${ours}\\${name}`, `${ours}%00${name}`],
    ...[
      `${ours}%0d%0aX-${MARK}: 1`,
      `http://${name}`,
      `"${name}"`,
      `<${name}>`,
      `${ours}">${name}`,
      `[::1%${name}]`,
    ],
  ];
  return random.pick(dressed);
}

/** Headers by which proxies tell a host, a scheme, a port or a path. */
function forwarded(random: Random): string {
  const name = foreignName(random);
  const fields = [
    ...[
      `Forwarded: for=1.2.3.4;host=${name};proto=https`,
      `Forwarded: host="${name}"`,
      `forwarded: HOST=${name}`,
    ],
    ...[`X-Forwarded-Host: ${name}`, `x-forwarded-host: localhost, ${name}`, `X-Forwarded-Server: ${name}`],
    ...[
      `X-Forwarded-Proto: ${MARK}`,
      `X-Forwarded-Port: 666\r\nX-Forwarded-Host: ${name}`,
      `X-Host: ${name}`,
    ],
    ...[`X-Forwarded-Prefix: /${MARK}`, `X-Original-Host: ${name}`, `X-HTTP-Host-Override: ${name}`],
    ...[
      `X-Original-URL: /${MARK}`,
      `X-Rewrite-URL: http://${name}/`,
      `Via: 1.1 ${name}`,
      `Origin: http://${name}`,
    ],
    ...[`Referer: http://${name}/`, `X-Forwarded-For: ${name}`, `True-Client-IP: ${name}`],
  ];
  return `${random.pick(fields)}\r\n${random.chance(0.3) ? `${random.pick(fields)}\r\n` : ''}`;
}

const DAY = '/api/v2/stock/bars/US:AAPL/1M/from/2025-03-03/to/2025-03-03';

type Sent = { readonly host: string; readonly isForeign: boolean; readonly bytes: string };

/**
 * A request with a host in its Host header, or in an absolute address, which replaces that header (RFC 9112,
 * 3.2.2).
 */
function makeRequest(random: Random, ours: readonly string[]): Sent {
  const isForeign = random.chance(0.5);
  const isAbsolute = random.chance(0.2);
  const absolute = isForeign ? `${MARK}.example:${random.below(70_000)}` : random.pick(ours);
  const sent = isForeign !== isAbsolute ? foreignName(random) : random.pick(ours);
  const format = random.pick(['json', 'csv']);
  const headers = `Host: ${sent}\r\n${!isForeign || random.chance(0.5) ? forwarded(random) : ''}`;
  const scheme = random.pick(['http', 'HTTP', 'https']);
  const origin = isAbsolute ? `${scheme}://${absolute}` : '';
  const target = `${origin}${DAY}?limit=1&format=${format}&secret_key=${key}`;
  return { host: isAbsolute ? absolute : sent, isForeign, bytes: `GET ${target} HTTP/1.1\r\n${headers}\r\n` };
}

const nextUrl = ({ headers, body }: RawAnswer): string =>
  /^<(.*)>/.exec(headers.get('link') ?? '')?.[1] ??
  (JSON.parse(body) as { result: { next_page_url: string } }).result.next_page_url;

/**
 * Asks with hostile names; `base` is the address that a good answer must begin its next page with, null for a
 * refusal.
 */
async function askAll(
  server: Server,
  ours: readonly string[],
  base: (sent: Sent) => string | null,
  count = FIRST,
): Promise<void> {
  const connection = new Connection(server.url);
  for (let index = 0; index < count; index++) {
    const sent = makeRequest(new Random(seed, index), ours);
    const [answer] = await Promise.all(connection.ask(sent.bytes, [true]));
    const what = `request ${index} of seed ${seed}: ${sent.bytes}`;
    const whole = `${JSON.stringify([...answer!.headers])}${answer!.body}`;
    assert.ok(!whole.toLowerCase().includes(MARK), `${what}${whole}`);
    const expected = base(sent);
    assert.equal(answer!.status, expected === null ? 400 : 200, what);
    if (expected !== null) assert.ok(nextUrl(answer!).startsWith(`${expected}/api/v2/`), what);
    else assert.match(answer!.body, /"error":"bad_request","param":"Host".*--allowed-hosts/, what);
  }
  await connection.close();
}

test('1,000 hostile Host and forwarded headers leave no foreign name in any answer (contract 4.3)', async () => {
  await askAll(plain, OURS, ({ host, isForeign }) => (isForeign ? null : `http://${host}`), ALL);
});

test('with --allowed-hosts a listed name counts, and nothing that is like it (contract 4.3)', async () => {
  const server = await shop.serve('--allowed-hosts', 'bars.example.com,data.example.com');
  const ours = [...OURS, 'bars.example.com', 'Data.Example.com:444'];
  await askAll(server, ours, ({ host, isForeign }) => (isForeign ? null : `http://${host}`));
  await server.stop();
});

test('with --public-url every answer has that base, whatever the headers say (contract 4.3)', async () => {
  const base = 'https://data.example.com/bourse';
  const server = await shop.serve('--public-url', base);
  await askAll(server, OURS, () => base);
  await server.stop();
});
