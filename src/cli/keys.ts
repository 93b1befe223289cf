// `bourse keys create|list|revoke`
import { Command } from 'commander';
import { DAY_MS, formatInstant, parseInstant } from '../base/instant.ts';
import { isLive, issueKey, revokeKey } from '../keys/api-keys.ts';
import { type ApiKey, readKeys } from '../store/control.ts';
import { hasControl, isStoreMade, openControl, resolveStore } from '../store/engines.ts';
import { type Mode, noStoreAt, type RowStore, StoreUnusable } from '../store/store.ts';
import { readSettings, UsageProblem } from './config.ts';
import { jsonOption, positive, storeOption } from './options.ts';
import { formatTable, printable } from './table.ts';
import { tellDoing } from './waiting.ts';

type StoreFlags = { readonly store?: string };
type CreateFlags = StoreFlags & {
  readonly perMinute?: number;
  readonly perDay?: number;
  readonly expires?: string;
};

/** The address of the store, which is there: keys of a mistyped one would open nothing. @throws StoreUnusable */
function storeOf(flags: StoreFlags): string {
  const { store } = readSettings(flags.store === undefined ? {} : { store: flags.store });
  if (isStoreMade(store)) return store;
  throw new StoreUnusable(noStoreAt(resolveStore(store)));
}

async function withControl<T>(
  store: string,
  mode: Mode,
  work: (control: RowStore) => Promise<T>,
): Promise<T> {
  const control = await openControl(store, mode, tellDoing);
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}

/** The end of a key: a date is the end of that day (UTC). */
function expiryOf(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  const parsed = parseInstant(text);
  if (parsed === null)
    throw new UsageProblem(`--expires ${text}: must be a date such as 2027-12-31, or a date-time`);
  const ms = parsed.kind === 'date' ? (parsed.day + 1) * DAY_MS : parsed.ms;
  if (ms <= nowMs) throw new UsageProblem(`--expires ${text}: has passed already`);
  return ms;
}

function stateOf(key: ApiKey, nowMs: number): string {
  if (key.revoked_ms !== null) return 'revoked';
  return isLive(key, nowMs) ? 'live' : 'expired';
}

const instantText = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms));

function keyRecord(key: ApiKey, nowMs: number) {
  return {
    id: key.key_id,
    name: key.name,
    state: stateOf(key, nowMs),
    created: instantText(key.created_ms),
    expires: instantText(key.expires_ms),
    per_minute: key.per_minute,
    per_day: key.per_day,
    revoked: instantText(key.revoked_ms),
  };
}

const createCommand = (): Command =>
  new Command('create')
    .argument('<name>', 'whom the key is for')
    .description('Issue a key. It is printed once, alone on standard output, and kept only as a hash.')
    .addOption(storeOption())
    .option('--per-minute <count>', 'requests in a minute of the clock', positive)
    .option('--per-day <count>', 'requests in a day (UTC)', positive)
    .option('--expires <date>', 'the last day on which it holds (UTC), or the moment at which it ends')
    .addHelpText(
      'before',
      'Examples:\n  bourse keys create alice\n  bourse keys create bob --per-minute 60 --per-day 10000\n  KEY=$(bourse keys create nightly-job --expires 2099-12-31)\n',
    )
    .action(async (name: string, flags: CreateFlags) => {
      if (name.trim() === '')
        throw new UsageProblem('the name of a key says whom it is for: it must not be empty');
      const nowMs = Date.now();
      const terms = {
        expiresMs: expiryOf(flags.expires, nowMs),
        perMinute: flags.perMinute ?? null,
        perDay: flags.perDay ?? null,
      };
      const { secret, key } = await withControl(storeOf(flags), 'write', (control) =>
        issueKey(control, name, terms, nowMs),
      );
      process.stdout.write(`${secret}\n`);
      process.stderr.write(`key ${key.key_id} for ${printable(name)}: keep it, it is not shown again\n`);
    });

const listCommand = (): Command =>
  new Command('list')
    .description('List the keys: never the keys themselves.')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText('before', 'Examples:\n  bourse keys list\n  bourse keys list --json\n')
    .action(async (flags: StoreFlags & { readonly json?: boolean }) => {
      const nowMs = Date.now();
      const store = storeOf(flags);
      const keys = hasControl(store) ? await withControl(store, 'read', readKeys) : [];
      const records = keys.map((key) => keyRecord(key, nowMs));
      if (flags.json) {
        process.stdout.write(`${JSON.stringify(records, null, 2)}\n`);
        return;
      }
      const head = ['ID', 'NAME', 'STATE', 'CREATED', 'EXPIRES', 'PER MINUTE', 'PER DAY'];
      const rows = records.map((record) =>
        [
          record.id,
          record.name,
          record.state,
          record.created,
          record.expires,
          record.per_minute,
          record.per_day,
        ].map((cell) => String(cell ?? '-')),
      );
      process.stdout.write(formatTable([head, ...rows]));
    });

const revokeCommand = (): Command =>
  new Command('revoke')
    .argument('<id>', 'the id that keys list shows')
    .description('Revoke a key: within five seconds no worker takes it any more.')
    .addOption(storeOption())
    .addHelpText('before', 'Examples:\n  bourse keys revoke 5f3a9c\n')
    .action(async (id: string, flags: StoreFlags) => {
      const revoked = await withControl(storeOf(flags), 'write', (control) =>
        revokeKey(control, id, Date.now()),
      );
      if (revoked === null) throw new UsageProblem(`there is no key with the id ${id}: see bourse keys list`);
      process.stderr.write(`key ${id} for ${printable(revoked.name)} is revoked\n`);
    });

export function keysCommand(): Command {
  return new Command('keys')
    .addHelpText('before', 'Examples:\n  bourse keys create alice\n  bourse keys list\n')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());
}
