// `bourse copy --from STORE --to STORE`
import { Command } from 'commander';
import { DiskFull } from '../../base/space.ts';
import { storeAddress, withoutPassword } from '../../store/address.ts';
import { type CopyProgress, copyStore, type StoreCopy } from '../../store/copy.ts';
import { type Damage, damageWords } from '../../store/damage.ts';
import {
  hasControl,
  openControl,
  openCopyTarget,
  openStore,
  resolveStore,
  storeFacts,
} from '../../store/engines.ts';
import { storeLimits } from '../../store/limits.ts';
import { type RowStore, StoreDamaged, StoreUnavailable, type Tell, UnfitPlace } from '../../store/store.ts';
import { UsageProblem } from '../config.ts';
import { scrub } from '../serve/scrub.ts';
import { examples, jsonOption, withQuiet } from '../shared/flags.ts';
import { closing } from '../shared/opened-store.ts';
import { linesOf, note, print } from '../shared/output.ts';
import { Progress } from '../shared/progress.ts';
import { count, countOf } from '../shared/table.ts';

type Flags = { readonly from?: string; readonly to?: string; readonly json?: boolean };

/** The full address of one of both stores. @throws UsageProblem where it is not given */
function addressOf(flag: '--from' | '--to', text: string | undefined): string {
  if (text !== undefined) return resolveStore(storeAddress(text));
  throw new UsageProblem(`${flag} STORE is missing: sqlite:PATH or postgres://USER@HOST/DATABASE`);
}

/** Shows each part of the work in turn. */
class ShownProgress implements CopyProgress {
  #shown: Progress | null = null;

  begins(doing: string, rowsAbout: number | null): void {
    this.end();
    this.#shown = new Progress({ name: doing, bytes: null, rowsAbout });
  }

  reached(rows: number): void {
    this.#shown?.reached(rows);
  }

  end(): void {
    this.#shown?.end();
  }
}

/**
 * Refuses a store of which anything is damaged: a copy would be damaged too, and nothing could tell. @throws
 * StoreDamaged that names it
 */
async function requireSound(url: string, progress: ShownProgress, tell: Tell): Promise<void> {
  const named: Damage[] = [];
  let [steps, found] = [0, 0];
  progress.begins('reading the store', null);
  await scrub(
    url,
    (_, damage) => {
      named.push(...damage.slice(0, Math.max(0, storeLimits.copyDamageNamedMax - named.length)));
      found += damage.length;
      progress.reached(++steps);
    },
    tell,
  );
  if (found === 0) return;
  const more = found > named.length ? `; and ${count(found - named.length)} more` : '';
  throw new StoreDamaged(
    `${withoutPassword(url)} is damaged, and is not copied: ${named.map(damageWords).join('; ')}${more}; bourse doctor --deep says what to do`,
  );
}

/** Runs `work` on the keys of a store; null where it has none yet. */
const withControl = async <T>(url: string, work: (control: RowStore | null) => Promise<T>): Promise<T> =>
  (await hasControl(url)) ? closing(openControl(url, 'read'), work) : work(null);

/** Whether an error may pass, so that the same command can go on. */
const mayPass = (error: unknown): boolean => error instanceof StoreUnavailable || error instanceof DiskFull;

/** Copies a store; `tell` takes notes for a person. */
async function copy(from: string, to: string, progress: ShownProgress, tell: Tell): Promise<StoreCopy> {
  return closing(openStore(from, 'read'), async (source) => {
    const bytes = (await storeFacts(from)).parts.reduce((sum, part) => sum + Number(part.bytes), 0);
    return closing(openCopyTarget(to, bytes, tell), async (target) => {
      if (target.isBegun) tell(`an earlier copy into ${target.name} was cut off: it is completed`);
      try {
        await requireSound(from, progress, tell);
        return await withControl(from, (control) => copyStore(source, control, target, progress, Date.now));
      } catch (error) {
        if (mayPass(error)) tell('what was copied so far stays: the same command goes on');
        throw error;
      } finally {
        progress.end();
      }
    });
  });
}

function describe(from: string, to: string, made: StoreCopy): string {
  const { copiedVersion, sourceVersion, version, rows, series, bars, keys, contentHash } = made;
  const held = [
    countOf(rows, 'row'),
    `${countOf(bars, 'bar')} of ${count(series)} series`,
    countOf(keys, 'key'),
  ];
  return linesOf([
    `${to}: a verified copy of ${from}: ${held.join(', ')}, data version ${version}, content hash ${contentHash.slice(0, 16)}`,
    ...(copiedVersion === sourceVersion
      ? []
      : [
          `  ${from} was written to meanwhile: it has data version ${sourceVersion} now, and the copy is of ${copiedVersion}`,
        ]),
  ]);
}

const recordOf = (from: string, to: string, made: StoreCopy) => ({
  from,
  to,
  rows: made.rows,
  series: made.series,
  bars: made.bars,
  keys: made.keys,
  data_version: made.version,
  copied_data_version: made.copiedVersion,
  source_data_version: made.sourceVersion,
  content_hash: made.contentHash,
  resumed: made.resumed,
});

export function copyCommand(): Command {
  return withQuiet(new Command('copy'))
    .option('--from <store>', 'the store to copy: sqlite:PATH, a path, or postgres://USER@HOST/DATABASE')
    .option('--to <store>', 'where the copy goes: the address of a store that is not there yet')
    .addOption(jsonOption())
    .addHelpText(
      ...examples(
        'bourse copy --from sqlite:data/bourse.db --to postgres://bourse@db.example.com/bourse',
        'bourse copy --from postgres://bourse@db.example.com/bourse --to sqlite:/backup/bourse.db --json',
      ),
    )
    .action(async (flags: Flags) => {
      const [from, to] = [addressOf('--from', flags.from), addressOf('--to', flags.to)];
      if (from === to) throw new UnfitPlace(`--to is the store of --from: ${withoutPassword(to)}`);
      const made = await copy(from, to, new ShownProgress(), flags.json ? () => undefined : note);
      const names = [withoutPassword(from), withoutPassword(to)] as const;
      print(flags, recordOf(...names, made), describe(...names, made), 2);
    });
}
