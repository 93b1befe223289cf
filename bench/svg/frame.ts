// The parts of every picture: its size, its colours on a light and on a dark page, its title, and numbers as
// text.

export const WIDTH = 720;

const style = `
.page { fill: #ffffff } .title { fill: #1c1d1f; font-weight: 600; font-size: 15px } text { fill: #1c1d1f; font: 13px system-ui, sans-serif }
.quiet { fill: #5b5f66 } .grid { stroke: #e3e5e8 } .axis { stroke: #8b9098 } .other { fill: #9aa1ab } .line { fill: none; stroke-width: 2 }
.fill-0 { fill: #1f6fd0 } .fill-1 { fill: #b8500f } .stroke-0 { stroke: #1f6fd0 } .stroke-1 { stroke: #b8500f }
@media (prefers-color-scheme: dark) {
.page { fill: #16181b } .title { fill: #eceef1 } text { fill: #eceef1 } .quiet { fill: #a4aab3 } .grid { stroke: #2b2f35 } .axis { stroke: #7b828c }
.other { fill: #666d77 } .fill-0 { fill: #5aa2f2 } .fill-1 { fill: #ee8a4a } .stroke-0 { stroke: #5aa2f2 } .stroke-1 { stroke: #ee8a4a }
}`;

/** A text without the characters that mean something in XML. */
export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** A coordinate: tenths of a pixel are enough. */
export const at = (value: number): string => String(Math.round(value * 10) / 10);

/** A text at a place. */
export const textAt = (
  x: number,
  y: number,
  text: string,
  { anchor = 'start', of = '' }: { readonly anchor?: 'start' | 'middle' | 'end'; readonly of?: string } = {},
): string =>
  `<text x="${at(x)}" y="${at(y)}" text-anchor="${anchor}"${of === '' ? '' : ` class="${of}"`}>${escaped(text)}</text>`;

/** The whole file. */
export const frame = (title: string, height: number, parts: readonly string[]): string =>
  `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    `<style>${style}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="6"/>`,
    textAt(16, 28, title, { of: 'title' }),
    ...parts,
    '</svg>',
  ].join('\n')}\n`;

/** A number that is short: 1.5, 40, 12k, 10M. */
export function short(value: number): string {
  for (const [size, letter] of [
    [1e6, 'M'],
    [1e3, 'k'],
  ] as const)
    if (Math.abs(value) >= size) return `${Number((value / size).toPrecision(3))}${letter}`;
  return String(Number(value.toPrecision(value < 100 ? 2 : 3)));
}
