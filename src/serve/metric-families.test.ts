// The text of metrics, read as Prometheus documents it, of one process and of several.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Exposition, readExposition } from '../../test/exposition.ts';
import { Counter, exposition, Histogram, type Metric, measured, type Report } from './metric-families.ts';
import { processMetrics } from './process-metrics.ts';

const reportOf = (...metrics: readonly Metric[]): Promise<Report> =>
  Promise.all(metrics.map((metric) => metric.read()));

const read = (...reports: readonly Report[]): Exposition => readExposition(exposition(reports));

const samplesOf = (found: Exposition, name: string): [labels: object, value: number][] =>
  found.get(name)!.samples.map(({ labels, value }) => [labels, value]);

test('labels with quotes, backslashes and lines come back as they were', async () => {
  const odd = 'a "b" \\ c\nd';
  const counter = new Counter('odd_total', 'Odd.');
  counter.add({ odd }, 2);
  counter.add({ odd });
  counter.add({ odd: 'plain' });
  assert.deepEqual(samplesOf(read(await reportOf(counter)), 'odd_total'), [
    [{ odd }, 3],
    [{ odd: 'plain' }, 1],
  ]);
});

test('a histogram counts the values up to each bound, the bound included', async () => {
  const histogram = new Histogram('time_seconds', 'Time.', [0.1, 1]);
  for (const seconds of [0.05, 0.1, 0.5, 7]) histogram.observe({ route: '/' }, seconds);
  histogram.observe({ route: '/' }, 0.2, 3);
  const { samples } = read(await reportOf(histogram)).get('time_seconds')!;
  assert.deepEqual(
    samples.map(({ name, labels, value }) => [name, labels.le, value]),
    [
      ['time_seconds_bucket', '0.1', 2],
      ['time_seconds_bucket', '1', 6],
      ['time_seconds_bucket', '+Inf', 7],
      ['time_seconds_sum', undefined, 0.05 + 0.1 + 0.5 + 7 + 0.2 * 3],
      ['time_seconds_count', undefined, 7],
    ],
  );
});

test('of several processes each metric is combined by its rule, and series of one alone stay', async () => {
  const processOf = async (value: number): Promise<Report> => {
    const counter = new Counter('all_total', 'All.');
    counter.add({ of: 'both' }, value);
    counter.add({ of: String(value) });
    const rules = ['sum', 'max', 'min', 'mean', 'first'] as const;
    const gauges = rules.map((rule) => measured('gauge', rule, 'By a rule.', () => value, rule));
    return JSON.parse(JSON.stringify(await reportOf(counter, ...gauges)));
  };
  const found = read(await processOf(2), await processOf(6), await processOf(1));
  const firstOf = (name: string): number => samplesOf(found, name)[0]![1];
  assert.deepEqual(['sum', 'max', 'min', 'first'].map(firstOf), [9, 6, 1, 2]);
  assert.equal(samplesOf(read(await processOf(2), await processOf(6)), 'mean')[0]![1], 4);
  assert.deepEqual(samplesOf(found, 'all_total'), [
    [{ of: 'both' }, 9],
    [{ of: '2' }, 1],
    [{ of: '6' }, 1],
    [{ of: '1' }, 1],
  ]);
});

test('a process tells its processor time, memory, files, event loop and heap', async () => {
  const found = read(await reportOf(...processMetrics()));
  const firstOf = (name: string): number => found.get(name)!.samples[0]!.value;
  assert.ok(firstOf('process_cpu_seconds_total') > 0);
  assert.ok(firstOf('process_resident_memory_bytes') > 1e7);
  assert.ok(Math.abs(firstOf('process_start_time_seconds') - Date.now() / 1_000 + process.uptime()) < 5);
  assert.ok(firstOf('nodejs_eventloop_lag_seconds') >= 0);
  assert.equal(found.get('nodejs_version_info')!.samples[0]!.labels.version, process.version);
  const used = samplesOf(found, 'nodejs_heap_space_size_used_bytes').reduce(
    (sum, [, bytes]) => sum + bytes,
    0,
  );
  assert.ok(used > 1e6 && used < 2 * process.memoryUsage().heapTotal);
  if (process.platform === 'linux') {
    assert.ok(firstOf('process_virtual_memory_bytes') > firstOf('process_resident_memory_bytes'));
    assert.ok(firstOf('process_open_fds') < firstOf('process_max_fds'));
  }
});
