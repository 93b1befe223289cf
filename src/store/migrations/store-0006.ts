// Layout 6 of a store: every row and every block has a checksum over its key and its values.
import type { Step } from './step.ts';

export const store0006: Step = { checksRows: true };
