/**
 * Answers Linear's GraphQL endpoint.
 *
 * Owns: the envelope, the key and the limits' headers. Does not own: the schema or the page.
 */
import { GraphQLError } from "graphql";
import { Hono } from "hono";
import { z } from "zod";
import { answer, type Dialect, type SandboxContext, type SandboxEnv } from "../core/exchange.ts";
import type { World } from "../core/world.ts";
import { readRequest, rootField, run, type LinearRequest } from "./graphql.ts";
import { inputError, linearResolvers } from "./resolvers.ts";
import type { LinearState } from "./state.ts";

export function linearRoutes(world: World, state: LinearState): Hono<SandboxEnv> {
  const resolvers = linearResolvers(world, state);
  const dialect = dialectOf(world);
  const routes = new Hono<SandboxEnv>();
  routes.post("/linear/graphql", async (context) => {
    let request: LinearRequest;
    try {
      request = readRequest(await context.req.text());
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      return errorResponse(world, 400, [error]);
    }
    const { operation, variables } = request;
    const call = {
      provider: "linear",
      method: rootField(operation),
      channel: subjectOf(variables),
      body: variables,
    } as const;
    return answer(context, world, call, dialect, () => execute(context, world, resolvers, request));
  });
  return routes;
}

/** Errors of resolvers have status 200; a call that is not authorised or does not fit the schema does not. */
async function execute(
  context: SandboxContext,
  world: World,
  resolvers: ReturnType<typeof linearResolvers>,
  request: LinearRequest,
): Promise<Response> {
  if (!isAuthenticated(context, world)) return errorResponse(world, 401, [notAuthenticated]);
  const result = await run(request, resolvers);
  if (result.kind !== "data") return errorResponse(world, result.kind === "invalid" ? 400 : 200, result.errors);
  return Response.json({ data: result.data }, { headers: limitHeaders(world, 1_499, 3_600) });
}

/** The issue that a call is about, so that a fault can be aimed at it. */
function subjectOf(variables: Readonly<Record<string, unknown>>): string | undefined {
  const input = z
    .looseObject({ issueId: z.string().optional(), id: z.string().nullish() })
    .safeParse(variables["input"]);
  const id = variables["id"];
  return typeof id === "string" ? id : (input.data?.issueId ?? input.data?.id ?? undefined);
}

function isAuthenticated(context: SandboxContext, world: World): boolean {
  const key = (context.req.header("authorization") ?? "").replace(/^Bearer /, "");
  const wanted = world.secrets.linearApiKey;
  return wanted === undefined ? key !== "" : key === wanted;
}

const notAuthenticated = new GraphQLError("Authentication required, not authenticated", {
  extensions: {
    type: "authentication error",
    code: "AUTHENTICATION_ERROR",
    statusCode: 401,
    userError: true,
    userPresentableMessage: "You need to authenticate to access this operation.",
  },
});

function errorResponse(
  world: World,
  status: number,
  errors: readonly GraphQLError[],
  headers: Readonly<Record<string, string>> = limitHeaders(world, 1_499, 3_600),
): Response {
  return Response.json({ errors, data: null }, { status, headers });
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
      errorResponse(world, 400, [rateLimitExceeded], {
        ...limitHeaders(world, 0, seconds),
        "retry-after": String(seconds),
      }),
    refused: (words) => errorResponse(world, 200, [inputError(`Argument Validation Error: ${words}`, words)]),
  };
}

const rateLimitExceeded = new GraphQLError("Rate limit exceeded", {
  extensions: {
    type: "ratelimited",
    code: "RATELIMITED",
    statusCode: 429,
    userError: true,
    userPresentableMessage: "Rate limit exceeded. Only 1500 requests are allowed per 1 hour.",
  },
});
