// Economic events: their identifiers and their rank (contract 8.7), and those that may have been moved.
import { hash } from 'node:crypto';
import { DAY_MS, dateOf, formatDay, formatInstantZ } from '../../base/instant.ts';
import { rowsInOrder, rowWith } from '../../store/all-rows.ts';
import type { RowOf, Values } from '../../store/schema/dataset.ts';
import { events, impacts, RANK_UNKNOWN } from '../../store/schema/economic.ts';
import type { RowReader } from '../../store/store.ts';
import type { Particulars } from './particulars.ts';
import type { RowProblem } from './refused-rows.ts';

type Event = RowOf<typeof events>;

function problemOf({ importance, impact }: Values): RowProblem | null {
  if (importance === undefined || impact === undefined) return null;
  if (impacts[(importance as number) - 1] === impact) return null;
  return { column: 'impact', reason: 'does not go with importance: 1 is low, 2 medium, 3 high' };
}

function rankOf({ importance, impact }: Values): number {
  if (importance !== undefined) return RANK_UNKNOWN - (importance as number);
  return impact === undefined ? RANK_UNKNOWN : RANK_UNKNOWN - 1 - impacts.indexOf(impact as string);
}

const dateOfMs = (ms: number): string => formatDay(Math.floor(ms / DAY_MS));
const yearOfMs = (ms: number): number => dateOf(Math.floor(ms / DAY_MS)).year;

const periodOf = ({ period, event_timestamp: ms }: Values): EventPeriod | null =>
  eventPeriod(period, ms as number);

/** An identifier that is made of an event. */
const idOf = ({ country_iso_code, event_code }: Values, ...parts: readonly unknown[]): string =>
  hash('sha256', JSON.stringify([country_iso_code, event_code, ...parts]));

const timeId = (event: Values): string => {
  const ms = event.event_timestamp as number;
  return idOf(event, null, yearOfMs(ms), ms);
};

/**
 * A new event gets the first that no other event has: earlier versions gave one to an event of another year.
 */
const periodIds = (event: Values, { label, year }: EventPeriod): readonly string[] => [
  idOf(event, label, year),
  idOf(event, label, year, null),
];

/**
 * The identifier of one of several releases of a period: `stamp` is its date, or its time where several are
 * on that date.
 */
const stampedId = (event: Values, { label, year }: EventPeriod, stamp: string | number): string =>
  idOf(event, label, year, stamp);

/** True if an identifier is that of a release at a time, by its date or its time. */
const isStamped = (event: Values, period: EventPeriod, id: string, ms: number): boolean =>
  id === stampedId(event, period, dateOfMs(ms)) || id === stampedId(event, period, ms);

/** True if the identifier of a stored event was made of it, by this version or an earlier one. */
function isMade(event: Event): boolean {
  const { source_id: id, period: label, event_timestamp: ms } = event;
  const period = periodOf(event);
  const isOwn =
    period === null
      ? id === timeId(event)
      : periodIds(event, period).includes(id) || isStamped(event, period, id, ms);
  if (isOwn) return true;
  // Earlier versions took any label for a period, of the year of the release; the event may have been moved
  // over New Year since.
  const year = yearOfMs(ms);
  return [year, year - 1, year + 1].some((one) => idOf(event, label, one) === id);
}

/** A stored event that one of the file may be. */
type Stored = Pick<Event, 'source_id' | 'event_timestamp' | 'period'>;

/**
 * The events of a file that differ in their time alone: of one country, code and period, or of those without
 * a period.
 */
type Releases = {
  readonly period: EventPeriod | null;
  /** The previous value of each, by its time. */
  readonly previous: Map<number, number | null>;
  /** The times of each date, once asked for. */
  onDate?: ReadonlyMap<string, readonly number[]>;
  /**
   * Those that are stored under identifiers that were made: at the times of the file, and of one period at
   * any time.
   */
  stored?: Map<number, Stored[]>;
};

function placeOf(event: Values): string {
  const { country_iso_code, event_code } = event as Event;
  return `${country_iso_code} ${event_code}`;
}

/** Country and code have no spaces. */
function nameOf(event: Values, period: EventPeriod | null): string {
  return period === null ? placeOf(event) : `${placeOf(event)} ${period.year} ${period.label}`;
}

/**
 * The part of an identifier that distinguishes a time from others of its period: its date, or the time if the
 * file has several on that date.
 */
function stampOf(releases: Releases, ms: number): string | number {
  const date = dateOfMs(ms);
  if (releases.previous.size === 1) return date;
  releases.onDate ??= Map.groupBy(releases.previous.keys(), dateOfMs);
  return (releases.onDate.get(date)?.length ?? 0) > 1 ? ms : date;
}

/** The range in which stored events of one country and code are looked up. */
type Span = {
  readonly country_iso_code: string;
  readonly event_code: string;
  from: number;
  to: number;
  hasPeriods: boolean;
};

/** So far from an event, one of the same period, or of another year under its identifier, may be stored. */
const LOOK_DAYS = 731;
const ROWS_PER_READ = 2_000;

/**
 * A stored event without a result may be an earlier time of one of the file that is at most so many days
 * away.
 */
const movedDays = { sameFigures: 27, unknownFigures: 6, otherFigures: 3 };

/** The rules for the events of one file. */
class EventsOfFile implements Particulars {
  readonly problemOf = problemOf;
  readonly #releases = new Map<string, Releases>();
  /** The identifiers of the stored events of codes with periods. */
  readonly #taken = new Set<string>();
  /** Stored events that the file may have at another time. */
  readonly #moved: { readonly row: Event; readonly newMs: number }[] = [];
  /** The first and last time in the file, of all its codes. */
  #fromMs = Number.POSITIVE_INFINITY;
  #toMs = Number.NEGATIVE_INFINITY;
  /** The start of the import. */
  #nowMs = Number.POSITIVE_INFINITY;

  /** Looks through a file, and through what is stored around its events. */
  static async of(rows: AsyncIterable<Values>, reader: RowReader): Promise<Particulars> {
    const file = new EventsOfFile();
    const spans = new Map<string, Span>();
    for await (const event of rows) {
      const { country_iso_code, event_code, event_timestamp: ms, source_id } = event as Event;
      file.#fromMs = Math.min(file.#fromMs, ms);
      file.#toMs = Math.max(file.#toMs, ms);
      if (source_id !== undefined) continue;
      const hasPeriod = file.#note(event);
      const place = placeOf(event);
      const span = spans.get(place) ?? { country_iso_code, event_code, from: ms, to: ms, hasPeriods: false };
      spans.set(place, span);
      const lookMs = (hasPeriod ? LOOK_DAYS : movedDays.sameFigures) * DAY_MS;
      span.from = Math.min(span.from, ms - lookMs);
      span.to = Math.max(span.to, ms + lookMs);
      span.hasPeriods ||= hasPeriod;
    }
    for (const span of spans.values()) await file.#readStored(span, reader);
    return file;
  }

  /** Notes an event of the file, and gives whether it has a period. */
  #note(event: Values): boolean {
    const period = periodOf(event);
    const name = nameOf(event, period);
    const releases = this.#releases.get(name) ?? { period, previous: new Map() };
    this.#releases.set(name, releases);
    const previous = (event.previous_value as number | undefined) ?? null;
    releases.previous.set(event.event_timestamp as number, previous);
    return period !== null;
  }

  /** Those of the file like an event. */
  #releasesOf(event: Values): Releases | undefined {
    return this.#releases.get(nameOf(event, periodOf(event)));
  }

  async #readStored({ from, to, hasPeriods, ...where }: Span, reader: RowReader): Promise<void> {
    const rows = rowsInOrder(reader, events, {
      where,
      range: { from, to },
      order: [
        ['event_timestamp', 'asc'],
        ['rank', 'asc'],
        ['source_id', 'asc'],
      ],
      limit: ROWS_PER_READ,
    });
    for await (const row of rows) {
      if (hasPeriods) this.#taken.add(row.source_id);
      const releases = this.#releasesOf(row);
      if (releases === undefined) continue;
      const { source_id, event_timestamp, period } = row;
      const newMs = movedTo(row, releases);
      const isKept = releases.period !== null || releases.previous.has(event_timestamp);
      if ((newMs === null && !isKept) || !isMade(row)) continue;
      if (newMs !== null) this.#moved.push({ row, newMs });
      if (!isKept) continue;
      releases.stored ??= new Map();
      const atOnce = releases.stored.get(event_timestamp) ?? [];
      atOnce.push({ source_id, event_timestamp, period });
      releases.stored.set(event_timestamp, atOnce);
    }
  }

  complete(event: Values): Values {
    return { ...event, source_id: event.source_id ?? this.#idOf(event), rank: rankOf(event) };
  }

  /** The identifier of the stored event that an event is; else a new one (contract 8.7). */
  #idOf(event: Values): string {
    const ms = event.event_timestamp as number;
    const releases = this.#releasesOf(event)!;
    const { period, previous, stored = new Map<number, Stored[]>() } = releases;
    const atOnce = stored.get(ms) ?? [];
    const same = atOnce.find((one) => one.period === (event.period ?? null)) ?? atOnce[0];
    if (same !== undefined) return same.source_id;
    if (period === null) return timeId(event);
    const isRepeated = previous.size > 1;
    const stamp = stampOf(releases, ms);
    const own = stampedId(event, period, stamp);
    if (this.#taken.has(own)) return own;
    const moved = [...stored.values()].flat().find(({ source_id, event_timestamp: at }) => {
      const mayMove = !isRepeated || stampOf(releases, at) === stamp;
      return mayMove && !isStamped(event, period, source_id, at);
    });
    if (moved !== undefined) return moved.source_id;
    return (isRepeated ? undefined : periodIds(event, period).find((id) => !this.#taken.has(id))) ?? own;
  }

  findingOf(event: Values, _reader: RowReader, startedMs: number): string | null {
    this.#nowMs = startedMs;
    const { period = null, previous } = this.#releasesOf(event) ?? {};
    return period !== null && previous!.size > 1
      ? 'events of one period at several times: each is identified by its date too'
      : null;
  }

  /**
   * Tells of stored events that may be earlier times of events of the file: without a period nothing says
   * that one was moved.
   */
  async findingsAfter(reader: RowReader): Promise<Readonly<Record<string, number>>> {
    let told: string | undefined;
    let count = 0;
    for (const { row, newMs } of this.#moved) {
      if (!this.#isDue(row) || !(await isStill(row, reader))) continue;
      count++;
      const times = `${formatInstantZ(row.event_timestamp)}, in this file at ${formatInstantZ(newMs)}`;
      const cure = `bourse delete economic-events --source-id ${row.source_id}`;
      told ??= `earlier times of events that may have moved stay stored, such as ${placeOf(row)} at ${times} (if it moved: ${cure})`;
    }
    return told === undefined ? {} : { [told]: count };
  }

  /**
   * True if the file would have an event that did not move: within the file's time or a day of it, or in the
   * future. Other weeks have files of their own.
   */
  #isDue({ event_timestamp: ms }: Event): boolean {
    return (this.#fromMs - DAY_MS <= ms && ms <= this.#toMs + DAY_MS) || ms > this.#nowMs;
  }
}

/** The time in the file that a stored event may have been moved to: the nearest; null where there is none. */
function movedTo(stored: Event, { period, previous }: Releases): number | null {
  const { event_timestamp: at, previous_value: figure } = stored;
  if (stored.actual_value !== null || previous.has(at)) return null;
  const { sameFigures, unknownFigures, otherFigures } = movedDays;
  let [nearest, nearestMs]: [number | null, number] = [null, Number.POSITIVE_INFINITY];
  for (const [ms, other] of previous) {
    const isKnown = figure !== null && other !== null;
    const days = isKnown ? (figure === other ? sameFigures : otherFigures) : unknownFigures;
    const farMs = Math.abs(ms - at);
    if (farMs < nearestMs && (period !== null || farMs <= days * DAY_MS)) [nearest, nearestMs] = [ms, farMs];
  }
  return nearest;
}

/** True if an event is still stored at its time. */
async function isStill({ source_id, event_timestamp: ms }: Event, reader: RowReader): Promise<boolean> {
  return (await rowWith(reader, events, { source_id }))?.event_timestamp === ms;
}

/** The rules for economic events. */
export const economicEvents: Particulars = { problemOf, ofFile: (...about) => EventsOfFile.of(...about) };

/**
 * The period that an event is about: its label, such as `Dec`, `Q3` or `2024`, and its year (contract 8.7).
 */
type EventPeriod = { readonly label: string; readonly year: number };

/** A year anywhere in a label, alone or before a month and a day: `2024`, `Dec 2023`, `2024Q3`, `202412`. */
const YEAR = /(?<!\d)(19\d\d|2[01]\d\d|2200)(?:\d\d){0,2}(?!\d)/;

const months = [
  ...['january', 'february', 'march', 'april', 'may', 'june', 'july'],
  ...['august', 'september', 'october', 'november', 'december'],
];

/** The first month of a month, quarter or half, 1 to 12; null for any other label. */
function firstMonth(label: string): number | null {
  const text = label.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const [, quarter = '', half = ''] =
    /^(?:q([1-4])|h([12]))$/.exec(text.replace(/^(\d)([qh])$/, '$2$1')) ?? [];
  if (quarter !== '') return 3 * Number(quarter) - 2;
  if (half !== '') return 6 * Number(half) - 5;
  const month = text.length < 3 ? -1 : months.findIndex((name) => name.startsWith(text));
  return month < 0 ? null : month + 1;
}

/** A period begins at most so long after its release. */
const AHEAD_DAYS = 45;

/**
 * The period of an event that is released at an instant; null where the label does not tell it. A label
 * without a year is of the year in which it begins nearest to the release: the last one that has begun or
 * begins soon.
 */
export function eventPeriod(label: unknown, releaseMs: number): EventPeriod | null {
  if (typeof label !== 'string') return null;
  const named = YEAR.exec(label)?.[1];
  if (named !== undefined) return { label, year: Number(named) };
  const first = firstMonth(label);
  if (first === null) return null;
  const { year, month } = dateOf(Math.floor(releaseMs / DAY_MS) + AHEAD_DAYS);
  return { label, year: month >= first ? year : year - 1 };
}
