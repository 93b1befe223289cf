// A real browser, where the machine has one, driven over its DevTools protocol.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './until.ts';

/** The first is Chromium without its windows: it takes two thirds of the processor time. */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];

/** The program of a browser, null where there is none. */
export const browserProgram: string | null =
  names.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0) ?? null;

type Reply = {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};

/** One page of a browser of its own. */
export class Browser {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #lastId = 0;

  private constructor(child: ChildProcess, folder: string, socket: WebSocket) {
    this.#child = child;
    this.#folder = folder;
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const reply = JSON.parse(String(data)) as Reply;
      if (reply.id !== undefined) this.#waiting.get(reply.id)?.(reply);
    });
  }

  /** Opens an address. */
  static async open(program: string, address: string): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'bourse-browser-'));
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0'];
    const child = spawn(
      program,
      [...flags, `--user-data-dir=${folder}`, '--window-size=1300,1400', address],
      {
        stdio: 'ignore',
      },
    );
    const socket = new WebSocket(await pageOf(join(folder, 'DevToolsActivePort')));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', reject, { once: true });
    });
    const browser = new Browser(child, folder, socket);
    await browser.until(`document.readyState === 'complete' && location.href !== 'about:blank'`);
    return browser;
  }

  async #call(method: string, parameters: object): Promise<unknown> {
    const id = ++this.#lastId;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ id, method, params: parameters }));
    const { result, error } = await replied;
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** The value of an expression in the page. @throws what the page throws */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = (await this.#call('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })) as { result: { value?: unknown }; exceptionDetails?: { text: string } };
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${exceptionDetails.text}`);
    return result.value;
  }

  /** Waits until an expression holds. */
  async until(expression: string): Promise<void> {
    await until(expression, async () => (await this.evaluate(expression)) === true);
  }

  /** Shows the page in a window of so many CSS pixels. */
  async resize(width: number, height: number): Promise<void> {
    const size = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#call('Emulation.setDeviceMetricsOverride', size);
  }

  /** What is to be seen, as a PNG. */
  async picture(): Promise<Buffer> {
    const { data } = (await this.#call('Page.captureScreenshot', { format: 'png' })) as { data: string };
    return Buffer.from(data, 'base64');
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The address by which the only page is driven, once the browser has written its port. */
const pageOf = (file: string): Promise<string> =>
  until('the browser opens a page', async () => {
    try {
      const port = readFileSync(file, 'utf8').split('\n')[0];
      const pages = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
        type: string;
        webSocketDebuggerUrl: string;
      }[];
      return pages.find(({ type }) => type === 'page')?.webSocketDebuggerUrl;
    } catch {
      // Not there yet.
      return null;
    }
  });
