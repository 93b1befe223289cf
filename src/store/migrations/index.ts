// The history of layouts: step n leads from layout n - 1 to layout n. Steps are only ever added, at the end (docs/decisions/0021).
import { control0001 } from './control-0001.ts';
import { control0002 } from './control-0002.ts';
import { control0003 } from './control-0003.ts';
import { control0004 } from './control-0004.ts';
import { control0005 } from './control-0005.ts';
import { control0006 } from './control-0006.ts';
import type { Step } from './step.ts';
import { store0001 } from './store-0001.ts';
import { store0002 } from './store-0002.ts';
import { store0003 } from './store-0003.ts';
import { store0004 } from './store-0004.ts';
import { store0005 } from './store-0005.ts';
import { store0006 } from './store-0006.ts';
import { store0007 } from './store-0007.ts';
import { store0008 } from './store-0008.ts';
import { store0009 } from './store-0009.ts';
import { store0010 } from './store-0010.ts';
import { store0011 } from './store-0011.ts';
import { store0012 } from './store-0012.ts';
import { store0013 } from './store-0013.ts';

/** The steps of a store. */
export const storeSteps: readonly Step[] = [
  store0001,
  store0002,
  store0003,
  store0004,
  store0005,
  store0006,
  store0007,
  store0008,
  store0009,
  store0010,
  store0011,
  store0012,
  store0013,
];

/** The steps of a control file. */
export const controlSteps: readonly Step[] = [
  control0001,
  control0002,
  control0003,
  control0004,
  control0005,
  control0006,
];

/** The layout of stores of the first release. Columns that later steps add are hashed only where they are not null (`content.ts`). */
export const FIRST_RELEASE_LAYOUT = 2;
