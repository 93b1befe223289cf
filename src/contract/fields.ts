// The fields of records on the wire: schemas with a description, from which types, CSV columns and OpenAPI derive.
import {
  Boolean as BooleanSchema,
  Integer,
  Null,
  Number as NumberSchema,
  String as StringSchema,
  type TSchema,
  Union,
} from 'typebox';

export const text = (description: string) => StringSchema({ description });

/** A calendar date, `2025-07-18`. */
export const date = (description: string) => StringSchema({ format: 'date', description });

/** An instant in UTC (contract 2.4). */
export const dateTime = (description: string) => StringSchema({ format: 'date-time', description });

export const number = (description: string) => NumberSchema({ description });

export const integer = (description: string) => Integer({ description });

export const boolean = (description: string) => BooleanSchema({ description });

/** A value that may be null. */
export const nullable = <T extends TSchema>(schema: T) => Union([schema, Null()]);
