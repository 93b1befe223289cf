// Rounds of several subjects, interleaved: each round measures every subject once, so a disturbance meets all
// of them.
import { tell } from './workshop.ts';

/** What is measured, by its name. */
export type Subjects<K extends string, T> = Readonly<Record<K, (round: number) => Promise<T>>>;

/** Measures each subject once a round; the results of each, in the order of rounds. */
export async function interleave<K extends string, T>(
  title: string,
  rounds: number,
  subjects: Subjects<K, T>,
  note: (measured: T) => string,
): Promise<Readonly<Record<K, readonly T[]>>> {
  const names = Object.keys(subjects) as K[];
  const measured = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<K, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const one = await subjects[name](round);
      measured[name].push(one);
      tell(`${title} ${round + 1}/${rounds}, ${name}: ${note(one)}`);
    }
  }
  return measured;
}
