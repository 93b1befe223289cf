// Commands whose time is the start of their process.
import { group } from '../group.ts';
import type { Line } from '../line.ts';
import { bourse, run } from '../process.ts';
import { oneRowImportsMs } from '../start-up.ts';
import { median } from '../statistics.ts';

type Measured = { readonly helpMs: readonly number[]; readonly importMs: readonly number[] };

const lines: readonly Line<Measured>[] = [
  {
    name: 'bourse --help',
    unit: 's',
    target: { atMost: 0.25 },
    measure: ({ helpMs }) => ({ measured: median(helpMs) / 1000 }),
  },
  {
    name: 'bourse import of one row',
    unit: 's',
    target: { atMost: 0.5 },
    measure: ({ importMs }) => ({ measured: median(importMs) / 1000 }),
  },
];

/** The lines of `commands`. */
export const commands = group('commands', 'one start', lines, async (setting): Promise<Measured> => {
  const { workshop, scale } = setting;
  const helpMs: number[] = [];
  // The first one may compile the sources.
  for (let start = 0; start <= scale.starts; start++) {
    const { wallMs } = await run(workshop.folder, bourse, ['--help']);
    if (start > 0) helpMs.push(wallMs);
  }
  return { helpMs, importMs: await oneRowImportsMs(setting, 'one store') };
});
