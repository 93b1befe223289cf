// `npm run explorer-speed`: how long the explorer lets one wait, on the demo, in a browser of this machine.
import type { Page } from 'playwright-core';
import { barCount, drawn, ExplorerWorld } from './explorer-world.ts';

const CHART = '#/stock/US:AAPL';
const SYMBOLS = ['AAPL', 'MSFT', 'SPY'];
const INTERVALS = ['5M', '60M', 'WEEK', 'MON', '240M', '1M', 'DAY'];
/** Bars that are there when the scrolling is measured, and for how long that goes on. */
const MANY_BARS = 100_000;
const SCROLL_MS = 3_000;
/** Presses after which the window shows so many bars that older ones come soon. */
const ZOOMS = 8;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;
const text = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} ms (${values.map((value) => value.toFixed(0)).join(' ')})`;

/** Milliseconds from a press of an interval's button until its bars are painted. */
const untilBars = (page: Page, interval: string): Promise<number> =>
  page.evaluate(async (name) => {
    const nextFrame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const button = [...document.querySelectorAll<HTMLButtonElement>('.segments button')].find(
      ({ textContent }) => textContent === name,
    )!;
    const status = (): string | undefined =>
      /^.* since \d+ \w+ \d+/.exec(
        document.querySelector('.chart-foot [role=status]')?.textContent ?? '',
      )?.[0];
    const before = status();
    await nextFrame();
    const startMs = performance.now();
    button.click();
    while (status() === before) await new Promise((resolve) => setTimeout(resolve));
    // The frame in which the chart draws them ends with its painting; a message comes after that.
    await nextFrame();
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
    return performance.now() - startMs;
  }, interval);

async function firstCharts(world: ExplorerWorld): Promise<number[]> {
  const times: number[] = [];
  for (const symbol of SYMBOLS) {
    const page = await world.newPage(`#/stock/US:${symbol}/60M`);
    await drawn(page);
    // Since the address was opened.
    times.push(await page.evaluate(() => performance.now()));
    await page.context().close();
  }
  return times;
}

async function interactions(world: ExplorerWorld): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>();
  const add = (name: string, ms: number): void => void times.set(name, [...(times.get(name) ?? []), ms]);
  for (const symbol of SYMBOLS) {
    const page = await world.newPage(`#/stock/US:${symbol}/DAY`);
    await drawn(page);
    await page.waitForTimeout(500);
    for (const asking of ['first', 'again'])
      for (const interval of INTERVALS) {
        add(`${interval} ${asking}`, await untilBars(page, interval));
        await page.waitForTimeout(300);
      }
    await page.context().close();
  }
  return times;
}

/** Frames a second while the wheel moves a chart of many bars in every one. */
async function framesOfScrolling(world: ExplorerWorld): Promise<{ bars: number; perSecond: number }> {
  const page = await world.newPage(`${CHART}/1M`);
  await drawn(page);
  await page.focus('.canvas');
  for (let key = 0; key < ZOOMS; key++) await page.keyboard.press('-');
  for (let key = 0; (await barCount(page)) < MANY_BARS && key < 500; key++) {
    await page.keyboard.press('PageUp');
    await page.waitForTimeout(50);
  }
  const bars = await barCount(page);
  for (let key = 0; key < ZOOMS; key++) await page.keyboard.press('+');
  const perSecond = await page.evaluate(async (ms) => {
    const { left, top } = document.querySelector('.canvas')!.getBoundingClientRect();
    const at = { clientX: left + 300, clientY: top + 200, bubbles: true, cancelable: true };
    const target = document.elementFromPoint(at.clientX, at.clientY)!;
    const startMs = performance.now();
    let frames = 0;
    for (; performance.now() - startMs < ms; frames++) {
      target.dispatchEvent(new WheelEvent('wheel', { ...at, deltaX: frames % 120 < 60 ? -60 : 60 }));
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return (frames / (performance.now() - startMs)) * 1_000;
  }, SCROLL_MS);
  return { bars, perSecond };
}

const world = new ExplorerWorld();
try {
  await world.open();
  console.log(`first chart: ${text(await firstCharts(world))}`);
  for (const [name, times] of await interactions(world)) console.log(`${name}: ${text(times)}`);
  const { bars, perSecond } = await framesOfScrolling(world);
  console.log(`scrolling over ${bars} bars: ${perSecond.toFixed(0)} frames a second`);
} finally {
  await world.close();
}
