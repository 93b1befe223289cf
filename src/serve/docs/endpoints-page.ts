// The reference of the endpoints: HTML made from the contract, with a form for every endpoint (contract 9.3).
import type { Endpoint, Parameter } from '../../contract/endpoint.ts';
import { errors } from '../../contract/errors.ts';
import { allEndpoints } from '../../contract/index.ts';
import { requestTextPath } from '../explorer/explorer-page.ts';
import { answerOf, csvExample, type PlainSchema, plainSchema, recordExample } from '../openapi/document.ts';
import { type FramedPage, type Html, html, type Link, nothing } from './page-frame.ts';

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

/** A code block, for which the page has a button that copies it. */
const code = (text: string): Html => html`<div class="code"><pre>${text}</pre></div>`;

function parameterRow([name, parameter]: [string, Parameter], hasForms: boolean): Html {
  const fallback = defaultOf(parameter);
  const type = plainSchema(parameter.schema).type ?? 'string';
  const marks = [
    ...(parameter.required ? ['required'] : []),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ...(parameter.extension ? ['extension'] : []),
  ];
  const facts = html` data-in="${parameter.in}" data-type="${type}" data-default="${fallback ?? ''}"`;
  const cell = html`<td>${control(name, parameter)}</td>`;
  return html`<tr${hasForms ? facts : nothing}><th scope="row">${name}<small>${marks.join(', ')}</small></th>
${hasForms ? cell : nothing}<td>${prose(parameter.description)}<small>${typeText(plainSchema(parameter.schema))}</small></td></tr>`;
}

function fieldRow([name, schema]: [string, PlainSchema]): Html {
  return html`<tr><th scope="row">${name}</th><td>${typeText(schema)}</td><td>${prose(schema.description ?? '')}</td></tr>`;
}

function fieldsTable({ record }: Endpoint): Html {
  const { properties } = plainSchema(record);
  if (properties === undefined) return nothing;
  return html`<details><summary>Fields of the record</summary><table class="fields"><tbody>${Object.entries(properties).map(fieldRow)}</tbody></table></details>`;
}

function parametersOf({ parameters }: Endpoint, hasForms: boolean): Html {
  const rows = Object.entries<Parameter>(parameters).map((row) => parameterRow(row, hasForms));
  if (!hasForms) return html`<table><tbody>${rows}</tbody></table>`;
  return html`<form>
<table class="parameters"><tbody>${rows}</tbody></table>
<p><button class="main">Send</button> <button type="button" class="next" hidden>Next page</button></p>
</form>
<div class="outcome" hidden><div class="code"><pre class="curl"></pre></div><details class="program" hidden><summary>TypeScript</summary><div class="code"><pre class="typescript"></pre></div></details><details class="program" hidden><summary>Python</summary><div class="code"><pre class="python"></pre></div></details><p class="status" role="status"></p><div class="code"><pre class="body" tabindex="0"></pre></div></div>`;
}

function section([name, endpoint]: [string, Endpoint], hasForms: boolean): Html {
  const example = endpoint.isStreamed
    ? csvExample(recordExample(endpoint))
    : JSON.stringify(answerOf(endpoint).example, null, 2);
  const mark = endpoint.extension ? html` <mark>extension</mark>` : nothing;
  return html`<section id="${name}" data-path="${endpoint.path}">
<h3>${endpoint.summary}${mark}</h3>
<p class="path"><b>GET</b> <code>${endpoint.path}</code></p>
${parametersOf(endpoint, hasForms)}
<details><summary>Example response</summary>${code(example)}</details>
${fieldsTable(endpoint)}
</section>`;
}

const errorRow = ([word, { status, meaning }]: [string, { status: number; meaning: string }]): Html =>
  html`<tr><th scope="row"><code>${word}</code></th><td>${status}</td><td>${meaning}</td></tr>`;

const endpoints: readonly [string, Endpoint][] = Object.entries(allEndpoints);

// Bars are what most people come for.
const isBars = ([tag]: readonly [string, unknown]): number => Number(tag === 'bars');
const areas = [...Map.groupBy(endpoints, ([, { tag }]) => tag)].sort(
  (one, other) => isBars(other) - isBars(one),
);

/** The path of the reference, below the documentation. */
export const REFERENCE = 'endpoints.html';

/** Its parts that the search finds: heading, id and text. */
export const referenceTexts: readonly (readonly [heading: string, id: string, text: string])[] = [
  ...endpoints.map(([name, { summary, path, parameters }]) => {
    const words = Object.entries<Parameter>(parameters).map(([key, one]) => `${key}: ${one.description}`);
    return [summary, name, [path, ...words].join(' ')] as const;
  }),
  [
    'Errors',
    'errors',
    Object.entries(errors)
      .flatMap(([word, { meaning }]) => [word, meaning])
      .join(' '),
  ],
];

const keyField = html`<form class="key"><label for="key">Key</label> <input id="key" type="password" autocomplete="off" spellcheck="false" placeholder="secret key">
<p class="quiet">The key stays in this browser tab, which the explorer shares. It is sent to this service alone, in a header, and is forgotten when you close the tab.</p></form>`;

/**
 * The reference. Without a service it has no forms; `demoKey` is the key of a demo, which the forms fill in.
 */
export function referencePage(hasForms: boolean, demoKey: string | null = null): FramedPage {
  const parts: Link[] = areas.flatMap(([tag, members]) => [
    { label: tag, path: '' },
    ...members.map(([name, { summary }]) => ({ label: summary, path: name })),
  ]);
  const meta = demoKey === null ? nothing : html`\n<meta name="bourse-demo-key" content="${demoKey}">`;
  const forms = html`${meta}\n<script type="module" src="forms.js"></script>`;
  return {
    path: REFERENCE,
    title: 'Endpoints',
    parts: [...parts, { label: 'all', path: '' }, { label: 'Errors', path: 'errors' }],
    ...(hasForms && { head: forms }),
    content: html`<div class="reference" data-request-text="../${requestTextPath}"><h1>Endpoints</h1>
${hasForms ? html`<p>For programs the same is in <a href="../openapi.json">openapi.json</a>.</p>${keyField}` : nothing}
${areas.map(([tag, members]) => html`<h2>${tag}</h2>${members.map((one) => section(one, hasForms))}`)}
<section id="errors"><h2>Errors</h2>
<p>Every error is JSON, with the HTTP status repeated in <code>code</code> and one of these words in <code>detail.error</code>.</p>
<table class="fields"><tbody>${Object.entries(errors).map(errorRow)}</tbody></table></section></div>`,
  };
}
