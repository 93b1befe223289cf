// The question for a key.
import { type ComponentChild, h } from 'preact';
import { useState } from 'preact/hooks';
import { clientOf } from './connection.ts';

/** Asks for a key. `message` says why the last one was refused. */
export function KeyForm({
  message,
  onKey,
}: {
  message: string | null;
  onKey: (key: string) => void;
}): ComponentChild {
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    const field = (event.target as HTMLFormElement).elements.namedItem('key') as HTMLInputElement;
    const key = field.value.trim();
    if (clientOf(key) === null) {
      setProblem('A key has letters, digits and -._~+/ only: copy it whole, without spaces.');
      return;
    }
    onKey(key);
  };
  const shown = problem ?? message;
  return h(
    'main',
    { class: 'key' },
    h(
      'form',
      { onSubmit: submit },
      h('h1', null, 'Your key'),
      h(
        'p',
        { class: 'quiet' },
        'The service answers those who have a key. Whoever runs it makes one by ',
        h('code', null, 'bourse keys create NAME'),
        '.',
      ),
      h('label', { for: 'key' }, 'Key'),
      h('input', {
        id: 'key',
        name: 'key',
        type: 'password',
        autocomplete: 'off',
        spellcheck: false,
        required: true,
        'aria-describedby': 'key-problem',
        'aria-invalid': shown !== null,
        autoFocus: true,
      }),
      h('p', { id: 'key-problem', class: 'problem', role: 'alert' }, shown),
      h('button', { class: 'main', type: 'submit' }, 'Open'),
      h(
        'p',
        { class: 'quiet' },
        'It stays in this tab, is sent to this service alone, and is forgotten when you close the tab.',
      ),
    ),
  );
}
