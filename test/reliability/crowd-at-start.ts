// Many callers at once, just after a service has begun.
import { bourse, startServer } from '../../bench/process.ts';
import type { Workshop } from '../service.ts';
import type { Outcome } from './arrivals.ts';
import { generate } from './load.ts';

/** Starts a service of its own, and callers who for so long ask again as soon as they are answered. */
export async function crowdAtStart(
  shop: Workshop,
  targets: readonly string[],
  callers: number,
  seconds: number,
): Promise<Outcome> {
  const server = await startServer(shop.folder, bourse, [
    ...['serve', '--store', shop.store, '--log-level', 'silent'],
  ]);
  try {
    const plan = { targets, keepAlive: true, connectionsFirst: 0, connectionsMax: callers };
    const phases = [{ name: 'start', seconds, load: { callers } }];
    return (await generate({ port: Number(new URL(server.url).port), ...plan, phases }))[0]!;
  } finally {
    await server.stop();
  }
}
