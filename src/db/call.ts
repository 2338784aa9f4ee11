/**
 * The only way in which TypeScript calls a function of the database: by name, with named parameters, typed from the migrated schema.
 *
 * Owns: the statement's text, converting arguments and results, and turning failures into HeadroomError. Does not own:
 * connections, transactions, retries.
 */
import type { CustomTypesConfig } from "pg";
import { HeadroomError, toHeadroomError } from "./errors.ts";
import type { FunctionShape } from "./function-shape.ts";
import { functionShapes, type Functions } from "./generated.gen.ts";
import { valueTypes } from "./values/values.ts";

/** The functions that some role may call or that TypeScript names. After adding a call of another one, run `npm run gen`. */
export type FunctionName = keyof Functions;
export type FunctionArgs<N extends FunctionName> = Functions[N]["args"];
export type FunctionResult<N extends FunctionName> = Functions[N]["result"];

/** What a call needs of a connection; a Pool, a Client and a PoolClient of `pg` all have it. */
export interface Queryable {
  query(query: {
    text: string;
    values?: unknown[];
    name?: string | undefined;
    types?: CustomTypesConfig | undefined;
  }): Promise<{ rows: unknown[] }>;
}

export interface CallOptions {
  /**
   * Use a named prepared statement, which saves planning on a connection that makes the same call often. It fails behind a
   * transaction pooler. Default: false.
   */
  readonly prepare?: boolean | undefined;
}

/** Calls the function. Arguments that are left out take their SQL defaults; null is passed as null. */
export async function call<N extends FunctionName>(
  db: Queryable,
  name: N,
  args: FunctionArgs<N>,
  options: CallOptions = {},
): Promise<FunctionResult<N>> {
  const result = await callUntyped(db, name, functionShapes[name], args, options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the generated types describe what the shape makes
  return result as FunctionResult<N>;
}

/** `call` without the generated types. */
export async function callUntyped(
  db: Queryable,
  name: string,
  shape: FunctionShape | undefined,
  args: Readonly<Record<string, unknown>>,
  options: CallOptions = {},
): Promise<unknown> {
  if (shape === undefined)
    throw new HeadroomError("usage", `${name} is not among the generated functions. Run: npm run gen`);
  const names = Object.keys(args).filter((argument) => args[argument] !== undefined);
  const statement = statementOf(name, shape, names);
  const values = names.map((argument) => toParameter(args[argument], shape.json.includes(argument)));
  const named = options.prepare === true ? { name: statement.name } : {};
  let rows: unknown[];
  try {
    ({ rows } = await db.query({ text: statement.text, values, types: valueTypes, ...named }));
  } catch (error) {
    throw toHeadroomError(error);
  }
  return shapeRows(rows, shape);
}

interface Statement {
  readonly text: string;
  readonly name: string;
}

/** There are few texts: one per function and set of arguments given. */
const statements = new Map<string, Statement>();

function statementOf(name: string, shape: FunctionShape, names: readonly string[]): Statement {
  const key = `${name}(${names.join()})`;
  const known = statements.get(key);
  if (known !== undefined) return known;
  for (const word of [...name.split("."), ...names]) {
    // Names come from generated code; this keeps a caller without types from writing SQL through them.
    if (!/^[a-z_][a-z0-9_]*$/.test(word)) throw new HeadroomError("usage", `${word} is not a name in the database.`);
  }
  const list = names.map((argument, index) => (shape.positional ? `$${index + 1}` : `${argument} => $${index + 1}`));
  const invocation = `${name}(${list.join(", ")})`;
  const named = shape.returns === "row" || shape.returns === "rows";
  const text = named ? `select * from ${invocation}` : `select ${invocation} as value`;
  const statement = { text, name: preparedName(key) };
  statements.set(key, statement);
  return statement;
}

/** Postgres cuts names at 63 bytes: two that begin alike would become the same statement. */
function preparedName(key: string): string {
  if (key.length <= 63) return key;
  let hash = 5381;
  for (let index = 0; index < key.length; index += 1) hash = (hash * 33 + key.charCodeAt(index)) >>> 0;
  return `${key.slice(0, 54)}~${hash.toString(16)}`;
}

function toParameter(value: unknown, json: boolean): unknown {
  return json && value !== null ? JSON.stringify(value) : value;
}

function shapeRows(rows: readonly unknown[], shape: FunctionShape): unknown {
  switch (shape.returns) {
    case "nothing":
      return undefined;
    case "value":
      return valueIn(rows[0]);
    case "values":
      return rows.map(valueIn);
    case "row":
      return nullWhenEmpty(rows[0]);
    default:
      return rows;
  }
}

function valueIn(row: unknown): unknown {
  return typeof row === "object" && row !== null && "value" in row ? row.value : null;
}

/** A function that returns a null composite gives one row of nulls, which would not read as "no row". */
function nullWhenEmpty(row: unknown): unknown {
  if (typeof row !== "object" || row === null) return null;
  return Object.values(row).some((value) => value !== null) ? row : null;
}
