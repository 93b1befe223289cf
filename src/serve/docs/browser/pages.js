// Each page of the documentation loads this: the theme, the navigation on a phone, the search, and buttons
// that copy code.

const page = document.documentElement;

/** The folder of the documentation, relative to the page. */
const folder = page.dataset.root ?? '';

/** The explorer has it under the same name. */
const THEME = 'bourse-theme';

// At once, before the page is painted.
const chosen = localStorage.getItem(THEME);
if (chosen === 'light' || chosen === 'dark') page.dataset.theme = chosen;
page.classList.add('scripted');

function toggleTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (page.dataset.theme ?? system) === 'dark' ? 'light' : 'dark';
  page.dataset.theme = next;
  localStorage.setItem(THEME, next);
}

/** @param {string} selector */
const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

/**
 * @typedef {[heading: string, id: string, text: string]} Part
 * @typedef {[title: string, path: string, parts: Part[]]} Page
 * @typedef {{ score: number, title: string, href: string, heading: string, text: string }} Found
 */

/** @type {Promise<Page[]> | undefined} */
let index;

/** The texts of all pages. A script, because a page that is a file may not fetch others. */
function loadIndex() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${folder}search-index.js`;
    script.onload = () =>
      resolve(/** @type {{ searchIndex: Page[] }} */ (/** @type {unknown} */ (globalThis)).searchIndex);
    script.onerror = () => reject(new Error('The index of the pages is not there.'));
    document.head.append(script);
  });
  return index;
}

const FOUND_MAX = 12;

/** Characters before and behind a word that a result shows. */
const [BEFORE, BEHIND] = [40, 110];

/**
 * How well a text has a word: 0 not at all, 1 within another word, 2 at the beginning of one.
 * @param {string} text @param {string} word
 */
function match(text, word) {
  let best = 0;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return 2;
    best = 1;
  }
  return best;
}

/**
 * The parts of pages that have all words: those with them in titles and headings first.
 * @param {Page[]} pages @param {string[]} words
 */
function search(pages, words) {
  const home = find('header nav a[aria-current]').getAttribute('href') ?? '';
  /** @type {Found[]} */
  const found = [];
  for (const [title, path, parts] of pages) {
    const titleLower = title.toLowerCase();
    for (const [heading, id, text] of parts) {
      const [headingLower, textLower] = [heading.toLowerCase(), text.toLowerCase()];
      const scores = words.map(
        (word) => 4 * match(titleLower, word) + 6 * match(headingLower, word) + match(textLower, word),
      );
      if (scores.includes(0)) continue;
      // Decisions say why, which few people ask.
      const weight = path.startsWith('decisions/') ? 0.3 : 1;
      const address = path === 'index.html' ? home : folder + path;
      const href = id === '' ? address : `${address}#${id}`;
      found.push({ score: weight * scores.reduce((sum, one) => sum + one, 0), title, href, heading, text });
    }
  }
  return found.sort((one, other) => other.score - one.score).slice(0, FOUND_MAX);
}

/**
 * A text around the first of the words, with each of them marked.
 * @param {string} text @param {string[]} words
 */
function snippet(text, words) {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = Math.max(0, Math.min(...places, text.length) - BEFORE);
  const start = places.length === 0 || first === 0 ? 0 : text.indexOf(' ', first) + 1;
  const end = text.lastIndexOf(' ', start + BEFORE + BEHIND);
  const shown = text.slice(start, text.length - start > BEFORE + BEHIND && end > start ? end : undefined);
  const line = document.createElement('span');
  line.className = 'snippet';
  if (start > 0) line.append('… ');
  let done = 0;
  for (;;) {
    const rest = shown.toLowerCase();
    const next = words
      .map((word) => ({ word, at: rest.indexOf(word, done) }))
      .filter(({ at }) => at >= 0)
      .sort((one, other) => one.at - other.at || other.word.length - one.word.length)[0];
    if (next === undefined) break;
    const mark = document.createElement('mark');
    mark.textContent = shown.slice(next.at, next.at + next.word.length);
    line.append(shown.slice(done, next.at), mark);
    done = next.at + next.word.length;
  }
  line.append(shown.slice(done), start + shown.length < text.length ? ' …' : '');
  return line;
}

/** An element with a text. @param {string} name @param {string} text @param {string} [className] */
function element(name, text, className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = className;
  return made;
}

/** A result as a link. @param {Found} found @param {string[]} words */
function resultOf({ title, href, heading, text }, words) {
  const [item, link] = [document.createElement('li'), document.createElement('a')];
  link.href = href;
  link.append(element('b', heading));
  if (heading !== title) link.append(element('span', title, 'quiet'));
  link.append(snippet(text, words));
  item.append(link);
  return item;
}

function setUpSearch() {
  const box = find('.search');
  const field = /** @type {HTMLInputElement} */ (find('#search'));
  const [list, none] = [find('#found'), find('.search .none')];
  const close = () => {
    list.hidden = true;
    none.hidden = true;
  };
  const show = async () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) {
      close();
      return;
    }
    try {
      const pages = await loadIndex();
      // More may have been typed in between.
      if (words.join(' ') !== field.value.toLowerCase().split(/\s+/).filter(Boolean).join(' ')) return;
      const found = search(pages, words);
      list.replaceChildren(...found.map((one) => resultOf(one, words)));
      list.hidden = found.length === 0;
      none.hidden = found.length > 0;
      none.textContent = found.length > 0 ? '' : `Nothing is found for ${field.value.trim()}`;
    } catch (error) {
      none.hidden = false;
      none.textContent = /** @type {Error} */ (error).message;
    }
  };
  field.addEventListener('focus', () => void loadIndex().then(show, () => undefined), { once: true });
  field.addEventListener('input', () => void show());
  box.addEventListener('focusin', () => {
    if (list.childElementCount > 0 && field.value.trim() !== '' && document.activeElement === field)
      void show();
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) close();
  });
  // A result without a change of page: a part of this one.
  list.addEventListener('click', close);
  box.addEventListener('keydown', (event) => {
    const links = [...list.querySelectorAll('a')];
    const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
    if (event.key === 'Escape') {
      field.value = '';
      close();
      field.focus();
    } else if (list.hidden) return;
    else if (event.key === 'Enter' && at < 0) links[0]?.click();
    else if (event.key === 'ArrowDown') links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === 'ArrowUp') (links[at - 1] ?? field).focus();
    else return;
    event.preventDefault();
  });
  addEventListener('keydown', (event) => {
    const { tagName } = /** @type {Element} */ (event.target);
    if (event.key !== '/' || /^(?:INPUT|SELECT|TEXTAREA)$/.test(tagName)) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}

const COPIED_MS = 1_500;

/** The lines that a person wants of a block: of a terminal's what was typed. @param {HTMLElement} block */
function linesOf(block) {
  const text = block.textContent.replace(/\n$/, '');
  if (block.dataset.language !== 'console') return text;
  const typed = text.match(/^\$ .*(?:(?<=\\)\n.*)*/gm) ?? [];
  return typed.map((line) => line.slice(2)).join('\n');
}

/** @param {HTMLElement} block @param {HTMLElement} button */
async function copy(block, button) {
  try {
    await navigator.clipboard.writeText(linesOf(block));
    button.textContent = 'Copied';
  } catch {
    // Pages that came without HTTPS from another machine may not write the clipboard.
    getSelection()?.selectAllChildren(block);
    button.textContent = 'Selected: press Ctrl-C';
  }
  setTimeout(() => {
    button.textContent = 'Copy';
  }, COPIED_MS);
}

function setUpCopying() {
  for (const box of document.querySelectorAll('.code')) {
    const button = /** @type {HTMLButtonElement} */ (element('button', 'Copy', 'copy'));
    button.type = 'button';
    const block = /** @type {HTMLElement} */ (box.querySelector('pre'));
    button.addEventListener('click', () => void copy(block, button));
    box.append(button);
  }
}

/** What is wider than its place can be scrolled by keys. */
function setUpScrolling() {
  const wide = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('main pre, main .wide'));
  const look = () => {
    for (const one of wide)
      if (one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight) one.tabIndex = 0;
  };
  look();
  addEventListener('resize', look);
  // Of what was folded nothing was known.
  addEventListener('toggle', look, true);
}

function setUpNavigation() {
  const [pages, menu] = [find('#pages'), find('#menu')];
  const current = /** @type {HTMLElement | null} */ (pages.querySelector('[aria-current]'));
  if (current !== null) pages.scrollTop = current.offsetTop - pages.clientHeight / 3;
  const open = (/** @type {boolean} */ isOpen) => {
    pages.classList.toggle('open', isOpen);
    menu.setAttribute('aria-expanded', String(isOpen));
    // They stand above the text, which may have been scrolled away from.
    if (isOpen) scrollTo(0, 0);
  };
  menu.addEventListener('click', () => open(!pages.classList.contains('open')));
  pages.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement) open(false);
  });
  find('#theme').addEventListener('click', toggleTheme);
}

document.addEventListener('DOMContentLoaded', () => {
  setUpNavigation();
  setUpSearch();
  setUpCopying();
  setUpScrolling();
});
