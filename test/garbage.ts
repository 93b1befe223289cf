// The collection of garbage, for tests of what is kept.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Only for a moment: compiled code is kept for processes with the same flags.
setFlagsFromString('--expose-gc');
/** Frees what nothing keeps: a count without it depends on when the engine collects. */
export const collectGarbage = runInNewContext('gc') as () => void;
setFlagsFromString('--no-expose-gc');
