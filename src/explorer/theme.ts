// Light and dark: as the system has it, until a person chooses.

const THEME = 'bourse-theme';

/** Applies what was chosen before. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(THEME);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

/** Changes to the other theme, and keeps it. Charts hear of it by the event `bourse-theme`. */
export function toggleTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const isDark = (document.documentElement.dataset.theme ?? system) === 'dark';
  const next = isDark ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem(THEME, next);
  dispatchEvent(new Event(THEME));
}
