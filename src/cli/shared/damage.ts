// Damaged parts of a store that a command has passed over: each named on standard error, and the exit status
// 1 (contract 10).
import { type Damage, damageWords } from '../../store/damage.ts';
import { complain } from './output.ts';
import { EXIT_PARTLY } from './problem.ts';

/** A damaged part as `--json` prints it. */
export const damageRecord = ({ dataset, place, problem }: Damage) => ({ dataset, place, problem });

/** Names what a command has left out. */
export function noteDamage(found: readonly Damage[], what: string): void {
  if (found.length === 0) return;
  for (const damage of found) complain(`damaged, ${what}: ${damageWords(damage)}`);
  process.exitCode ||= EXIT_PARTLY;
}
