/**
 * The REST surface: calls of exposed functions and reads of exposed relations, answered as PostgREST answers them.
 *
 * Owns: how the parts work together. Does not own: grammars, statements, errors (the files beside this one), sessions (the gate).
 */
import { z } from "zod";
import { sendBatch, type BatchResult } from "../../db/batch.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { ExposedFunction } from "../../db/exposed.ts";
import type { GatewayStatement, TransactionOptions } from "../database/gateway-database.ts";
import type { RouteContext } from "../route.ts";
import { argumentsOfBody, argumentsOfPairs, type ReadArguments } from "./arguments.ts";
import type { Catalogue } from "./catalogue.ts";
import { RestError } from "./errors.ts";
import {
  checkProfile,
  parseAccept,
  parseContentType,
  parsePrefer,
  type AnswerForm,
  type Preferences,
} from "./negotiation.ts";
import { contentRange, pageStatus, unsatisfiable } from "./range.ts";
import { contentLocation, readQuery, type SplitQuery } from "./request.ts";
import { noSuchFunction, resolveFunction, type Resolved } from "./resolve.ts";
import { callStatement, maxAnswerBytes, maxCounted, relationStatement, UnknownColumn } from "./statement.ts";
import { isSteady } from "./steady.ts";

export interface RestSurface {
  call(context: RouteContext, name: string): Promise<Response>;
  read(context: RouteContext, name: string): Promise<Response>;
}

export interface RestOptions {
  readonly catalogue: Catalogue;
  /** Maximum rows of one answer. */
  readonly maxRows: number;
}

const resultRow = z.object({
  total: z.number().nullable(),
  rows: z.number(),
  /** Size of the whole body, which is not returned if it is too large. */
  bytes: z.number().nullable(),
  body: z.string().nullable(),
  status: z.string().nullable(),
  headers: z.string().nullable(),
});
type ResultRow = z.infer<typeof resultRow>;

export function createRestSurface({ catalogue, maxRows }: RestOptions): RestSurface {
  return {
    async call(context, name) {
      const { request, method, url } = context;
      checkProfile(request.headers, catalogue.schema);
      const form = parseAccept(request.headers.get("accept"));
      const prefer = parsePrefer(request.headers.get("prefer"));
      const reading = method === "GET" || method === "HEAD";
      const names = parameterNames(await catalogue.functions(name));
      const read = reading
        ? argumentsOfPairs(
            [...url.searchParams].filter(([key, value]) => names.has(key) || !looksLikeFilter(key, value)),
          )
        : argumentsOfBody(
            parseContentType(request.headers.get("content-type")),
            await context.bytes(),
            prefer.singleObject,
          );
      const range = reading ? request.headers.get("range") : null;
      const query = readQuery(url.searchParams, range, maxRows, (key) => reading && names.has(key));
      const { found, statement } = await withKnownColumns(catalogue, async () => {
        const resolved = await resolve(catalogue, name, read);
        const call = { ...resolved, read, form, query, prefer, catalogue, maxRows };
        return { found: resolved.found, statement: statementOfCall(call) };
      });
      const options = {
        readOnly: reading || found.volatility !== "volatile",
        request: { ...context.facts, path: `/rpc/${name}` },
      };
      const atMost = form.single && found.returnsSet ? 1 : undefined;
      const row = await runOne(context, statement, options, atMost);
      requireSmall(row, options.readOnly);
      return answerOfCall(row, found, form, query, prefer, method);
    },

    async read(context, name) {
      const { request, method, url } = context;
      checkProfile(request.headers, catalogue.schema);
      const form = parseAccept(request.headers.get("accept"));
      const prefer = parsePrefer(request.headers.get("prefer"));
      const query = readQuery(url.searchParams, request.headers.get("range"), maxRows);
      const statement = await withKnownColumns(catalogue, async () => {
        const relation = await catalogue.relation(name);
        if (relation !== undefined) {
          return relationStatement(catalogue.schema, relation, query.read, form, prefer.count !== undefined);
        }
        throw new RestError(404, "42P01", `relation "${catalogue.schema}.${name}" does not exist`);
      });
      const options = { readOnly: true, request: { ...context.facts, path: `/${name}` } };
      const read = isSteady(query.read) ? ({ ...statement, keep: "read" } as const) : statement;
      const row = rowOf((await context.run([read], options))[0]);
      requireSmall(row, true);
      if (form.single && row.rows !== 1) throw notSingular(row.rows);
      const headers = { "content-location": contentLocation(`/${name}`, url.searchParams) };
      return answerOfPage(row, query.read.offset, prefer, form, headers, method);
    },
  };
}

function parameterNames(overloads: readonly ExposedFunction[]): ReadonlySet<string> {
  return new Set(
    overloads.flatMap(({ parameters }) => parameters.flatMap(({ name }) => (name === null ? [] : [name]))),
  );
}

/** In the query string of a call, a parameter that no function of that name takes is a condition if it looks like one. */
function looksLikeFilter(name: string, value: string): boolean {
  return (
    /^(select|order|limit|offset|columns|(not\.)?(and|or))$/.test(name) || /^(not\.)?[a-z]+(\([a-z_]+\))?\./.test(value)
  );
}

/** A column may have been added since the catalogue was read. */
async function withKnownColumns<T>(catalogue: Catalogue, build: () => Promise<T>): Promise<T> {
  try {
    return await build();
  } catch (error) {
    if (!(error instanceof UnknownColumn && (await catalogue.refresh()))) throw error;
    return build();
  }
}

async function resolve(catalogue: Catalogue, name: string, { given }: ReadArguments): Promise<Resolved> {
  const resolved = resolveFunction(await catalogue.functions(name), given);
  if (resolved !== undefined) return resolved;
  // A parameter may have been added since the catalogue was read.
  const again = (await catalogue.refresh()) ? resolveFunction(await catalogue.functions(name), given) : undefined;
  if (again !== undefined) return again;
  throw noSuchFunction(catalogue.schema, name, given);
}

interface Call {
  readonly found: ExposedFunction;
  readonly whole: boolean;
  readonly read: ReadArguments;
  readonly form: AnswerForm;
  readonly query: SplitQuery;
  readonly prefer: Preferences;
  readonly catalogue: Catalogue;
  readonly maxRows: number;
}

/** Calls without conditions have few texts, one per function and set of arguments. */
function statementOfCall({ found, whole, read, form, query, prefer, catalogue, maxRows }: Call): GatewayStatement {
  const shaped = !query.plain || prefer.count !== undefined;
  const rows = shaped && found.returns === "row" ? query.read : undefined;
  const given = read.bind(found, whole);
  const statement = callStatement(catalogue.schema, found, given, form, rows, prefer.count !== undefined, maxRows);
  return rows === undefined ? { ...statement, keep: "call" } : statement;
}

/**
 * With `rows`, any other number of rows rolls the call back. Such a call bypasses the database's normal sending, which knows whether
 * statements may be prepared, so it is not prepared.
 */
async function runOne(
  context: RouteContext,
  statement: GatewayStatement,
  options: TransactionOptions,
  rows: number | undefined,
): Promise<ResultRow> {
  if (rows === undefined) return rowOf((await context.run([statement], options))[0]);
  return context.transaction(async (client) => {
    const row = rowOf((await sendBatch(client, [statement]))[0]);
    if (row.rows !== rows) throw notSingular(row.rows);
    return row;
  }, options);
}

function rowOf(result: BatchResult | undefined): ResultRow {
  const parsed = resultRow.safeParse(result?.rows[0]);
  if (parsed.success) return parsed.data;
  throw new HeadroomError("internal", "The database answered in an unknown form.", { cause: parsed.error });
}

/** A slow reader keeps the answer in our memory, so its size is limited. */
function requireSmall({ bytes }: ResultRow, readOnly: boolean): void {
  if (bytes === null || bytes <= maxAnswerBytes) return;
  throw new RestError(400, "54000", `The answer has ${bytes} bytes; at most ${maxAnswerBytes} are given at once.`, {
    details: readOnly ? undefined : "The call was carried out; only its answer is not returned.",
    hint: "Ask for fewer columns (select) or fewer rows (limit and offset).",
  });
}

function notSingular(rows: number): RestError {
  return new RestError(406, "PGRST116", "JSON object requested, multiple (or no) rows returned", {
    details: `The result contains ${rows} rows`,
  });
}

/** A count that stopped at the maximum is not exact, whatever was requested. */
function appliedHeader({ applied }: Preferences, stopped = false): Record<string, string> {
  if (applied === undefined) return {};
  return { "preference-applied": stopped ? applied.replace(/\bcount=\w+/, "count=estimated") : applied };
}

function answerOfCall(
  row: ResultRow,
  called: ExposedFunction,
  form: AnswerForm,
  query: SplitQuery,
  prefer: Preferences,
  method: string,
): Response {
  if (called.returns !== "void") {
    const offset = called.returns === "row" ? query.read.offset : 0;
    return answerOfPage(row, offset, prefer, form, {}, method);
  }
  const said = saidByFunction(row);
  return new Response(null, {
    status: said.status ?? 204,
    headers: [["content-range", "0-0/*"], ...Object.entries(appliedHeader(prefer)), ...said.headers],
  });
}

function answerOfPage(
  row: ResultRow,
  offset: number,
  prefer: Preferences,
  form: AnswerForm,
  extra: Readonly<Record<string, string>>,
  method: string,
): Response {
  // Clients expect a number after the slash, so there is one even if there are more rows: at least as many as they were shown.
  const stopped = row.total !== null && row.total > maxCounted;
  const total = stopped ? Math.max(maxCounted, row.rows === 0 ? 0 : offset + row.rows) : (row.total ?? undefined);
  const headers = { ...extra, ...appliedHeader(prefer, stopped) };
  const range = contentRange(offset, row.rows, total);
  if (total !== undefined && !stopped && offset > 0 && offset >= total) {
    throw unsatisfiable(`An offset of ${offset} was requested, but there are only ${total} rows.`, {
      "content-range": range,
      ...headers,
    });
  }
  const said = saidByFunction(row);
  const status = said.status ?? pageStatus(row.rows, total);
  const empty = method === "HEAD" || status === 204 || status === 205 || status === 304 || row.body === null;
  return new Response(empty ? null : row.body, {
    status,
    headers: [
      ["content-type", form.contentType],
      // The size it is counted with until the client has read it (held-bytes.ts).
      ...(empty ? [] : [["content-length", String(Buffer.byteLength(row.body ?? ""))] satisfies [string, string]]),
      ["content-range", range],
      ...Object.entries(headers),
      ...said.headers,
    ],
  });
}

const headersSaid = z.array(
  z.record(z.string().regex(/^[\w!#$%&'*+.^`|~-]+$/), z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/)),
);

/** A function may set status and headers of its answer: `set_config('response.status', '202', true)`. */
function saidByFunction(row: ResultRow): { status: number | undefined; headers: [string, string][] } {
  if (row.status === null && row.headers === null) return { status: undefined, headers: [] };
  const status = row.status === null ? undefined : Number(row.status);
  if (status !== undefined && !(Number.isInteger(status) && status >= 200 && status <= 599)) {
    throw new RestError(500, "PGRST112", "response.status guc must be a valid status code");
  }
  if (row.headers === null) return { status, headers: [] };
  let parsed: unknown;
  try {
    parsed = JSON.parse(row.headers);
  } catch {
    parsed = undefined;
  }
  const headers = headersSaid.safeParse(parsed);
  if (headers.success) return { status, headers: headers.data.flatMap((entry) => Object.entries(entry)) };
  throw new RestError(
    500,
    "PGRST111",
    "response.headers guc must be a JSON array composed of objects with a single key and a string value",
  );
}
