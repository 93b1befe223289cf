// A market's own time of instants, and its dates; the markets whose calendars are built in.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const twoDigits = (value: number): string => String(value).padStart(2, '0');

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `3 Mar 2025` of an instant as UTC has it. */
export function dateText(ms: number): string {
  const date = new Date(ms);
  return `${date.getUTCDate()} ${months[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** `Mon, 3 Mar 2025` of a date. */
export const dayText = (day: string): string => {
  const ms = Date.parse(day);
  return `${weekdays[new Date(ms).getUTCDay()]}, ${dateText(ms)}`;
};

/** The date of an instant, as UTC has it. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The date so many days after another one, before it where there are fewer than none. */
export const plusDays = (day: string, days: number): string => dayOf(Date.parse(day) + days * DAY_MS);

/**
 * A market's clock. Offsets are looked up once an hour of the day's market: they change on the hour or half
 * hour alone.
 */
export class MarketClock {
  /** The zone of the tz database. */
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #names: Intl.DateTimeFormat;
  /** By day of UTC: the offset of the whole day, null where it changes in it. */
  readonly #offsets = new Map<number, number | null>();

  /** @throws RangeError for a zone that the browser does not know */
  constructor(zone: string) {
    this.zone = zone;
    this.#names = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'short' });
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      ...({ year: 'numeric', month: 'numeric', day: 'numeric' } as const),
      ...({ hour: 'numeric', minute: 'numeric', second: 'numeric' } as const),
    });
  }

  #lookUp(ms: number): number {
    const part = Object.fromEntries(
      this.#format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]),
    );
    const local = Date.UTC(part.year!, part.month! - 1, part.day, part.hour, part.minute, part.second);
    return local - Math.floor(ms / 1_000) * 1_000;
  }

  /** Milliseconds that the market's clock is ahead of UTC. */
  offsetMs(ms: number): number {
    const day = Math.floor(ms / DAY_MS);
    let offset = this.#offsets.get(day);
    if (offset === undefined) {
      const first = this.#lookUp(day * DAY_MS);
      offset = first === this.#lookUp((day + 1) * DAY_MS) ? first : null;
      this.#offsets.set(day, offset);
    }
    return offset ?? this.#lookUp(ms);
  }

  /** The instant as if the market's clock showed UTC. */
  localMs(ms: number): number {
    return ms + this.offsetMs(ms);
  }

  /** The instant at which the market's clock shows a time of a date. */
  instantMs(day: string, hour: number): number {
    const shown = Date.parse(day) + hour * HOUR_MS;
    const guess = shown - this.offsetMs(shown);
    return shown - this.offsetMs(guess);
  }

  /** `09:30`. */
  time(ms: number): string {
    const local = new Date(this.localMs(ms));
    return `${twoDigits(local.getUTCHours())}:${twoDigits(local.getUTCMinutes())}`;
  }

  /** `3 Mar 2025 09:30`. */
  dateTime(ms: number): string {
    return `${dateText(this.localMs(ms))} ${this.time(ms)}`;
  }

  /** `EST`. */
  name(ms: number): string {
    return this.#names.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? this.zone;
  }
}

const clocks = new Map<string, MarketClock>();

/** The clock of a zone; UTC for one that the browser does not know. */
export function clockOf(zone: string): MarketClock {
  let clock = clocks.get(zone);
  if (clock === undefined) {
    try {
      clock = new MarketClock(zone);
    } catch {
      clock = clockOf('UTC');
    }
    clocks.set(zone, clock);
  }
  return clock;
}

type BuiltIn = { readonly zone: string; readonly eveningMs: number };

let builtIn: ReadonlyMap<string, BuiltIn> | null = null;

/**
 * The markets that the page brings, by name, such as `stock:US`: the zone, and the time before midnight of
 * their date at which sessions open.
 */
export function builtInMarkets(): ReadonlyMap<string, BuiltIn> {
  const told = document.querySelector<HTMLMetaElement>('meta[name=bourse-markets]')?.content ?? '';
  builtIn ??= new Map(
    told.split(' ').map((one) => {
      const [market = '', zone = '', hours = '0'] = one.split(/[=,]/);
      return [market, { zone, eveningMs: Number(hours) * HOUR_MS }];
    }),
  );
  return builtIn;
}

/** The clock of a market; UTC for one that is not built in. */
export const marketClock = (market: string): MarketClock =>
  clockOf(builtInMarkets().get(market)?.zone ?? 'UTC');
