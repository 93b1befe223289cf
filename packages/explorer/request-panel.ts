// "The request" of a panel: how a program asks for what it shows, and the same rows as a file.
import { type ComponentChild, h } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Bourse } from '../client/index.ts';
import { address } from '../client/sent.ts';
import { serviceUrl, useConnection, useMoment } from './asking.ts';
import { segments } from './controls.ts';
import { type AskedRequest, curlOf, pythonOf, typescriptOf, urlOf } from './request-text.ts';

/** Gives a file to the browser to save. */
function save(parts: readonly BlobPart[], name: string): void {
  const url = URL.createObjectURL(new Blob([...parts]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Rows in a page of a download: the most that every list gives. */
const PAGE_ROWS = 1_000;

/** All pages of a list as one CSV. @throws Error with the service's message */
async function csvPages({ name, values }: AskedRequest, key: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined; ; ) {
    const path = address(name, { ...values, format: 'csv', limit: PAGE_ROWS, next_page_key: next });
    const answer = await fetch(serviceUrl + path, {
      headers: { Authorization: `Bearer ${key}` },
      credentials: 'omit',
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error((JSON.parse(text) as { message: string }).message);
    // Each page has the header row.
    pages.push(pages.length === 0 ? text : text.slice(text.indexOf('\n') + 1));
    next = answer.headers.get('X-Next-Page-Key') ?? undefined;
    if (next === undefined) return pages;
  }
}

/** Saves the bars of a range. @throws BourseError */
async function saveBars({ values }: AskedRequest, format: 'csv' | 'parquet', bourse: Bourse): Promise<void> {
  const { schema_asset, country_symbol, interval, ...options } = values;
  const [country, ...rest] = String(country_symbol).split(':');
  const symbol = rest.join(':');
  const stream = await bourse.bulk(schema_asset as 'stock', country!, interval as 'DAY', {
    ...(options as object as { from: string; to: string }),
    symbols: [symbol],
    format,
    session_date: true,
  });
  save([await new Response(stream).arrayBuffer()], `${country}-${symbol}-${String(interval)}.${format}`);
}

const texts = { URL: urlOf, curl: curlOf, TypeScript: typescriptOf, Python: pythonOf } as const;
type Form = keyof typeof texts;

function CopyButton({ text, label }: { text: string; label: string }): ComponentChild {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return h('button', { type: 'button', onClick: () => void copy() }, isCopied ? 'Copied' : label);
}

function DownloadButton({ name, start }: { name: string; start: () => Promise<void> }): ComponentChild {
  const [state, setState] = useState<string | null>(null);
  const download = (): void => {
    setState('Loading …');
    start().then(
      () => setState(null),
      (error: unknown) => setState((error as Error).message),
    );
  };
  return h(
    'span',
    null,
    h('button', { type: 'button', onClick: download }, name),
    h('span', { class: 'quiet', role: 'status' }, state),
  );
}

/** The panel of a request as of the view's moment. `file` names the CSV of a list. */
export function RequestPanel(props: { asked: AskedRequest; file: string }): ComponentChild {
  const { bourse, key } = useConnection();
  const { known } = useMoment();
  const { name, values } = props.asked;
  const asked = { name, values: { ...values, ...known } };
  const [form, setForm] = useState<Form>('URL');
  const id = useId();
  const shown = (Object.keys(texts) as Form[]).filter((one) => texts[one](serviceUrl, asked) !== null);
  const current = shown.includes(form) ? form : 'URL';
  const text = texts[current](serviceUrl, asked)!;
  const saveList = async (): Promise<void> => save(await csvPages(asked, key), `${props.file}.csv`);
  const isBars = name === 'historicalBars';
  return h(
    'details',
    { class: 'request' },
    h(
      'summary',
      null,
      'The request',
      h('span', { class: 'quiet' }, ' as URL, curl, TypeScript, Python; download'),
    ),
    h(
      'div',
      { class: 'request-bar' },
      segments(
        'Form of the request',
        shown.map((one) => [one, one] as const),
        current,
        (one) => setForm(one),
      ),
      h(CopyButton, { text, label: 'Copy' }),
      h('span', { class: 'gap' }),
      h('span', { class: 'quiet', id }, 'Download'),
      h(DownloadButton, { name: 'CSV', start: isBars ? () => saveBars(asked, 'csv', bourse) : saveList }),
      isBars && h(DownloadButton, { name: 'Parquet', start: () => saveBars(asked, 'parquet', bourse) }),
    ),
    h('pre', { tabIndex: 0, 'aria-label': `The request as ${current}` }, text),
    h(
      'p',
      { class: 'quiet' },
      'The key is not part of it: programs send it in a header, here from the variable BOURSE_KEY. ',
      h(CopyButton, { text: key, label: 'Copy my key' }),
    ),
  );
}
