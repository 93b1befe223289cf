// Loaded before a server, in all of its threads: it keeps no blocks of a store in PostgreSQL, so that each
// request reads its own.
import { storeLimits } from '../src/store/limits.ts';

(storeLimits as { cachedBlockBytesMax: number }).cachedBlockBytesMax = 0;
