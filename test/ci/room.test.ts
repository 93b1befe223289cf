// Room that imports ask for, in short: `npm run room` for more.
import { test } from 'node:test';
import { checkRoom } from '../reliability/room.ts';

test('what an import asks for is enough, and at most four times what it takes (contract 10)', async (t) => {
  for (const [what, value] of await checkRoom(20_000)) t.diagnostic(`${what}: ${value}`);
});
