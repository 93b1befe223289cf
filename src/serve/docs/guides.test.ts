// Guides as HTML: markup in their text is shown and never obeyed, and links lead to what is there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guidePage } from './guides.ts';
import { servedAddresses } from './page-frame.ts';

const htmlOf = async (markdown: string, name = 'using/bars.md'): Promise<string> =>
  (await guidePage(markdown, name, servedAddresses(name.replace('.md', '.html')))).content.text;

/** Elements that the text of a guide may become, and their attributes. */
const allowed =
  /^<(?:\/\w+|(?:h[1-6]|p|ul|ol|li|div|table|thead|tbody|tr|th|td|pre|code|em|strong|br|hr|blockquote|a|img|del|input)(?: (?:id|class|href|src|alt|start|align|data-language|aria-label|type|disabled|checked)="[^"<>]*")*)>$/;

const hostile = [
  '<script>alert(1)</script>',
  'a <img src=x onerror=alert(1)> b <b onclick="x()">c</b>',
  'a <script> <svg/onload=alert(1)> b </script> <pre> <svg/onload=x>',
  '<style>@import "//a.example"</style>\n\n<iframe src="//a.example"></iframe>',
  '<!-- <script> -->\n\n<svg/onload=alert(1)>',
  '[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](vbscript:x) [d](data:text/html,x) [e](<java\nscript:x>)',
  '[a](&#106;avascript:alert(1)) [b](javascript&colon;alert(1)) [c](  javascript:x)',
  '![a](data:image/svg+xml;base64,AAAA) ![b](javascript:x) ![" onerror="x](../performance/share-of-the-limit.svg)',
  '[a](https://a.example/"onmouseover="alert(1)) [b](https://a.example "x\\" onclick=\\"y")',
  '<https://a.example/"><script>x</script>',
  '# <img src=x onerror=y> "quoted" `<b>`',
  '```"><script>x</script>\n<script>y</script>\n```',
  '```csv "><script>.csv\n1\n```',
  '| <script>x</script> |\n| --- |\n| <b onclick=x>y</b> |',
];

test('markup in a guide is text: no element and no attribute comes of it, and no address but of pages', async () => {
  for (const text of hostile) {
    const given = await htmlOf(text);
    for (const [tag] of given.matchAll(/<[^>]*>?/g)) {
      assert.match(tag, allowed, `${text}\n${given}`);
      const [, address] = / (?:href|src)="([^"]*)"/.exec(tag) ?? [];
      if (address !== undefined) assert.match(address, /^(?:#|https:\/\/a\.example\b|\.\.\/)/, text);
    }
  }
});

test('links between guides lead to their pages, to the first one and to pictures; those to other files of the project leave their words', async () => {
  const cases = [
    ['[a](import.md)', '<a href="../using/import.html">a</a>'],
    ['[a](import.md#mapping-files)', '<a href="../using/import.html#mapping-files">a</a>'],
    ['[a](../calendars.md)', '<a href="../calendars.html">a</a>'],
    ['[a](../README.md#use)', '<a href="../../docs#use">a</a>'],
    ['[a](../decisions)', '<a href="../decisions/index.html">a</a>'],
    ['[a](#here)', '<a href="#here">a</a>'],
    ['[a](https://example.com/?a=1&b=2)', '<a href="https://example.com/?a=1&amp;b=2">a</a>'],
    [
      '![a](../performance/share-of-the-limit.svg)',
      '<img src="../performance/share-of-the-limit.svg" alt="a">',
    ],
    ['[a](../../README.md) [b](../../src/serve/limits.ts) [c](none.md)', 'a b c'],
    ['[a](//example.com/x) [b](file:///etc/passwd) [c](../../../README.md)', 'a b c'],
  ] as const;
  for (const [markdown, given] of cases) assert.equal(await htmlOf(markdown), `<p>${given}</p>\n`);
});

test('headings have the ids that GitHub gives them, each its own', async () => {
  const given = await htmlOf(
    '# A\n\n## `as_of`, and *more*: 9.8\n\n## Same\n\n### Same\n\n## Über-größe & co.\n',
  );
  const ids = Array.from(given.matchAll(/<h\d id="([^"]*)"/g), ([, id]) => id);
  assert.deepEqual(ids, ['a', 'as_of-and-more-98', 'same', 'same-1', 'über-größe--co']);
});
