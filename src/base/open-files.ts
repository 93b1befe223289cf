// How many files and connections a process may have open.

type Limits = { readonly userLimits?: { readonly open_files: { readonly soft: number | 'unlimited' } } };

/** The bound of this process, infinite where there is none; null where the system does not tell. */
export function openFilesMax(): number | null {
  const soft = (process.report?.getReport() as Limits | undefined)?.userLimits?.open_files.soft;
  return soft === 'unlimited' ? Number.POSITIVE_INFINITY : (soft ?? null);
}
