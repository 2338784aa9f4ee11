/**
 * Where Linear's GraphQL endpoint is answered.
 *
 * Owns: the envelope, the key and the limits' headers. Does not own: the schema or the page.
 */
import { Hono } from "hono";
import { z } from "zod";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import { GraphqlSyntaxError, parseGraphql, type Document, type Operation } from "./graphql-parse.ts";
import { GraphqlError, operationOf, rootField, run, type Schema } from "./graphql-run.ts";
import { linearSchema } from "./schema.ts";
import type { LinearState } from "./state.ts";

const requestSchema = z.object({
  query: z.string().min(1).max(500_000),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

interface Asked {
  readonly document: Document;
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>>;
}

export function linearRoutes(world: World, state: LinearState): Hono<SandboxEnv> {
  const schema = linearSchema(world, state);
  const dialect = dialectOf(world);
  const routes = new Hono<SandboxEnv>();
  routes.post("/linear/graphql", async (context) => {
    let asked: Asked;
    try {
      asked = read(await context.req.text());
    } catch (error) {
      return refusal(world, error);
    }
    const method = rootField(asked.operation);
    const call = { provider: "linear", method, channel: subjectOf(asked.variables), body: asked.variables } as const;
    return answer(context, world, call, dialect, () => execute(context, world, schema, asked));
  });
  return routes;
}

function execute(context: SandboxContext, world: World, schema: Schema, asked: Asked): Response {
  try {
    authenticate(context, world);
    const data = run(schema, asked.document, asked.operation, asked.variables);
    return Response.json({ data }, { headers: limitHeaders(world, 1_499, 3_600) });
  } catch (error) {
    return refusal(world, error);
  }
}

function read(text: string): Asked {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw new GraphqlSyntaxError("POST body is not JSON.");
  }
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) throw new GraphqlSyntaxError("GraphQL operations must contain a non-empty `query`.");
  const document = parseGraphql(parsed.data.query);
  return {
    document,
    operation: operationOf(document, parsed.data.operationName ?? undefined),
    variables: parsed.data.variables ?? {},
  };
}

/** The issue that a call is about, so that a fault can be aimed at it. */
function subjectOf(variables: Readonly<Record<string, unknown>>): string | undefined {
  const input = z
    .looseObject({ issueId: z.string().optional(), id: z.string().nullish() })
    .safeParse(variables["input"]);
  const id = variables["id"];
  return typeof id === "string" ? id : (input.data?.issueId ?? input.data?.id ?? undefined);
}

function authenticate(context: SandboxContext, world: World): void {
  const key = (context.req.header("authorization") ?? "").replace(/^Bearer /, "");
  const wanted = world.secrets.linearApiKey;
  if (wanted === undefined ? key !== "" : key === wanted) return;
  throw new GraphqlError("Authentication required, not authenticated", {
    type: "authentication error",
    code: "AUTHENTICATION_ERROR",
    statusCode: 401,
    userError: true,
    userPresentableMessage: "You need to authenticate to access this operation.",
  });
}

/** Most errors come with status 200; what is not GraphQL at all, or not let in, does not. */
function refusal(world: World, error: unknown): Response {
  if (error instanceof GraphqlSyntaxError) {
    return errorResponse(world, 400, error.message, { code: "GRAPHQL_PARSE_FAILED", type: "graphql error" });
  }
  if (!(error instanceof GraphqlError)) throw error;
  const code = error.extensions["code"];
  const status = code === "AUTHENTICATION_ERROR" ? 401 : code === "GRAPHQL_VALIDATION_FAILED" ? 400 : 200;
  return errorResponse(world, status, error.message, error.extensions);
}

function errorResponse(
  world: World,
  status: number,
  message: string,
  extensions: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = limitHeaders(world, 1_499, 3_600),
): Response {
  return Response.json({ errors: [{ message, extensions }], data: null }, { status, headers });
}

function limitHeaders(world: World, remaining: number, resetInSeconds: number): Record<string, string> {
  const reset = String(world.now() + resetInSeconds * 1000);
  return {
    "x-ratelimit-requests-limit": "1500",
    "x-ratelimit-requests-remaining": String(remaining),
    "x-ratelimit-requests-reset": reset,
    "x-ratelimit-complexity-limit": "250000",
    "x-ratelimit-complexity-remaining": "249000",
    "x-ratelimit-complexity-reset": reset,
    "x-complexity": "1",
  };
}

function dialectOf(world: World): Dialect {
  return {
    failed: () => new Response("Internal Server Error", { status: 500, headers: { "content-type": "text/plain" } }),
    rateLimited: (seconds) =>
      errorResponse(
        world,
        400,
        "Rate limit exceeded",
        {
          type: "ratelimited",
          code: "RATELIMITED",
          statusCode: 429,
          userError: true,
          userPresentableMessage: "Rate limit exceeded. Only 1500 requests are allowed per 1 hour.",
        },
        { ...limitHeaders(world, 0, seconds), "retry-after": String(seconds) },
      ),
    refused: (words) =>
      errorResponse(world, 200, `Argument Validation Error: ${words}`, {
        type: "invalid input",
        code: "INPUT_ERROR",
        statusCode: 400,
        userError: true,
        userPresentableMessage: words,
      }),
  };
}
