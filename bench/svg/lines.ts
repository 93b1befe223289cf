// Draws lines: x is logarithmic and marked at its values, y is linear from 0 or logarithmic, each line of
// several has its name at its end.
import { at, frame, short, textAt, WIDTH } from './frame.ts';
import type { LinesPicture } from './picture.ts';
import { type AxisScale, linear, linearMarks, logarithmic, logarithmicMarks } from './scales.ts';

const HEIGHT = 340;
const LEFT = 64;
const RIGHT = WIDTH - 96;
const TOP = 66;
const BOTTOM = HEIGHT - 52;
/** Names of lines are no closer than this. */
const NAME_GAP = 16;
/**
 * Numbers are above the points of the highest line and below those of the others; a logarithmic axis leaves
 * space for the lowest.
 */
const ABOVE = 9;
const BELOW = 20;

/** Lines and points that can be drawn: a subject without any answer has no place. */
const drawable = ({ series }: LinesPicture): LinesPicture['series'] =>
  series
    .map(({ label, points }) => ({ label, points: points.filter(({ y }) => Number.isFinite(y) && y > 0) }))
    .filter(({ points }) => points.length > 0);

type Axis = { readonly marks: readonly number[]; readonly place: AxisScale };

function yAxis({ y, series }: LinesPicture): Axis {
  const values = [
    ...series.flatMap(({ points }) => points.map((point) => point.y)),
    ...(series.length === 0 ? [1] : []),
  ];
  const marks = y.isLogarithmic
    ? logarithmicMarks(Math.min(...values), Math.max(...values))
    : linearMarks(Math.max(...values));
  const place = y.isLogarithmic
    ? logarithmic(marks[0]!, marks.at(-1)!, BOTTOM - BELOW, TOP)
    : linear(marks.at(-1)!, BOTTOM, TOP);
  return { marks, place };
}

/** The picture of lines. */
export function linesSvg(given: LinesPicture): string {
  const picture = { ...given, series: drawable(given) };
  const { title, x, y, series } = picture;
  const xPlace = logarithmic(Math.min(...x.values), Math.max(...x.values), LEFT + 16, RIGHT - 16);
  const { marks, place } = yAxis(picture);
  const parts = [
    textAt(16, 50, y.label, { of: 'quiet' }),
    ...marks.flatMap((mark) => [
      `<line class="grid" x1="${LEFT}" x2="${RIGHT}" y1="${at(place(mark))}" y2="${at(place(mark))}"/>`,
      textAt(LEFT - 8, place(mark) + 4, short(mark), { anchor: 'end', of: 'quiet' }),
    ]),
    `<line class="axis" x1="${LEFT}" x2="${RIGHT}" y1="${BOTTOM}" y2="${BOTTOM}"/>`,
    ...x.values.map((value) =>
      textAt(xPlace(value), BOTTOM + 20, short(value), { anchor: 'middle', of: 'quiet' }),
    ),
    textAt((LEFT + RIGHT) / 2, HEIGHT - 12, x.label, { anchor: 'middle', of: 'quiet' }),
  ];
  let lastNameY = Number.NEGATIVE_INFINITY;
  const byEnd = series
    .map((line, index) => ({ ...line, index, endY: place(line.points.at(-1)!.y) }))
    .toSorted((a, b) => a.endY - b.endY);
  for (const [order, { label, points, index, endY }] of byEnd.entries()) {
    const places = points.map((point) => ({ ...point, px: xPlace(point.x), py: place(point.y) }));
    const path = places.map(({ px, py }) => `${at(px)},${at(py)}`).join(' ');
    parts.push(`<polyline class="line stroke-${index}" points="${path}"/>`);
    for (const { px, py, y: value } of places) {
      parts.push(`<circle class="fill-${index}" cx="${at(px)}" cy="${at(py)}" r="4"/>`);
      parts.push(textAt(px, order === 0 ? py - ABOVE : py + BELOW, short(value), { anchor: 'middle' }));
    }
    // The axis names a line that is alone.
    if (series.length === 1) break;
    lastNameY = Math.max(endY, lastNameY + NAME_GAP);
    parts.push(textAt(RIGHT + 6, lastNameY + 4, label, { of: `fill-${index}` }));
  }
  return frame(title, HEIGHT, parts);
}
