// Where modules of this program lie: in its sources, and as they are built for the package.

/** The address of the module that a source names `./x.ts`: in what was built from that source it is `./x.js`. */
export const moduleBeside = (name: `./${string}.ts`, importerUrl: string): URL =>
  new URL(name.replace(/\.ts$/, importerUrl.slice(importerUrl.lastIndexOf('.'))), importerUrl);
