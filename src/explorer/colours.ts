// The colours of the page's style, for canvases.

const known = new Map<string, string>();
const forget = (): void => known.clear();
addEventListener('bourse-theme', forget);
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
