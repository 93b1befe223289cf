// The histories of the layouts of stores and control files, or of their tables in PostgreSQL. Steps are
// only ever added, at the end (docs/decisions/0021).
import { controlsBefore, storesBefore } from './before-first.ts';
import { control0001 } from './control-0001.ts';
import { control0002 } from './control-0002.ts';
import type { Step } from './step.ts';
import { store0001 } from './store-0001.ts';
import { store0002 } from './store-0002.ts';
import { store0003 } from './store-0003.ts';

/** The layouts of a store. */
export const storeHistory: History = {
  first: 14,
  steps: [store0001, store0002, store0003],
  before: storesBefore,
};

/** The layouts of a control file. */
export const controlHistory: History = {
  first: 7,
  steps: [control0001, control0002],
  before: controlsBefore,
};

/** Layouts by their numbers, which only ever grow. */
export type History = {
  /** The number of the first layout. Programs before it wrote lower ones. */
  readonly first: number;
  /** The first step makes the first layout, and each other one leads to the next. */
  readonly steps: readonly Step[];
  /** The lower layouts that are brought along, each with the steps to the first one. */
  readonly before: ReadonlyMap<number, readonly Step[]>;
};

/** The number of the newest layout. */
export const newestLayout = ({ first, steps }: History): number => first + steps.length - 1;

/** The steps from a layout that is not refused to the newest one; from 0, where nothing is made yet. */
export function stepsFrom({ first, steps, before }: History, layout: number): readonly Step[] {
  if (layout === 0) return steps;
  if (layout >= first) return steps.slice(layout - first + 1);
  return [...before.get(layout)!, ...steps.slice(1)];
}

/** Why what has a layout cannot be used, as the words after its name; null where it can. */
export function layoutRefusal(history: History, layout: number): string | null {
  const { first, before } = history;
  const newest = newestLayout(history);
  if (layout > newest) return `was written by a newer Bourse (layout ${layout}, this one knows ${newest})`;
  if (layout === 0 || layout >= first || before.has(layout)) return null;
  const oldest = Math.min(...before.keys());
  return `has layout ${layout}, which is too old for this Bourse: the program of commit 0a54d0a brings it to layout ${oldest}, which this one reads`;
}
