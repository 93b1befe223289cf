// A group: lines that are measured together, in the same rounds, and the pictures of them.
import { failedResult, type Line, type Result, resultOf } from './line.ts';
import { endChildren } from './process.ts';
import type { Setting } from './setting.ts';
import type { Picture } from './svg/picture.ts';

/** What a group gives. */
export type Outcome = { readonly results: readonly Result[]; readonly pictures: readonly Picture[] };

/** A group, whatever it measures. */
export type Group = {
  readonly name: string;
  /** Its lines as they are declared. */
  readonly lines: readonly Omit<Line<never>, 'measure'>[];
  /** Measures all lines. What fails is in the results, not thrown. */
  run(setting: Setting): Promise<Outcome>;
};

/**
 * Makes a group of its warm-up, its lines, the function that measures for all of them, and its pictures.
 */
export function group<M>(
  name: string,
  warmUp: string,
  declared: readonly Line<M>[],
  measure: (setting: Setting) => Promise<M>,
  picturesOf: (measured: M) => readonly Picture[] = () => [],
): Group {
  const lines = declared.map((line) => ({ warmUp, ...line }));
  return {
    name,
    lines,
    async run(setting) {
      try {
        const measured = await measure(setting);
        const results = lines.map((line) => resultOf(name, line, measured));
        return { results, pictures: picturesOf(measured) };
      } catch (error) {
        const reason = (error as Error).stack ?? String(error);
        await endChildren();
        return { results: lines.map((line) => failedResult(name, line, reason)), pictures: [] };
      }
    },
  };
}
