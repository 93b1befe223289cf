// Light and dark: as the system has it, until a person chooses; and the colours that canvases take of it.

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

const known = new Map<string, string>();
const forget = (): void => known.clear();
addEventListener(THEME, forget);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', forget);

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
