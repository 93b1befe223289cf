// Loaded with `--import` before the program: finds the modules of Bourse itself. A server loads 600 in its
// threads, and Node.js asks the file system several times about each: a start would take a quarter more of
// the processor.
import { registerHooks } from 'node:module';

/** In a checkout `.ts`; in the package `.js`, as the files of other packages have it too. */
const ending = import.meta.url.slice(-3);
const format = ending === '.ts' ? 'module-typescript' : 'module';

const root = new URL('../..', import.meta.url).href;
const packages = `${root}node_modules/`;

/** The address of a module that one of ours imports by its relative path; null for any other import. */
export function ownModule(specifier: string, importerUrl = ''): string | null {
  const isOurs = importerUrl.startsWith(root) && !importerUrl.startsWith(packages);
  const isRelative = specifier.startsWith('./') || specifier.startsWith('../');
  return isOurs && isRelative && specifier.endsWith(ending) ? new URL(specifier, importerUrl).href : null;
}

registerHooks({
  resolve(specifier, context, next) {
    const url = ownModule(specifier, context.parentURL);
    return url === null ? next(specifier, context) : { url, format, shortCircuit: true };
  },
});
