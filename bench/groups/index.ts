// The only list of groups, in the order in which they are measured.
import type { Group } from '../group.ts';
import { bars } from './bars.ts';
import { bulk } from './bulk.ts';
import { calendar } from './calendar.ts';
import { cliffs } from './cliffs.ts';
import { commands } from './commands.ts';
import { commits } from './commits.ts';
import { connections } from './connections.ts';
import { disk } from './disk.ts';
import { files } from './files.ts';
import { growth } from './growth.ts';
import { imports } from './imports.ts';
import { listImports } from './list-imports.ts';
import { lists } from './lists.ts';
import { memory } from './memory.ts';
import { postgres } from './postgres.ts';
import { serve } from './serve.ts';
import { workers } from './workers.ts';

/** Every group. The calendar is first: one of its lines needs code that has not run yet. */
export const groups: readonly Group[] = [
  calendar,
  serve,
  connections,
  memory,
  workers,
  commits,
  bars,
  bulk,
  cliffs,
  growth,
  lists,
  imports,
  listImports,
  files,
  commands,
  disk,
  postgres,
];

/** Groups that load a server with wrk. */
export const groupsWithWrk: readonly Group[] = [serve, connections, memory, workers, bars, lists, postgres];
