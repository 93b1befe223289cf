// `npm run bench`: the lines of the performance budget, measured on this machine (docs/performance.md).
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { type Flags, HELP, Misuse, readFlags } from './flags.ts';
import { groupsWithWrk } from './groups/index.ts';
import type { Result } from './line.ts';
import { hasWrk, WRK_MISSING } from './load.ts';
import { Setting } from './setting.ts';
import { type Picture, svgOf } from './svg/picture.ts';
import { describe, summary } from './table.ts';
import { tell, Workshop } from './workshop.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

const SHORT_NOTE =
  'Short form: one round over small stores. It shows that every group runs; targets are for the full form.';

function flagsOrExit(): Flags {
  try {
    const flags = readFlags(process.argv.slice(2));
    if (flags === null) {
      process.stdout.write(HELP);
      process.exit();
    }
    if (!hasWrk() && flags.groups.some((group) => groupsWithWrk.includes(group)))
      throw new Misuse(WRK_MISSING);
    return flags;
  } catch (error) {
    if (!(error instanceof Misuse)) throw error;
    tell(error.message);
    process.exit(EXIT_USAGE);
  }
}

function write(
  { json, svg, scale, isShort }: Flags,
  results: readonly Result[],
  pictures: readonly Picture[],
) {
  if (json !== undefined) {
    const processors = cpus();
    const machine = { cpu: processors[0]?.model ?? '', cores: processors.length, node: process.version };
    const written = { machine, isShort, scale, results, pictures };
    writeFileSync(json, `${JSON.stringify(written, null, 2)}\n`);
  }
  if (svg !== undefined) {
    mkdirSync(svg, { recursive: true });
    for (const picture of pictures) writeFileSync(join(svg, `${picture.file}.svg`), svgOf(picture));
  }
}

const flags = flagsOrExit();
const workshop = new Workshop(flags.keep);
process.once('exit', () => workshop.close());
const setting = new Setting(flags.scale, workshop);

const results: Result[] = [];
const pictures: Picture[] = [];
for (const group of flags.groups) {
  const startedMs = performance.now();
  const outcome = await group.run(setting);
  const failed = outcome.results.find((result) => result.outcome === 'failed');
  if (failed !== undefined) tell(`${group.name} failed: ${failed.reason}`);
  results.push(...outcome.results);
  pictures.push(...outcome.pictures);
  tell(`${group.name}: ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
}
process.stdout.write(`${describe(results)}\n${summary(results)}\n${flags.isShort ? `${SHORT_NOTE}\n` : ''}`);
write(flags, results, pictures);
const isFailure = (result: Result): boolean =>
  result.outcome === 'failed' || (flags.isStrict && result.outcome === 'missed');
if (results.some(isFailure)) process.exitCode = EXIT_FAILED;
