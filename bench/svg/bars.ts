// Draws horizontal bars from 0 on, each with its name before it and its number behind it; Bourse's own have a
// colour.
import { at, frame, short, textAt, WIDTH } from './frame.ts';
import type { BarsPicture } from './picture.ts';
import { linear } from './scales.ts';

const LEFT = 290;
const RIGHT = WIDTH - 64;
const TOP = 48;
const ROW = 30;
const BAR = 18;

/** The picture of bars. */
export function barsSvg({ title, bars }: BarsPicture): string {
  const place = linear(Math.max(...bars.map(({ value }) => value)), LEFT, RIGHT);
  const parts = bars.flatMap(({ label, value, isOurs }, index) => {
    const y = TOP + index * ROW;
    const width = Math.max(1, place(value) - LEFT);
    const middle = y + BAR / 2 + 4.5;
    return [
      textAt(LEFT - 10, middle, label, { anchor: 'end' }),
      `<rect class="${isOurs ? 'fill-0' : 'other'}" x="${LEFT}" y="${y}" width="${at(width)}" height="${BAR}" rx="2"/>`,
      textAt(LEFT + width + 8, middle, short(value), { of: 'quiet' }),
    ];
  });
  return frame(title, TOP + bars.length * ROW + 12, parts);
}
