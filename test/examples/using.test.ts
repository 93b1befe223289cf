// The examples of the pages for users are run, and what they show is compared.
import { tryPages } from './shares.ts';

await tryPages('using');
