/**
 * The description of the API as OpenAPI 3.1: our routes from their declarations, functions and relations from the catalogue with
 * their comments. Client generators read this text.
 *
 * Does not own: the page for people (page.ts).
 */
import type { ExposedFunction, ExposedRelation, ExposedSchema } from "../../db/exposed.ts";
import type { Credentials, RouteEntry } from "../route.ts";
import { schemaOf, type JsonSchema } from "./types.ts";

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly JsonSchema[];
  readonly parameters?: readonly JsonSchema[];
  readonly requestBody?: JsonSchema;
  readonly responses: JsonSchema;
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: JsonSchema;
  readonly servers: readonly JsonSchema[];
  readonly tags: readonly JsonSchema[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: JsonSchema;
}

/** Which of the schemes below a credential is; one of the list suffices. */
const securityOf: Readonly<Record<Credentials, readonly JsonSchema[]>> = {
  none: [{}],
  signature: [{}],
  apikey: [{ apikey: [] }, { apikey: [], bearer: [] }],
  member: [{ session: [] }, { bearer: [] }],
  service: [{ bearer: [] }],
  "relay-secret": [{ relaySecret: [] }],
};

const securitySchemes = {
  apikey: {
    type: "apiKey",
    in: "header",
    name: "apikey",
    description: "The anon key or the service key of this server.",
  },
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "The token of a member, or the service key.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "headroom_session",
    description: "The cookie of a member who signed in.",
  },
  relaySecret: {
    type: "apiKey",
    in: "header",
    name: "X-Outbox-Secret",
    description: "The secret with which the relay is woken.",
  },
} as const;

const problemSchema = {
  type: "object",
  required: ["type", "title", "status", "code", "request_id"],
  properties: {
    type: { type: "string" },
    title: { type: "string", description: "What happened, as a sentence." },
    status: { type: "integer" },
    code: { type: "string", description: "For programs; stable." },
    detail: { type: "string" },
    hint: { type: "string", description: "What to do." },
    request_id: { type: "string" },
  },
} as const;

const restErrorSchema = {
  type: "object",
  required: ["code", "message", "details", "hint"],
  properties: {
    code: { type: "string", description: "A SQLSTATE or a code of PostgREST's." },
    message: { type: "string" },
    details: {
      type: ["string", "null"],
      description: "Begins with the code of the refusal, if it is one of the workflow.",
    },
    hint: { type: ["string", "null"], description: "What to do." },
  },
} as const;

const problemResponse = {
  description: "Refused or failed.",
  content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
} as const;
const restErrorResponse = {
  description: "Refused or failed.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/RestError" } } },
} as const;

export interface DocumentParts {
  readonly version: string;
  readonly publicUrl: string;
  readonly routes: readonly RouteEntry[];
  readonly schema: ExposedSchema;
}

export function createDocument({ version, publicUrl, routes, schema }: DocumentParts): OpenApiDocument {
  const functions = schema.functions.filter(({ allowed }) => allowed.length > 0);
  const relations = schema.relations.filter(({ allowed }) => allowed.length > 0);
  const paths: Record<string, Record<string, Operation>> = {};
  for (const called of functions) {
    // Overloads share an address; the first one represents them.
    paths[`/rest/v1/rpc/${called.name}`] ??= functionOperations(called);
  }
  for (const relation of relations) paths[`/rest/v1/${relation.name}`] = { get: relationOperation(relation) };
  for (const route of routes) {
    if (route.errors === "postgrest") continue;
    const path = route.path.replaceAll(/:([a-zA-Z]+)/g, "{$1}");
    for (const method of route.methods)
      (paths[path] ??= {})[method.toLowerCase()] = routeOperation(route, method, path);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Headroom",
      version,
      description: "Capacity requests: created, decided and read through functions and views of the database.",
    },
    servers: [{ url: publicUrl }],
    tags: [
      { name: "functions", description: "Called with POST; those that only read also with GET." },
      { name: "views", description: "Read with GET; columns, conditions, order and pages as in PostgREST." },
      { name: "server", description: "Everything else." },
    ],
    paths,
    components: {
      securitySchemes,
      schemas: {
        Problem: problemSchema,
        RestError: restErrorSchema,
        ...Object.fromEntries(relations.map((relation) => [relation.name, rowSchema(relation)])),
      },
    },
  };
}

function rowSchema({ columns, comment }: ExposedRelation): JsonSchema {
  return {
    type: "object",
    ...(comment === null ? {} : { description: comment }),
    properties: Object.fromEntries(
      columns.map((column) => [
        column.name,
        {
          ...schemaOf(column.shownType, column.values, column.nullable),
          ...(column.comment === null ? {} : { description: column.comment }),
        },
      ]),
    ),
  };
}

function resultSchema(called: ExposedFunction): JsonSchema {
  const { returnsRelation, returns, shownReturnType, returnsSet } = called;
  const one =
    returnsRelation === null
      ? returns === "row"
        ? { type: "object" }
        : schemaOf(shownReturnType.replace(/^SETOF /, ""), null, true)
      : { $ref: `#/components/schemas/${returnsRelation}` };
  return returnsSet ? { type: "array", items: one } : one;
}

function functionOperations(called: ExposedFunction): Record<string, Operation> {
  const operations: Record<string, Operation> = { post: functionOperation(called, "post") };
  if (called.volatility !== "volatile" && called.parameters.every(({ name }) => name !== null)) {
    operations["get"] = functionOperation(called, "get");
  }
  return operations;
}

function functionOperation(called: ExposedFunction, method: "get" | "post"): Operation {
  const { name, parameters, comment, allowed, returns } = called;
  const [only] = parameters;
  const raw = parameters.length === 1 && only?.name === null;
  const body = raw ? rawBody(only?.shownType ?? "text") : { "application/json": { schema: argumentsSchema(called) } };
  const success =
    returns === "void"
      ? { "204": { description: "Done." } }
      : { "200": { description: "The result.", content: { "application/json": { schema: resultSchema(called) } } } };
  return {
    operationId: `${method === "get" ? "read_" : ""}${name}`,
    summary: comment ?? name,
    description: `May be called by: ${allowed.join(", ")}.`,
    tags: ["functions"],
    security: securityOf.apikey,
    ...(method === "post"
      ? { requestBody: { required: parameters.some(({ required }) => required), content: body } }
      : { parameters: parameters.map(queryParameter) }),
    responses: { ...success, default: restErrorResponse },
  };
}

function rawBody(shownType: string): JsonSchema {
  if (shownType === "bytea") return { "application/octet-stream": {} };
  return shownType === "text" ? { "text/plain": { schema: { type: "string" } } } : { "application/json": {} };
}

function argumentsSchema({ parameters }: ExposedFunction): JsonSchema {
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  return {
    type: "object",
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name ?? "", schemaOf(parameter.shownType, parameter.values, true)]),
    ),
  };
}

function queryParameter(parameter: ExposedFunction["parameters"][number]): JsonSchema {
  const { name, required, shownType, values } = parameter;
  return { name, in: "query", required, schema: schemaOf(shownType, values) };
}

function text(name: string, description: string): JsonSchema {
  return { name, in: "query", description, schema: { type: "string" } };
}

function relationOperation(relation: ExposedRelation): Operation {
  const { name, comment, allowed, columns } = relation;
  return {
    operationId: `list_${name}`,
    summary: comment ?? name,
    description: `May be read by: ${allowed.join(", ")}; row-level security decides which rows.`,
    tags: ["views"],
    security: securityOf.apikey,
    parameters: [
      text("select", "Columns, separated by commas."),
      text("order", "For example created_at.desc."),
      { name: "limit", in: "query", schema: { type: "integer", minimum: 0 } },
      { name: "offset", in: "query", schema: { type: "integer", minimum: 0 } },
      ...columns.map((column) =>
        text(column.name, `A condition, for example eq.value; the column is ${column.shownType}.`),
      ),
    ],
    responses: {
      "200": {
        description: "The rows.",
        content: { "application/json": { schema: { type: "array", items: { $ref: `#/components/schemas/${name}` } } } },
      },
      default: restErrorResponse,
    },
  };
}

function routeOperation(route: RouteEntry, method: string, path: string): Operation {
  const names = [...path.matchAll(/\{([a-zA-Z]+)\}/g)].map((match) => match[1] ?? "");
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-zA-Z0-9]+/g, "_")}`.replace(/_$/, ""),
    summary: route.summary,
    tags: ["server"],
    security: securityOf[route.credentials],
    ...(names.length === 0
      ? {}
      : { parameters: names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })) }),
    responses: { "200": { description: "Done." }, default: problemResponse },
  };
}
