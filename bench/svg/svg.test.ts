// Marks of axes, short numbers, and pictures that are well-formed.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { short } from './frame.ts';
import { type Picture, svgOf } from './picture.ts';
import { linear, linearMarks, logarithmic, logarithmicMarks } from './scales.ts';

test('a linear axis begins at 0, has round marks, and ends at or above the largest value', () => {
  assert.deepEqual(linearMarks(0.87), [0, 0.2, 0.4, 0.6, 0.8, 1]);
  assert.deepEqual(linearMarks(5), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(linearMarks(5_600), [0, 2_000, 4_000, 6_000]);
  assert.deepEqual(linearMarks(0), [0, 1]);
});

test('a logarithmic axis has marks of 1, 2 and 5 around all values', () => {
  assert.deepEqual(logarithmicMarks(0.3, 4), [0.2, 0.5, 1, 2, 5]);
  assert.deepEqual(logarithmicMarks(1, 100), [1, 2, 5, 10, 20, 50, 100]);
  assert.deepEqual(logarithmicMarks(7, 7), [5, 10]);
  assert.deepEqual(logarithmicMarks(20, 20), [20]);
});

test('scales map the ends to the ends, and one value alone to the middle', () => {
  assert.equal(linear(10, 100, 0)(10), 0);
  assert.equal(linear(10, 100, 0)(0), 100);
  assert.equal(Math.round(logarithmic(1, 100, 0, 50)(10)), 25);
  assert.equal(logarithmic(3, 3, 0, 50)(3), 25);
});

test('numbers are short', () => {
  assert.deepEqual([0.1234, 7, 42, 999, 1_500, 12_340, 10_000_000].map(short), [
    ...['0.12', '7', '42', '999', '1.5k', '12.3k', '10M'],
  ]);
});

const pictures: readonly Picture[] = [
  {
    kind: 'lines',
    file: 'lines',
    title: 'A <title> & more',
    x: { label: 'connections', values: [1, 8, 32] },
    y: { label: 'ms', isLogarithmic: true },
    series: [
      { label: 'p99', points: [1, 8, 32].map((x) => ({ x, y: x * 0.9 })) },
      { label: 'p50', points: [1, 8, 32].map((x) => ({ x, y: x * 0.8 })) },
    ],
  },
  {
    kind: 'bars',
    file: 'bars',
    title: 'Bars',
    bars: [
      { label: 'ours', value: 0.7, isOurs: true },
      { label: 'theirs', value: 0.0001, isOurs: false },
    ],
  },
];

/** The numbers of an attribute. */
const numbers = (svg: string, name: string): number[] =>
  [...svg.matchAll(new RegExp(` ${name}="([^"]+)"`, 'g'))].flatMap(([, text]) =>
    text!.split(/[ ,]/).map(Number),
  );

for (const picture of pictures) {
  test(`a picture of ${picture.kind} is complete: every element closed, every place inside, every text there`, () => {
    const svg = svgOf(picture);
    const open: string[] = [];
    for (const [, slash, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (slash !== '') assert.equal(open.pop(), name);
      else if (self === '') open.push(name!);
    }
    assert.deepEqual(open, []);
    const height = Number(/height="(\d+)"/.exec(svg)![1]);
    for (const y of numbers(svg, 'c?y')) assert.ok(y >= 0 && y <= height, `${y} of ${height}`);
    for (const x of numbers(svg, 'c?x')) assert.ok(x >= 0 && x <= 720, String(x));
    for (const value of numbers(svg, 'points')) assert.ok(Number.isFinite(value));
    const labels = picture.kind === 'lines' ? picture.series : picture.bars;
    for (const { label } of labels) assert.ok(svg.includes(`>${label}<`));
    assert.ok(svg.includes('prefers-color-scheme: dark'));
  });
}

test('a higher value is drawn higher, a larger one longer', () => {
  const [lines, bars] = pictures.map(svgOf) as [string, string];
  const heights = numbers(lines, 'cy');
  assert.ok(heights[0]! > heights[1]! && heights[1]! > heights[2]!);
  const widths = [...bars.matchAll(/<rect class="(?:fill-0|other)".* width="([\d.]+)"/g)].map(([, width]) =>
    Number(width),
  );
  assert.ok(widths[0]! > 100 * widths[1]!);
});

test('a point without a value is left out', () => {
  const picture = pictures[0] as Extract<Picture, { kind: 'lines' }>;
  const [line] = picture.series;
  const points = [...line!.points, { x: 4, y: 0 }, { x: 2, y: Number.NaN }];
  const svg = svgOf({
    ...picture,
    series: [
      { label: 'p50', points },
      { label: 'none', points: [] },
    ],
  });
  assert.equal(numbers(svg, 'cy').length, line!.points.length);
  assert.ok(!/NaN|Infinity/.test(svg));
  assert.ok(!/NaN|Infinity/.test(svgOf({ ...picture, series: [] })));
});
