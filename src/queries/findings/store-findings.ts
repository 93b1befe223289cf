// The findings of a whole store, instrument after instrument, in bounded memory.
import { DAY_MS } from '../../base/instant.ts';
import { Calendars, type Keep } from '../../series/calendars.ts';
import { readStored } from '../../series/read-stored.ts';
import { type Damage, DamagedData } from '../../store/damage.ts';
import { always } from '../../store/schema/dataset.ts';
import { type Instrument, instruments } from '../../store/schema/reference.ts';
import { selectedRows } from '../../store/selected-rows.ts';
import type { Reader } from '../../store/store.ts';
import type { Finding } from './finding.ts';
import { findingsOf } from './instrument-findings.ts';
import { findingLimits } from './limits.ts';
import { MarketFacts } from './market-facts.ts';

/** Keeps every value until `forget`. */
class Kept {
  readonly #values = new Map<string, Promise<unknown>>();

  readonly keep: Keep = <T>(name: string, make: () => Promise<T>): Promise<T> => {
    const known = this.#values.get(name) ?? make();
    this.#values.set(name, known);
    return known as Promise<T>;
  };

  forget(): void {
    this.#values.clear();
  }
}

/** The options of the check of a store. */
export type CheckOptions = {
  readonly nowMs: number;
  /** Is told how many bars of the instruments are about to be read. */
  readonly onBars: (count: number) => void;
  /** Is told what reading others of their markets takes, in bars. */
  readonly onOthers: (count: number) => void;
  /** Is told what is damaged: the findings of its instrument are left out. */
  readonly onDamage: (damage: Damage) => void;
  /**
   * Which findings of an instrument are asked for; all by default. One of a whole market comes where an
   * instrument has it that is asked for.
   */
  readonly isWanted?: (instrument: Instrument, finding: Finding) => boolean;
};

/** The instruments whose columns equal `where`, by asset type, country and symbol. */
export const instrumentsIn = (
  reader: Reader,
  where: Partial<Pick<Instrument, 'asset_schema' | 'country_iso_code' | 'symbol'>>,
): AsyncIterable<Instrument> =>
  selectedRows(reader, instruments, {
    where,
    along: [instruments.key],
    limit: findingLimits.instrumentsPerRead,
  });

/**
 * The findings of each of some instruments, which come by asset type and country. One that a whole market has
 * at once comes once, for the symbol `*`.
 */
export async function* storeFindings(
  reader: Reader,
  some: AsyncIterable<Instrument> | Iterable<Instrument>,
  { nowMs, onBars, onOthers, onDamage, isWanted = () => true }: CheckOptions,
): AsyncGenerator<{ readonly instrument: Instrument; readonly findings: readonly Finding[] }> {
  const kept = new Kept();
  const calendars = new Calendars();
  const facts = new MarketFacts({ reader, calendars, keep: kept.keep, onBars: onOthers, moment: always });
  const findingsIn = async (instrument: Instrument): Promise<readonly Finding[]> =>
    findingsOf({ reader, facts, nowMs, onBars }, await readStored(reader, calendars, instrument));
  let told = new Set<string>();
  /** Whether no instrument before has a finding of the market on the same day. */
  const isFirst = ({ kind, interval, fromMs }: Finding): boolean => {
    const name = `${kind} ${interval} ${Math.floor(fromMs / DAY_MS)}`;
    if (told.has(name)) return false;
    told.add(name);
    return true;
  };
  let market = '';
  for await (const instrument of some) {
    const { asset_schema, country_iso_code } = instrument;
    if (market !== `${asset_schema} ${country_iso_code}`) {
      kept.forget();
      told = new Set();
    }
    market = `${asset_schema} ${country_iso_code}`;
    const all = await findingsIn(instrument).catch((error: unknown) => {
      if (!(error instanceof DamagedData)) throw error;
      onDamage(error.damage);
      return [];
    });
    const findings = all.filter((finding) => isWanted(instrument, finding));
    const ofMarket = findings.filter((finding) => finding.isOfMarket && isFirst(finding));
    if (ofMarket.length > 0) yield { instrument: { ...instrument, symbol: '*' }, findings: ofMarket };
    yield { instrument, findings: findings.filter(({ isOfMarket }) => !isOfMarket) };
  }
}
