// The program and what it runs on: the addresses of its modules, in its sources and in the built package,
// the order of versions, and how many files a process may have open.

/** The address of a module that a source calls `./x.ts`; in the built package it is `./x.js`. */
export const moduleBeside = (name: `./${string}.ts`, importerUrl: string): URL =>
  new URL(name.replace(/\.ts$/, importerUrl.slice(importerUrl.lastIndexOf('.'))), importerUrl);

/**
 * True if a version comes before another; both are numbers with dots between them. The platform's collation
 * would compare them too, but loading it takes 10 ms.
 */
export function isOlder(version: string, than: string): boolean {
  const [found, wanted] = [version, than].map((text) => text.split('.').map(Number));
  const at = wanted!.findIndex((part, index) => part !== (found![index] ?? 0));
  return at >= 0 && (found![at] ?? 0) < wanted![at]!;
}

type Limits = { readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } } };

/** The bound of this process, infinite where there is none; null where the system does not tell. */
export function openFilesMax(): number | null {
  const soft = (process.report?.getReport() as Limits | undefined)?.userLimits?.open_files.soft;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : (soft ?? null);
}
