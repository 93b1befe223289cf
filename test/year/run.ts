// `npm run year`: a year of a service, with all that happens in one. Ends with 1 at the first difference or
// where something grows.
import { seed } from '../seed.ts';
import { dateOf } from './calendar.ts';
import { figuresOf } from './figures.ts';
import { dayAt, sessions, type Turns } from './world.ts';
import { type Trouble, Year } from './year.ts';

const count = Number(process.env.YEAR_SESSIONS ?? sessions.length);

/** On which session of a month what happens. */
const troubles: Readonly<Record<number, Trouble>> = {
  3: 'undo',
  7: 'kill',
  11: 'full disk',
  15: 'cleaned folder',
};

const monthOf = (at: number): string => dateOf(dayAt(at)).slice(0, 7);
function troubleAt(at: number): Trouble | null {
  const first = sessions.findIndex((_, index) => monthOf(index) === monthOf(at));
  const trouble = troubles[at - first] ?? null;
  return trouble === process.env.YEAR_WITHOUT ? null : trouble;
}

const turnsIn = (all: number): Turns => {
  const at = (share: number): number => Math.round(share * all);
  return { delisted: at(0.2), renamed: at(0.38), split: at(0.5), recorded: at(0.56), reused: at(0.62) };
};

const startedMs = performance.now();
const year = new Year({
  ...{ seed, count, upgrade: 3, troubleAt, tell: (words) => process.stderr.write(`${words}\n`) },
  turns: turnsIn(count),
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    year.close();
    process.exit(130);
  });
await year.live();
for (const [what, number] of year.tally) console.log(`${what}: ${number}`);
const figures = figuresOf(year.mornings);
for (const [what, value] of figures) console.log(`${what}: ${value}`);
for (const [what, value, target] of figures) {
  if (target === undefined) continue;
  console.error(`missed: ${what}: ${value}; the target is ${target}`);
  process.exitCode = 1;
}
console.log(`${((performance.now() - startedMs) / 1_000).toFixed(0)} s, seed ${seed}`);
