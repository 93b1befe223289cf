// The explorer's start in a browser.
import { h, render } from 'preact';
import { App } from './app.ts';
import { restoreTheme } from './theme.ts';

restoreTheme();
const root = document.querySelector('#explorer')!;
root.replaceChildren();
render(h(App, null), root);
