// The examples of the pages for operators are run, and what they show is compared.
import { tryPages } from '../../examples/shares.ts';

await tryPages('operating');
