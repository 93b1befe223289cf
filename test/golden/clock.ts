// The clock of a process of bourse and all its threads and children: loaded by `--import` in NODE_OPTIONS, it
// stands still at the moment that GOLDEN_CLOCK names.
import { setClock } from '../false-clock.ts';

setClock(() => Date.parse(process.env.GOLDEN_CLOCK!));
