// The documentation page: HTML made from the contract, with a form for every endpoint (contract 9.3).
import { readFileSync } from 'node:fs';
import type { Endpoint } from '../../contract/endpoint.ts';
import { errors } from '../../contract/errors.ts';
import { allEndpoints } from '../../contract/index.ts';
import type { Parameter } from '../../contract/parameter.ts';
import { tagOf } from '../cache/etag.ts';
import { requestTextPath } from '../explorer/explorer-page.ts';
import { csvExample } from '../openapi/responses.ts';
import { answerOf, type PlainSchema, plainSchema, recordExample } from '../openapi/schema.ts';

/** HTML that needs no more escaping. */
class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function embed(value: unknown): string {
  if (Array.isArray(value)) return value.map(embed).join('');
  return value instanceof Html ? value.text : String(value).replace(/[&<>"']/g, (sign) => escapes[sign]!);
}

/** HTML with every value escaped that is not HTML itself. */
const html = (parts: TemplateStringsArray, ...values: readonly unknown[]): Html =>
  new Html(parts.map((part, index) => part + (index < values.length ? embed(values[index]) : '')).join(''));

const nothing = html``;

/** Text in which `words` between backquotes are code. */
const prose = (text: string): Html[] =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));

/** The values that a schema allows, in words. */
function typeText({ enum: words, type, format, items, ...bounds }: PlainSchema): string {
  if (words !== undefined) return words.join(' | ');
  if (items !== undefined) return `array of ${typeText(items)}`;
  const { minimum, maximum, minLength, maxLength } = bounds;
  const range = minimum === undefined ? '' : `, ${minimum} to ${maximum ?? '…'}`;
  const length = minLength === undefined || minLength !== maxLength ? '' : `, ${minLength} characters`;
  const name = typeof type === 'object' ? type.join(' or ') : (type ?? 'any');
  return `${name}${format === undefined ? '' : ` (${format})`}${range}${length}`;
}

/** The default as a caller would send it. */
const defaultOf = (parameter: Parameter): string | undefined =>
  parameter.default === undefined ? undefined : parameter.print(parameter.default);

function choice(name: string, words: readonly string[], parameter: Parameter): Html {
  const chosen = defaultOf(parameter);
  const none = parameter.required || chosen !== undefined ? nothing : html`<option value=""></option>`;
  return html`<select name="${name}" aria-label="${name}">${none}${words.map((word) => html`<option${word === chosen ? html` selected` : nothing}>${word}</option>`)}</select>`;
}

/** The control of one parameter. */
function control(name: string, parameter: Parameter): Html {
  const schema = plainSchema(parameter.schema);
  if (schema.enum !== undefined) return choice(name, schema.enum.map(String), parameter);
  if (schema.type === 'boolean') return choice(name, ['false', 'true'], parameter);
  const value = parameter.required ? parameter.example : '';
  const hint = defaultOf(parameter) ?? parameter.example;
  const need = parameter.required ? html` required` : nothing;
  return html`<input name="${name}" aria-label="${name}" value="${value}" placeholder="${hint}"${need} spellcheck="false" autocomplete="off">`;
}

function parameterRow([name, parameter]: [string, Parameter]): Html {
  const fallback = defaultOf(parameter);
  const marks = [
    ...(parameter.required ? ['required'] : []),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ...(parameter.extension ? ['extension'] : []),
  ];
  return html`<tr data-in="${parameter.in}" data-type="${plainSchema(parameter.schema).type ?? 'string'}" data-default="${fallback ?? ''}"><th scope="row">${name}<small>${marks.join(', ')}</small></th>
<td>${control(name, parameter)}</td><td>${prose(parameter.description)}<small>${typeText(plainSchema(parameter.schema))}</small></td></tr>`;
}

function fieldRow([name, schema]: [string, PlainSchema]): Html {
  return html`<tr><th scope="row">${name}</th><td>${typeText(schema)}</td><td>${prose(schema.description ?? '')}</td></tr>`;
}

function fieldsTable({ record }: Endpoint): Html {
  const { properties } = plainSchema(record);
  if (properties === undefined) return nothing;
  return html`<details><summary>Fields of the record</summary><table class="fields"><tbody>${Object.entries(properties).map(fieldRow)}</tbody></table></details>`;
}

function section([name, endpoint]: [string, Endpoint]): Html {
  const example = endpoint.isStreamed
    ? csvExample(recordExample(endpoint))
    : JSON.stringify(answerOf(endpoint).example, null, 2);
  const mark = endpoint.extension ? html` <mark>extension</mark>` : nothing;
  return html`<section id="${name}" data-path="${endpoint.path}">
<h3>${endpoint.summary}${mark}</h3>
<p class="path"><b>GET</b> <code>${endpoint.path}</code></p>
<form>
<table class="parameters"><tbody>${Object.entries<Parameter>(endpoint.parameters).map(parameterRow)}</tbody></table>
<p><button>Send</button> <button type="button" class="next" hidden>Next page</button></p>
</form>
<div class="outcome" hidden><pre class="curl"></pre><details class="program" hidden><summary>TypeScript</summary><pre class="typescript"></pre></details><details class="program" hidden><summary>Python</summary><pre class="python"></pre></details><p class="status" role="status"></p><pre class="body" tabindex="0"></pre></div>
<details><summary>An answer</summary><pre>${example}</pre></details>
${fieldsTable(endpoint)}
</section>`;
}

const errorRow = ([word, { status, meaning }]: [string, { status: number; meaning: string }]): Html =>
  html`<tr><th scope="row"><code>${word}</code></th><td>${status}</td><td>${meaning}</td></tr>`;

function wholePage(version: string): Html {
  const endpoints: readonly [string, Endpoint][] = Object.entries(allEndpoints);
  // Bars are what most people come for.
  const isBars = ([tag]: readonly [string, unknown]): number => Number(tag === 'bars');
  const areas = [...Map.groupBy(endpoints, ([, { tag }]) => tag)].sort(
    (one, other) => isBars(other) - isBars(one),
  );
  const links = areas.map(
    ([tag, members]) =>
      html`<h2>${tag}</h2><ul>${members.map(([name, { summary }]) => html`<li><a href="#${name}">${summary}</a></li>`)}</ul>`,
  );
  return html`<!doctype html>
<html lang="en" data-request-text="${requestTextPath}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Bourse: the endpoints</title>
<link rel="stylesheet" href="docs/page.css">
<link rel="icon" href="explorer/icon.svg">
<script type="module" src="docs/forms.js"></script>
</head>
<body>
<header><h1>Bourse <small>${version}</small></h1>
<label>Key <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="secret key"></label>
<p>The key stays in this tab: it is sent to this service alone, in a header, and kept nowhere. <a href="openapi.json">openapi.json</a></p></header>
<nav aria-label="Endpoints">${links}<h2>all</h2><ul><li><a href="#errors">Errors</a></li></ul></nav>
<main>${areas.map(([tag, members]) => html`<h2>${tag}</h2>${members.map(section)}`)}
<section id="errors"><h2>Errors</h2>
<p>Every error is JSON, with the HTTP status repeated in <code>code</code> and one of these words in <code>detail.error</code>.</p>
<table class="fields"><tbody>${Object.entries(errors).map(errorRow)}</tbody></table></section>
</main>
</body>
</html>
`;
}

/**
 * The page loads from this service only and sends to this service only: a key that is typed there cannot
 * leave it.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

function contentOf(type: string, text: string, policy: Record<string, string> = {}) {
  const body = [Buffer.from(text)];
  const headers = { 'Cache-Control': 'no-cache', 'Content-Type': `${type}; charset=utf-8`, ...policy };
  return { headers: { ...headers, ETag: tagOf(body) }, body, isLasting: true };
}

/** The page itself. */
export const docsPage = (version: string) =>
  contentOf('text/html', wholePage(version).text, { 'Content-Security-Policy': POLICY });

const asset = (name: string, type: string) => ({
  path: `/docs/${name}`,
  content: contentOf(type, readFileSync(new URL(`browser/${name}`, import.meta.url), 'utf8')),
});

/** The files that the page loads, by path. */
export const docsAssets = [asset('page.css', 'text/css'), asset('forms.js', 'text/javascript')];
