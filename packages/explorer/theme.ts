// Light and dark: as the system has it, until a person chooses; and the colours that canvases take of it.

const THEME = 'bourse-theme';

/** Applies what was chosen before. */
export function restoreTheme(): void {
  const chosen = localStorage.getItem(THEME);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const known = new Map<string, string>();
const listeners = new Set<() => void>([() => known.clear()]);
const tell = (): void => {
  for (const listener of listeners) listener();
};
dark.addEventListener('change', tell);

/** Calls a listener whenever the colours have changed, until the function that it gives is called. */
export function onTheme(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Changes to the other theme, and keeps it. */
export function toggleTheme(): void {
  const system = dark.matches ? 'dark' : 'light';
  const isDark = (document.documentElement.dataset.theme ?? system) === 'dark';
  const next = isDark ? 'light' : 'dark';
  document.documentElement.dataset.theme = next;
  localStorage.setItem(THEME, next);
  tell();
}

/**
 * The colour that a variable of the style has now. Looking it up makes the browser lay out the page: it is
 * kept until the theme changes.
 */
export function solid(name: string): string {
  let color = known.get(name);
  if (color === undefined) {
    const probe = document.createElement('i');
    probe.style.color = `var(--${name})`;
    document.body.append(probe);
    color = getComputedStyle(probe).color;
    probe.remove();
    known.set(name, color);
  }
  return color;
}

/** The same colour, more or less transparent. */
export const faint = (name: string, opacity: number): string =>
  solid(name).replace(/rgba?\(([^,]+,[^,]+,[^,)]+).*/, `rgba($1, ${opacity})`);
