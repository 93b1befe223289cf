// The histories of layouts. Steps are only ever added, at the end (docs/decisions/0021).
import { controlsBefore, storesBefore } from './before-first.ts';
import { control0001 } from './control-0001.ts';
import type { History } from './history.ts';
import { store0001 } from './store-0001.ts';
import { store0002 } from './store-0002.ts';

/** The layouts of a store. */
export const storeHistory: History = { first: 14, steps: [store0001, store0002], before: storesBefore };

/** The layouts of a control file. */
export const controlHistory: History = { first: 7, steps: [control0001], before: controlsBefore };
