// The text format of Prometheus, read strictly, as its documentation has it: for tests of what is written in
// it.
import assert from 'node:assert/strict';

/** One value with its labels. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

type Family = { readonly type: string; readonly samples: Sample[] };

/** Families of metrics by name. */
export type Exposition = ReadonlyMap<string, Family>;

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const NUMBER = /^(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|NaN|[+-]Inf)$/i;
const TYPES = ['counter', 'gauge', 'histogram', 'summary', 'untyped'];

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    const [, name, value] = LABEL.exec(text) ?? assert.fail(`labels: ${text}`);
    assert.ok(!Object.hasOwn(labels, name!), `${name} twice: ${text}`);
    labels[name!] = value!.replace(/\\(.)/g, (_, letter) => (letter === 'n' ? '\n' : letter));
  }
  return labels;
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = SAMPLE.exec(line) ?? assert.fail(`no sample: ${line}`);
  assert.match(value!, NUMBER, line);
  return { name: name!, labels: labelsOf(labels), value: Number(value!.replace(/Inf$/, 'Infinity')) };
}

/** Equal for equal labels. */
const keyOf = (labels: Sample['labels']): string =>
  JSON.stringify(
    Object.keys(labels)
      .toSorted()
      .map((name) => [name, labels[name]]),
  );

const suffixes: Readonly<Record<string, RegExp>> = { histogram: /_(bucket|sum|count)$/ };

/** Reads a text. @throws for whatever is not in the format */
export function readExposition(text: string): Exposition {
  assert.ok(text.endsWith('\n'), 'the last line ends');
  const families = new Map<string, Family>();
  const helped = new Set<string>();
  let name = '';
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, word, about, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (word === 'HELP') {
      assert.ok(!helped.has(about!), `help twice: ${line}`);
      helped.add(about!);
    } else if (word === 'TYPE') {
      assert.ok(TYPES.includes(rest!) && helped.has(about!) && !families.has(about!), line);
      name = about!;
      families.set(name, { type: rest!, samples: [] });
    } else {
      const sample = sampleOf(line);
      const { type, samples } = families.get(name) ?? assert.fail(`of no family: ${line}`);
      const base = type in suffixes ? sample.name.replace(suffixes[type]!, '') : sample.name;
      assert.equal(base, name, line);
      samples.push(sample);
    }
  }
  for (const [histogram, { type, samples }] of families) {
    const seen = samples.map((sample) => JSON.stringify([sample.name, keyOf(sample.labels)]));
    assert.equal(new Set(seen).size, seen.length, `${histogram} has a series twice`);
    if (type === 'histogram') checkHistogram(histogram, samples);
  }
  return families;
}

/**
 * Of each series of a histogram: buckets ascend and are cumulative, the last is `+Inf` and equals the count.
 */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const bySeries = Map.groupBy(samples, ({ labels }) => keyOf({ ...labels, le: '' }));
  for (const series of bySeries.values()) {
    const named = (suffix: string): Sample[] => series.filter((one) => one.name === `${name}${suffix}`);
    const buckets = named('_bucket');
    const bounds = buckets.map(({ labels }) => Number(labels.le!.replace('Inf', 'Infinity')));
    assert.deepEqual(
      bounds,
      bounds.toSorted((a, b) => a - b),
    );
    assert.equal(bounds.at(-1), Number.POSITIVE_INFINITY);
    const counts = buckets.map(({ value }) => value);
    assert.deepEqual(
      counts,
      counts.toSorted((a, b) => a - b),
      `${name} is cumulative`,
    );
    assert.deepEqual(
      named('_count').map(({ value }) => value),
      [counts.at(-1)],
    );
    assert.equal(named('_sum').length, 1);
  }
}

/** The sum of a metric's samples that have some labels. */
export function totalOf(
  families: Exposition,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number {
  const samples = [...families.values()].flatMap((family) => family.samples);
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);
}
