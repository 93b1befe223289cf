// A picture of what was measured, as data; `svgOf` draws it.
import { barsSvg } from './bars.ts';
import { linesSvg } from './lines.ts';

/** Points of lines over a logarithmic x axis. */
export type LinesPicture = {
  readonly kind: 'lines';
  /** The name of its file, without `.svg`. */
  readonly file: string;
  readonly title: string;
  readonly x: { readonly label: string; readonly values: readonly number[] };
  readonly y: { readonly label: string; readonly isLogarithmic: boolean };
  readonly series: readonly {
    readonly label: string;
    readonly points: readonly { readonly x: number; readonly y: number }[];
  }[];
};

/** Horizontal bars, of which some are Bourse's own. */
export type BarsPicture = {
  readonly kind: 'bars';
  readonly file: string;
  readonly title: string;
  readonly bars: readonly { readonly label: string; readonly value: number; readonly isOurs: boolean }[];
};

export type Picture = LinesPicture | BarsPicture;

/** The picture as the text of an SVG file. */
export const svgOf = (picture: Picture): string =>
  picture.kind === 'lines' ? linesSvg(picture) : barsSvg(picture);
