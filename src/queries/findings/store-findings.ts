// The findings of a whole store, instrument after instrument, in bounded memory; and those in the bars that
// some runs hold: what an import tells of itself, in bounded work.

import { decodeIds } from '../../base/ascending.ts';
import { DAY_MS } from '../../base/instant.ts';
import { Calendars, KeptValues } from '../../series/calendars.ts';
import { readStored } from '../../series/read-stored.ts';
import { rowsAmong } from '../../store/all-rows.ts';
import { type Damage, DamagedData } from '../../store/damage.ts';
import { runSpans, series as seriesDataset } from '../../store/schema/bars.ts';
import { always } from '../../store/schema/dataset.ts';
import { type Instrument, instruments } from '../../store/schema/reference.ts';
import { selectedRows } from '../../store/selected-rows.ts';
import type { Reader } from '../../store/store.ts';
import type { Finding } from './finding.ts';
import { findingsOf } from './instrument-findings.ts';
import { findingLimits } from './limits.ts';
import { MarketFacts } from './market-facts.ts';

/** The options of the check of a store. */
type CheckOptions = {
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
  const kept = new KeptValues();
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

/** The longest pause of a market between two sessions is shorter. */
const AROUND_MS = 7 * DAY_MS;

/** Checking some runs takes more than is done unasked. The message says what. */
class TooMuchToCheck extends Error {
  override readonly name = 'TooMuchToCheck';
}

/** The keys of the first and the last bar of some runs in a series, as far as these tell. */
type Span = { readonly fromMs: number; readonly toMs: number };

/** The series that some runs hold. */
async function heldSeries(reader: Reader, runIds: readonly number[]): Promise<ReadonlyMap<number, Span>> {
  const held = new Map<number, Span>();
  for (const run_id of runIds)
    for (const { series, first_ms, last_keys } of await reader.group(runSpans, { run_id }))
      for (const id of decodeIds(series)) {
        const known = held.get(id);
        const fromMs = first_ms ?? Number.NEGATIVE_INFINITY;
        const toMs = (last_keys as readonly number[]).at(-1) ?? Number.POSITIVE_INFINITY;
        held.set(id, {
          fromMs: Math.min(known?.fromMs ?? fromMs, fromMs),
          toMs: Math.max(known?.toMs ?? toMs, toMs),
        });
        if (held.size > findingLimits.unaskedSeriesMax)
          throw new TooMuchToCheck(`more than ${findingLimits.unaskedSeriesMax} series were imported`);
      }
  return held;
}

/** Orders instruments as a check of the whole store has them. */
const byName = (a: Instrument, b: Instrument): number => {
  const names = (['asset_schema', 'country_iso_code', 'symbol'] as const).map((column) => [
    a[column],
    b[column],
  ]);
  const [one, other] = names.find(([left, right]) => left !== right) ?? ['', ''];
  return one! < other! ? -1 : 1;
};

/**
 * The findings about the bars that some runs hold, and a week around them: those of the sessions next to them
 * are about them too.
 * @throws TooMuchToCheck
 */
export async function runFindings(
  reader: Reader,
  runIds: readonly number[],
  { nowMs, onDamage }: Pick<CheckOptions, 'nowMs' | 'onDamage'>,
): Promise<{ readonly instrument: Instrument; readonly finding: Finding }[]> {
  const held = await heldSeries(reader, runIds);
  const rows = await rowsAmong(reader, seriesDataset, {}, 'series_id', [...held.keys()]);
  const ids = [...new Set(rows.map(({ instrument_id }) => instrument_id))];
  const touched = await rowsAmong(reader, instruments, {}, 'instrument_id', ids);
  const spans = new Map(
    rows.map(({ instrument_id, interval, series_id }) => [
      `${instrument_id} ${interval}`,
      held.get(series_id)!,
    ]),
  );
  const isNear = ({ instrument_id }: Instrument, { kind, interval, fromMs, toMs }: Finding): boolean => {
    // About what has not been imported: the newest files may come next.
    if (kind === 'behind') return false;
    const span = spans.get(`${instrument_id} ${interval}`);
    return span !== undefined && toMs >= span.fromMs - AROUND_MS && fromMs <= span.toMs + AROUND_MS;
  };
  let bars = 0;
  const onBars = (count: number): void => {
    bars += count;
    if (bars > findingLimits.unaskedBarsMax)
      throw new TooMuchToCheck(
        `the imported series and others of their markets have more than ${findingLimits.unaskedBarsMax} bars`,
      );
  };
  const found: { readonly instrument: Instrument; readonly finding: Finding }[] = [];
  const options = { nowMs, onBars, onOthers: onBars, onDamage, isWanted: isNear };
  for await (const { instrument, findings } of storeFindings(reader, touched.sort(byName), options))
    for (const finding of findings) found.push({ instrument, finding });
  return found;
}
