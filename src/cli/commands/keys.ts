// `bourse keys create|list|move|revoke`
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { DAY_MS, formatDay, formatInstant, parseInstant, SECOND_MS } from '../../base/instant.ts';
import { scopes } from '../../contract/endpoint.ts';
import { limits } from '../../contract/limits.ts';
import { issueKey, keyRecord, moveKey, revokeKey } from '../../serve/keys/api-keys.ts';
import { type ApiKey, readKeys } from '../../store/control.ts';
import { engineAt, openControl } from '../../store/engines.ts';
import { noStoreAt, type RowStore, StoreUnusable, withoutPassword } from '../../store/store.ts';
import { readSettings, UsageProblem } from '../config.ts';
import { command, type FlagsOf, jsonFlag, quietFlag, storeFlag, wholeNumber } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import { formatTable, isQuiet, note, print, printable } from '../shared/output.ts';

type StoreFlags = FlagsOf<typeof storeFlag>;

/** The address of a store that exists: keys of a mistyped one would open nothing. @throws StoreUnusable */
async function storeOf(flags: StoreFlags): Promise<string> {
  const { store } = readSettings(flags);
  if (await engineAt(store).isMade()) return store;
  throw new StoreUnusable(noStoreAt(withoutPassword(engineAt(store).address)));
}

const changeKeys = async <T>(flags: StoreFlags, work: (control: RowStore) => Promise<T>): Promise<T> =>
  closing(openControl(await storeOf(flags), 'write', note), work);

/** The end of a key: a date is the end of that day (UTC). */
function expiryOf(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const parsed = parseInstant(text);
  if (parsed === null)
    throw new UsageProblem(`--expires ${text}: must be a date such as 2027-12-31, or a date-time`);
  const ms = parsed.kind === 'date' ? (parsed.day + 1) * DAY_MS : parsed.ms;
  if (ms <= nowMs) throw new UsageProblem(`--expires ${text}: is in the past`);
  return ms;
}

/** The instant that a key is pinned to; `where` it was written is for the message. @throws UsageProblem */
function momentOf(where: string, text: string, nowMs: number): number {
  const parsed = parseInstant(text);
  if (parsed?.kind !== 'time') {
    const form = parsed === null ? '2025-03-03T16:00:00Z' : `${formatDay(parsed.day)}T00:00:00Z`;
    throw new UsageProblem(`${where} ${text}: must be an instant with its time, such as ${form}`);
  }
  const ms = Math.floor(parsed.ms / SECOND_MS) * SECOND_MS;
  if (ms > nowMs) throw new UsageProblem(`${where} ${text}: is in the future`);
  return ms;
}

/** Says for a person what was done. */
const tell = (text: string): void => {
  if (!isQuiet()) process.stderr.write(text);
};

/** A whole number of an option, from 1. */
function positive(text: string): number {
  const number = wholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError('It must be at least 1.');
}

const createFlags = {
  ...quietFlag,
  ...storeFlag,
  '--scope <scope>': [
    'data: all data, also for assistants; operate: only the state of the service',
    scopes,
    'data',
  ],
  '--per-minute <count>': ['requests in a minute of the clock', positive],
  '--per-day <count>': ['requests in a day (UTC)', positive],
  '--expires <date>': 'the last day on which it is valid (UTC), or the instant at which it ends',
  '--as-of <instant>': 'every request with the key is answered as of this instant',
} as const;

const createCommand = (): Command =>
  command(
    'create',
    createFlags,
    'bourse keys create alice',
    'bourse keys create bob --per-minute 60 --per-day 10000',
    'KEY=$(bourse keys create nightly-job --expires 2099-12-31)',
    'KEY=$(bourse keys create backtest --as-of 2025-03-03T21:00:00Z)',
    'bourse keys create monitor --scope operate',
  )
    .argument('<name>', 'who uses the key')
    .description(
      'Issue a key. It is printed once on standard output, with nothing else, and stored only as a hash.',
    )
    .action(async (name: string, flags: FlagsOf<typeof createFlags>) => {
      if (name.trim() === '')
        throw new UsageProblem('the name of a key must not be empty: it says who uses the key');
      const nowMs = Date.now();
      const { scope = 'data', perMinute, perDay, expires, asOf } = flags;
      if (scope === 'operate' && asOf !== undefined)
        throw new UsageProblem(
          '--as-of needs the scope data: the state of a service is always the current one',
        );
      const limits = { scope, perMinute: perMinute ?? null, perDay: perDay ?? null };
      const asOfMs = asOf === undefined ? null : momentOf('--as-of', asOf, nowMs);
      const terms = { expiresMs: expiryOf(expires, nowMs), asOfMs, ...limits };
      const { secret, key } = await changeKeys(flags, (control) => issueKey(control, name, terms, nowMs));
      process.stdout.write(`${secret}\n`);
      tell(
        `Created key "${printable(name)}" (id ${key.key_id}). The line above is the secret; it is shown once\n`,
      );
    });

const listCommand = (): Command =>
  command('list', { ...storeFlag, ...jsonFlag }, 'bourse keys list', 'bourse keys list --json')
    .description('List the keys, without their secrets.')
    .action(async (flags: StoreFlags & { readonly json?: boolean }) => {
      const nowMs = Date.now();
      const store = await storeOf(flags);
      const keys = (await engineAt(store).hasControl())
        ? await closing(openControl(store, 'read', note), readKeys)
        : [];
      const records = keys.map((key) => keyRecord(key, nowMs));
      const head = 'ID,NAME,SCOPE,STATE,CREATED,LAST USED,EXPIRES,PER MINUTE,PER DAY,AS OF'.split(',');
      const rows = records.map((record) =>
        Object.values(record)
          .slice(0, head.length)
          .map((value) => String(value ?? '-')),
      );
      print(flags, records, formatTable([head, ...rows]), 2);
    });

const unknownKey = (id: string): UsageProblem =>
  new UsageProblem(`there is no key with the id ${id}: see bourse keys list`);

/**
 * Moves a pinned key, and waits until every worker answers as of its new instant. @throws UsageProblem where
 * it cannot be moved
 */
async function move(control: RowStore, id: string, asOfMs: number): Promise<ApiKey> {
  const moved = await moveKey(control, id, asOfMs);
  if (moved === null) throw unknownKey(id);
  if (moved.as_of_ms === null)
    throw new UsageProblem(
      `the key ${id} is not pinned to an instant, and its requests see everything: make another with bourse keys create NAME --as-of INSTANT`,
    );
  await sleep(limits.pinnedKeyRefreshMs);
  return moved;
}

/**
 * Moves a key to each instant of standard input, and answers each with itself on standard output once it
 * holds.
 */
async function moveAlong(control: RowStore, id: string): Promise<void> {
  let number = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    number++;
    if (line.trim() === '') continue;
    const asOfMs = momentOf(`line ${number} of standard input:`, line.trim(), Date.now());
    await move(control, id, asOfMs);
    process.stdout.write(`${formatInstant(asOfMs)}\n`);
  }
}

const moveFlags = {
  ...quietFlag,
  '--as-of <instant>': 'the instant',
  '--follow': 'read one instant per line from standard input, and print each again once every worker uses it',
  ...storeFlag,
} as const;

const moveCommand = (): Command =>
  command(
    'move',
    moveFlags,
    'bourse keys move 5f3a9c --as-of 2025-03-04T21:00:00Z',
    'echo 2025-03-05T21:00:00Z | bourse keys move 5f3a9c --follow',
  )
    .argument('<id>', 'the id that keys list shows')
    .description('Move a pinned key to another instant. The command ends once every worker uses it.')
    .action(async (id: string, { asOf, follow, ...flags }: FlagsOf<typeof moveFlags>) => {
      if ((asOf === undefined) === (follow === undefined))
        throw new UsageProblem(
          'name the instant: --as-of INSTANT, or --follow for instants from standard input',
        );
      if (asOf === undefined) return changeKeys(flags, (control) => moveAlong(control, id));
      const asOfMs = momentOf('--as-of', asOf, Date.now());
      const { name } = await changeKeys(flags, (control) => move(control, id, asOfMs));
      tell(`Moved key "${printable(name)}" (id ${id}) to ${formatInstant(asOfMs)}\n`);
    });

const revokeCommand = (): Command =>
  command('revoke', { ...quietFlag, ...storeFlag }, 'bourse keys revoke 5f3a9c')
    .argument('<id>', 'the id that keys list shows')
    .description('Revoke a key: within five seconds no worker accepts it any more.')
    .action(async (id: string, flags: StoreFlags) => {
      const revoked = await changeKeys(flags, (control) => revokeKey(control, id, Date.now()));
      if (revoked === null) throw unknownKey(id);
      tell(`Revoked key "${printable(revoked.name)}" (id ${id})\n`);
    });

export const keysCommand = (): Command =>
  command('keys', {}, 'bourse keys create alice', 'bourse keys list')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(moveCommand())
    .addCommand(revokeCommand());
