// The TypeScript client, for Node.js and browsers: `bourse/client`. What a program imports.
export type { AssetSchema, EndpointName, ErrorWord, IntervalCode } from '../contract/index.ts';
export { Bourse } from './bourse.ts';
export { BourseError, type ErrorCode } from './error.ts';
export type { BarColumns, Bars, Groups, Page, Rows } from './rows.ts';
export type { BulkOptions, OptionsOf, Row } from './sent.ts';
export type { Call, ServiceOptions } from './service.ts';
