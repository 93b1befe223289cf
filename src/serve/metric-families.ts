// Metrics of one process, their sums over processes, and their text in the format of Prometheus.

/** How the values of several processes become one. */
const combine = {
  sum: (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0),
  max: (values: readonly number[]): number => Math.max(...values),
  min: (values: readonly number[]): number => Math.min(...values),
  mean: (values: readonly number[]): number => combine.sum(values) / values.length,
  first: ([value]: readonly number[]): number => value!,
};

type Facts = {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly over: keyof typeof combine;
};

/**
 * A metric at one moment, as plain data that can be sent to another process: its values by their series, a
 * name with labels in the text format.
 */
type Family = Facts & { readonly values: Readonly<Record<string, number>> };

/** The metrics of one process at one moment. */
export type Report = readonly Family[];

type Labels = Readonly<Record<string, string | number>>;

/** One value, or several with their labels. */
type Measured = number | readonly (readonly [labels: Labels, value: number])[];

const escaped = (text: string): string => text.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n');

function seriesOf(name: string, labels: Labels): string {
  const all = Object.entries(labels).map(([label, value]) => `${label}="${escaped(String(value))}"`);
  return all.length === 0 ? name : `${name}{${all.join()}}`;
}

/** Finds labels again by their values, which calls give in one order: making a series takes far longer. */
const keyOf = (labels: Labels): string => Object.values(labels).join('\n');

/** A metric that can be asked for its values. */
export type Metric = { read(): Promise<Family> };

/** A metric that is measured when it is asked. Values that are not finite are left out: JSON has none. */
export const measured = (
  type: 'counter' | 'gauge',
  name: string,
  help: string,
  measure: () => Measured | Promise<Measured>,
  over: keyof typeof combine = 'sum',
): Metric => ({
  async read() {
    const found = await measure();
    const all = typeof found === 'number' ? ([[{}, found]] as const) : found;
    const finite = all.filter(([, value]) => Number.isFinite(value));
    const values = Object.fromEntries(finite.map(([labels, value]) => [seriesOf(name, labels), value]));
    return { name, help, type, over, values };
  },
});

/** Counts by labels. */
export class Counter implements Metric {
  readonly #facts: Facts;
  readonly #counts = new Map<string, { readonly series: string; count: number }>();

  constructor(name: string, help: string) {
    this.#facts = { name, help, type: 'counter', over: 'sum' };
  }

  add(labels: Labels, count = 1): void {
    const key = keyOf(labels);
    const counted = this.#counts.get(key);
    if (counted === undefined) this.#counts.set(key, { series: seriesOf(this.#facts.name, labels), count });
    else counted.count += count;
  }

  async read(): Promise<Family> {
    const values = Object.fromEntries(
      Array.from(this.#counts.values(), ({ series, count }) => [series, count]),
    );
    return { ...this.#facts, values };
  }
}

type Observed = { readonly labels: Labels; readonly counts: number[]; sum: number };

/** Counts of values up to each of some bounds, by labels. */
export class Histogram implements Metric {
  readonly #facts: Facts;
  /** Ascending; the last is infinite. */
  readonly #bounds: readonly number[];
  readonly #observed = new Map<string, Observed>();

  /** `bounds` are ascending. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#facts = { name, help, type: 'histogram', over: 'sum' };
    this.#bounds = [...bounds, Number.POSITIVE_INFINITY];
  }

  observe(labels: Labels, value: number, times = 1): void {
    const key = keyOf(labels);
    let observed = this.#observed.get(key);
    if (observed === undefined) {
      observed = { labels, counts: this.#bounds.map(() => 0), sum: 0 };
      this.#observed.set(key, observed);
    }
    observed.counts[this.#bounds.findIndex((bound) => value <= bound)]! += times;
    observed.sum += value * times;
  }

  async read(): Promise<Family> {
    const { name } = this.#facts;
    const values: Record<string, number> = {};
    for (const { labels, counts, sum } of this.#observed.values()) {
      let count = 0;
      for (const [at, bound] of this.#bounds.entries()) {
        count += counts[at]!;
        const le = bound === Number.POSITIVE_INFINITY ? '+Inf' : bound;
        values[seriesOf(`${name}_bucket`, { ...labels, le })] = count;
      }
      values[seriesOf(`${name}_sum`, labels)] = sum;
      values[seriesOf(`${name}_count`, labels)] = count;
    }
    return { ...this.#facts, values };
  }
}

/** One report in place of several. */
function combined(reports: readonly Report[]): Report {
  const byName = Map.groupBy(reports.flat(), ({ name }) => name);
  return Array.from(byName.values(), (families) => {
    const bySeries = Map.groupBy(
      families.flatMap(({ values }) => Object.entries(values)),
      ([series]) => series,
    );
    const [{ over }] = families as [Family];
    const values = Array.from(bySeries, ([series, found]) => {
      return [series, combine[over](found.map(([, value]) => value))] as const;
    });
    return { ...families[0]!, values: Object.fromEntries(values) };
  });
}

/** One report in place of those of several ended processes: their counters, without gauges. */
export const totalsOf = (reports: readonly Report[]): Report =>
  combined(reports).filter(({ type }) => type !== 'gauge');

/** Several reports as one, in the text format of Prometheus. */
export const exposition = (reports: readonly Report[]): string =>
  combined(reports)
    .map(({ name, help, type, values }) => {
      const lines = Object.entries(values).map(([series, value]) => `${series} ${value}`);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
    })
    .join('\n');
