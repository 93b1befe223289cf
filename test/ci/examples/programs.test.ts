// The examples of the README and of the pages with programs are run, and what they show is compared.
import { tryPages } from '../../examples/shares.ts';

await tryPages('programs');
