// Layout 3 of a control file: every row has a checksum over its key and its values.
import type { Step } from './step.ts';

export const control0003: Step = { checksRows: true };
