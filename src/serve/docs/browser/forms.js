// The forms of the reference: a request is put together, sent with the key in a header, and its answer shown.

const key = /** @type {HTMLInputElement} */ (document.querySelector('#key'));

/** The explorer keeps the key of the tab under the same name. */
const KEY = 'bourse-key';

/** The address of the service, with a slash at its end. */
const serviceUrl = new URL('../', document.baseURI).href;

/**
 * Writes requests as programs; the explorer has the same. The forms do not wait for it: a click before they
 * listen would send the page away.
 */
const requestText = /** @type {Promise<typeof import('../../../../packages/explorer/request-text.ts')>} */ (
  import(
    new URL(
      /** @type {HTMLElement} */ (document.querySelector('.reference')).dataset.requestText ?? '',
      document.baseURI,
    ).href
  )
);

/** Characters of an answer that are shown; a browser takes long over more. */
const SHOWN_CHARACTERS_MAX = 200_000;

/** A text for a path or a query; what needs no escape there stays readable. @param {string} text */
const encoded = (text) =>
  encodeURIComponent(text).replace(/%3A/g, ':').replace(/%2C/g, ',').replaceAll("'", '%27');

/** Every control of a form by name, with where its parameter stands. @param {HTMLFormElement} form */
const controlsOf = (form) =>
  [...form.elements].flatMap((element) => {
    const control = /** @type {HTMLInputElement | HTMLSelectElement} */ (element);
    const place = /** @type {HTMLElement | null} */ (control.closest('[data-in]'))?.dataset.in;
    return place === undefined ? [] : [{ place, name: control.name, value: control.value.trim() }];
  });

/** The address that a form asks for. @param {HTMLElement} section @param {HTMLFormElement} form */
function addressOf(section, form) {
  const controls = controlsOf(form);
  const path = (section.dataset.path ?? '').replace(/\{(\w+)\}/g, (_, name) =>
    encoded(controls.find((control) => control.name === name)?.value ?? ''),
  );
  const query = controls
    .filter(({ place, value }) => place === 'query' && value !== '')
    .map(({ name, value }) => `${name}=${encoded(value)}`);
  return new URL(`.${path}${query.length === 0 ? '' : `?${query.join('&')}`}`, serviceUrl);
}

/** JSON with line ends and indents; its numbers and texts stay as they came. @param {string} text */
function indented(text) {
  let depth = 0;
  const line = () => `\n${'  '.repeat(depth)}`;
  return text.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g, (token) => {
    if (token === '{' || token === '[') {
      depth++;
      return token + line();
    }
    if (token === '}' || token === ']') {
      depth--;
      return line() + token;
    }
    if (token === ',') return `,${line()}`;
    return token === ':' ? ': ' : token;
  });
}

/** The key of the next page. @param {Response} response @param {string} text @param {boolean} isJson */
function nextKeyOf(response, text, isJson) {
  if (!isJson) return response.headers.get('X-Next-Page-Key');
  return (
    /** @type {{ result?: { next_page_key?: string | null } | null }} */ (JSON.parse(text)).result
      ?.next_page_key ?? null
  );
}

/**
 * A control's text as a program has it: a number, true or false, or a text. @param {string} value @param
 * {string | undefined} type
 */
function typed(value, type) {
  if (type === 'boolean') return value === 'true';
  return type === 'number' || type === 'integer' ? Number(value) : value;
}

/**
 * Shows the programs that ask what a form asks. @param {HTMLElement} section @param {HTMLFormElement} form
 */
async function showPrograms(section, form) {
  const given = [...form.elements].flatMap((element) => {
    const control = /** @type {HTMLInputElement} */ (element);
    const row = /** @type {HTMLElement | null} */ (control.closest('[data-in]'));
    const value = control.value?.trim() ?? '';
    if (row === null || value === '' || value === row.dataset.default) return [];
    return [/** @type {const} */ ([control.name, typed(value, row.dataset.type)])];
  });
  const asked = {
    name: /** @type {import('../../../../packages/client/sent.ts').AnyName} */ (section.id),
    values: Object.fromEntries(given),
  };
  const service = serviceUrl.replace(/\/$/, '');
  const { typescriptOf, pythonOf } = await requestText;
  for (const [name, text] of /** @type {const} */ ([
    ['typescript', typescriptOf(service, asked)],
    ['python', pythonOf(service, asked)],
  ])) {
    const shown = /** @type {HTMLElement} */ (section.querySelector(`.${name}`));
    shown.textContent = text;
    /** @type {HTMLElement} */ (shown.parentElement).hidden = text === null;
  }
}

/**
 * Sends what a form asks for, and shows the answer. @param {HTMLElement} section @param {HTMLFormElement}
 * form
 */
async function send(section, form) {
  /** @param {string} selector */
  const part = (selector) => /** @type {HTMLElement} */ (section.querySelector(selector));
  const [status, body, next] = [part('.status'), part('.body'), part('.next')];
  const address = addressOf(section, form);
  part('.outcome').hidden = false;
  part('.curl').textContent = `curl -H 'Authorization: Bearer <API_KEY>' '${address}'`;
  void showPrograms(section, form);
  status.textContent = 'Waiting …';
  body.textContent = '';
  next.hidden = true;
  const began = performance.now();
  try {
    const headers = key.value === '' ? {} : { Authorization: `Bearer ${key.value}` };
    const response = await fetch(address, {
      headers,
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
    const text = await response.text();
    const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
    const size = `${text.length.toLocaleString('en')} characters`;
    status.textContent = `${response.status} ${response.statusText}, ${Math.round(performance.now() - began)} ms, ${size}`;
    const shown = isJson ? indented(text) : text;
    const isCut = shown.length > SHOWN_CHARACTERS_MAX;
    body.textContent = isCut ? `${shown.slice(0, SHOWN_CHARACTERS_MAX)}\n… (cut)` : shown;
    const nextKey = nextKeyOf(response, text, isJson);
    next.hidden = nextKey === null;
    next.dataset.key = nextKey ?? '';
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Ranges that must be given end at an instant, so that a first request finds something. @param
 * {HTMLFormElement} form @param {number} endMs
 */
function suggestRange(form, endMs) {
  const [from, to] = ['from_date', 'to_date'].map((name) => {
    const control = form.elements.namedItem(name);
    return control instanceof HTMLInputElement && control.required && control.dataset.changed === undefined
      ? control
      : null;
  });
  const day = (/** @type {number} */ ago) => new Date(endMs - ago * 86_400_000).toISOString().slice(0, 10);
  if (from) from.value = day(to ? 7 : 365);
  if (to) to.value = day(0);
}

/** The kinds of instruments, in the order in which the forms prefer them. */
const kinds = ['stock', 'crypto', 'forex', 'future', 'option'];

/**
 * Sets a control of every form that has it and that nobody has changed. @param {string} name @param {string}
 * value
 */
function fillIn(name, value) {
  for (const form of document.forms) {
    const control = form.elements.namedItem(name);
    if (control instanceof HTMLInputElement && control.required && control.dataset.changed === undefined)
      control.value = value;
    if (control instanceof HTMLSelectElement && name === 'schema_asset') control.value = value;
  }
}

/**
 * Once there is a key, the forms ask for something that is stored: its first series, and the week before its
 * last bar.
 */
async function fillInStored() {
  for (const kind of kinds) {
    const response = await fetch(new URL(`./api/v2/${kind}/coverage?limit=1`, serviceUrl), {
      headers: { Authorization: `Bearer ${key.value}` },
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    });
    if (!response.ok) return;
    const [series] = (await response.json()).result.data;
    if (series === undefined) continue;
    const lastMs = Date.parse(series.last_datetime);
    fillIn('schema_asset', kind);
    fillIn('country_symbol', `${series.country_iso_code}:${series.symbol}`);
    for (const form of document.forms) suggestRange(form, lastMs);
    return;
  }
}

/** Takes the key that the tab has: from the explorer, from before, or from the demo. */
function takeKey() {
  const ofDemo = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name=bourse-demo-key]'));
  const stored = sessionStorage.getItem(KEY) ?? ofDemo?.content ?? '';
  if (stored === key.value) return;
  key.value = stored;
  if (stored !== '') void fillInStored().catch(() => undefined);
}
// Also when the browser shows the page again that it has kept.
addEventListener('pageshow', takeKey);
key.addEventListener('input', () => {
  const given = key.value.trim();
  if (given === '') sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, given);
});
key.addEventListener('change', () => void fillInStored().catch(() => undefined));
key.form?.addEventListener('submit', (event) => event.preventDefault());
document.addEventListener('input', ({ target }) => {
  if (target instanceof HTMLInputElement) target.dataset.changed = '';
});

for (const form of document.forms) {
  if (form === key.form) continue;
  const section = /** @type {HTMLElement} */ (form.closest('section'));
  suggestRange(form, Date.now());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(section, form);
  });
  section.querySelector('.next')?.addEventListener('click', (event) => {
    const pageKey = /** @type {HTMLInputElement} */ (form.elements.namedItem('next_page_key'));
    pageKey.value = /** @type {HTMLElement} */ (event.currentTarget).dataset.key ?? '';
    void send(section, form);
  });
}
