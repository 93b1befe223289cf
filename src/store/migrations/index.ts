// The histories of the layouts of stores and control files, or of their tables in PostgreSQL. A new one is
// made from the declarations; steps bring older ones along, and are only ever added, at the end
// (docs/decisions/0021).
import { dataset } from '../schema/dataset.ts';
import { dataDatasets } from '../schema/index.ts';
import { controlDatasets } from '../schema/internal.ts';
import { controlsBefore, storesBefore } from './before-first.ts';
import type { Step, Table } from './step.ts';

/**
 * The day up to which the amounts of corporate actions contain later splits; a lost economic event is missed;
 * names of instruments are found without marks of their letters.
 */
const splitDays: Step = {
  columns: { corporate_actions: { split_adjusted_on: 'day null' } },
  refoldsTerms: true,
  groups: { economic_events: ['country_iso_code', 'event_code'] },
};

/** Quotes of option contracts. */
const quotes: Step = {
  tables: [
    dataset({
      name: 'option_quotes',
      columns: {
        country_iso_code: 'text',
        symbol: 'text',
        bid: 'real null',
        ask: 'real null',
        last: 'real null',
        volume: 'real null',
        open_interest: 'real null',
        implied_volatility: 'real null',
        delta: 'real null',
        gamma: 'real null',
        theta: 'real null',
        vega: 'real null',
        rho: 'real null',
        quote_datetime: 'instant null',
      },
      key: ['country_iso_code', 'symbol'],
    }),
  ],
};

/** Scopes of keys. */
const scopes: Step = { columns: { api_keys: { scope: 'text null' } } };

/** The layouts of a store. */
export const storeHistory: History = {
  tables: dataDatasets,
  first: 14,
  steps: [splitDays, quotes],
  before: storesBefore,
};

/** The layouts of a control file. */
export const controlHistory: History = {
  tables: controlDatasets,
  first: 7,
  steps: [scopes],
  before: controlsBefore,
};

/** Layouts by their numbers, which only ever grow. */
export type History = {
  /** The tables of the newest layout. */
  readonly tables: readonly Table[];
  /** The number of the first layout. Programs before it wrote lower ones. */
  readonly first: number;
  /** Each leads from a layout to the next, from the first one on. */
  readonly steps: readonly Step[];
  /** The lower layouts that are brought along, each with the steps to the first one. */
  readonly before: ReadonlyMap<number, readonly Step[]>;
};

/** The number of the newest layout. */
export const newestLayout = ({ first, steps }: History): number => first + steps.length;

/** The steps from a layout that is not refused to the newest one; from 0, where nothing is made yet. */
export function stepsFrom({ tables, first, steps, before }: History, layout: number): readonly Step[] {
  if (layout === 0) return [{ tables }];
  return layout >= first ? steps.slice(layout - first) : [...before.get(layout)!, ...steps];
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
