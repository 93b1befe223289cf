// The examples of the pages for users are run, and what they show is compared.
import { tryPages } from '../../examples/shares.ts';

await tryPages('using');
