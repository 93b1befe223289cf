// The addresses of this program's modules, in its sources and in the built package.

/** The address of a module that a source calls `./x.ts`; in the built package it is `./x.js`. */
export const moduleBeside = (name: `./${string}.ts`, importerUrl: string): URL =>
  new URL(name.replace(/\.ts$/, importerUrl.slice(importerUrl.lastIndexOf('.'))), importerUrl);
