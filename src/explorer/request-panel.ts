// "The request" of a panel: how a program asks for what it shows, and the same rows as a file.
import { type ComponentChild, h } from 'preact';
import { useId, useState } from 'preact/hooks';
import { serviceUrl, useConnection } from './connection.ts';
import { downloadList } from './download.ts';
import { type AskedRequest, curlOf, pythonOf, typescriptOf, urlOf } from './request-text.ts';

/** A file that a panel offers besides CSV of its rows. */
export type Download = { readonly name: string; readonly save: () => Promise<void> };

const forms = ['URL', 'curl', 'TypeScript', 'Python'] as const;
type Form = (typeof forms)[number];

const textOf: Readonly<Record<Form, (asked: AskedRequest) => string | null>> = {
  URL: (asked) => urlOf(serviceUrl, asked),
  curl: (asked) => curlOf(serviceUrl, asked),
  TypeScript: (asked) => typescriptOf(serviceUrl, asked),
  Python: (asked) => pythonOf(serviceUrl, asked),
};

function CopyButton({ text, label }: { text: string; label: string }): ComponentChild {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
    setTimeout(() => setIsCopied(false), 1_500);
  };
  return h('button', { type: 'button', onClick: () => void copy() }, isCopied ? 'Copied' : label);
}

function DownloadButton({ name, save }: Download): ComponentChild {
  const [state, setState] = useState<string | null>(null);
  const start = (): void => {
    setState('Loading …');
    save().then(
      () => setState(null),
      (error: unknown) => setState((error as Error).message),
    );
  };
  return h(
    'span',
    null,
    h('button', { type: 'button', onClick: start }, name),
    h('span', { class: 'quiet', role: 'status' }, state),
  );
}

/** The panel. `file` names the CSV; `downloads` replace it. */
export function RequestPanel(props: {
  asked: AskedRequest;
  file: string;
  downloads?: readonly Download[];
}): ComponentChild {
  const { asked, file, downloads } = props;
  const connection = useConnection();
  const [form, setForm] = useState<Form>('URL');
  const id = useId();
  const shown = forms.filter((name) => textOf[name](asked) !== null);
  const current = shown.includes(form) ? form : 'URL';
  const text = textOf[current](asked)!;
  const files = downloads ?? [{ name: 'CSV', save: () => downloadList(asked, file, connection) }];
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
      h(
        'div',
        { class: 'segments', role: 'group', 'aria-label': 'Form of the request' },
        shown.map((name) =>
          h(
            'button',
            { type: 'button', 'aria-pressed': name === current, onClick: () => setForm(name) },
            name,
          ),
        ),
      ),
      h(CopyButton, { text, label: 'Copy' }),
      h('span', { class: 'gap' }),
      h('span', { class: 'quiet', id }, 'Download'),
      files.map((one) => h(DownloadButton, { key: one.name, ...one })),
    ),
    h('pre', { tabIndex: 0, 'aria-label': `The request as ${current}` }, text),
    h(
      'p',
      { class: 'quiet' },
      'The key is not part of it: programs send it in a header, here from the variable BOURSE_KEY. ',
      h(CopyButton, { text: connection.key, label: 'Copy my key' }),
    ),
  );
}
