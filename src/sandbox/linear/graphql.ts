/**
 * One GraphQL request against Linear's schema, and its errors in Linear's form.
 *
 * Owns: reading, validating and running a request. Does not own: the types (sdl.ts), what a field does (resolvers.ts), nor HTTP (routes.ts).
 */
import {
  buildSchema,
  execute,
  getOperationAST,
  GraphQLError,
  Kind,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type OperationDefinitionNode,
  type ValidationRule,
} from "graphql";
import { z } from "zod";
import type { linearResolvers } from "./resolvers.ts";
import { linearSdl } from "./sdl.ts";

const schema = buildSchema(linearSdl);

/** Several times the SDK's longest request, and few enough to parse without running out of stack. */
const maxTokens = 1_500;
const maxDepth = 30;

const requestSchema = z.object({
  query: z.string().min(1).max(500_000),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

export interface LinearRequest {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
}

export type LinearResult =
  | { readonly kind: "data"; readonly data: unknown }
  /** Refused before any field was resolved, so without any effect. */
  | { readonly kind: "invalid"; readonly errors: readonly GraphQLError[] }
  /** Refused by a resolver. */
  | { readonly kind: "refused"; readonly errors: readonly GraphQLError[] };

const parseFailed = { type: "graphql error", code: "GRAPHQL_PARSE_FAILED" } as const;
const validationFailed = { type: "graphql error", code: "GRAPHQL_VALIDATION_FAILED", userError: true } as const;

/** Throws a GraphQLError for a body that is not a GraphQL request. */
export function readRequest(body: string): LinearRequest {
  const { query, variables, operationName } = parseEnvelope(body);
  const document = parseQuery(query);
  const operation = getOperationAST(document, operationName === "" ? undefined : operationName);
  if (!operation) {
    throw new GraphQLError("Must provide operation name if query contains multiple operations.", {
      extensions: validationFailed,
    });
  }
  return { document, operation, variables: variables ?? {} };
}

function parseEnvelope(body: string): z.infer<typeof requestSchema> {
  let envelope: unknown;
  try {
    envelope = JSON.parse(body);
  } catch {
    throw new GraphQLError("POST body is not JSON.", { extensions: parseFailed });
  }
  const parsed = requestSchema.safeParse(envelope);
  if (parsed.success) return parsed.data;
  throw new GraphQLError("GraphQL operations must contain a non-empty `query`.", { extensions: parseFailed });
}

function parseQuery(query: string): DocumentNode {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    throw withExtensions(error, parseFailed);
  }
}

/** The first field of the operation, which names the call. */
export function rootField({ selectionSet, name, operation }: OperationDefinitionNode): string {
  const [first] = selectionSet.selections;
  return first?.kind === Kind.FIELD ? first.name.value : (name?.value ?? operation);
}

const notTooDeep: ValidationRule = (context) => {
  let depth = 0;
  return {
    SelectionSet: {
      enter(node) {
        depth += 1;
        if (depth === maxDepth + 1) context.reportError(new GraphQLError("Query is too complex.", { nodes: node }));
      },
      leave() {
        depth -= 1;
      },
    },
  };
};

export async function run(
  { document, operation, variables }: LinearRequest,
  resolvers: ReturnType<typeof linearResolvers>,
): Promise<LinearResult> {
  const mistakes = validate(schema, document, [...specifiedRules, notTooDeep]);
  if (mistakes.length > 0) return invalid(mistakes);
  const { data, errors = [] } = await execute({
    schema,
    document,
    operationName: operation.name?.value,
    rootValue: resolvers,
    variableValues: variables,
  });
  if (errors.length === 0) return { kind: "data", data };
  // With no `data` at all, not even null, nothing was executed: a variable does not fit its type.
  if (data === undefined) return invalid(errors);
  // Any error other than a resolver's refusal is a bug in the stand-in. The caller must not take it for Linear's answer.
  for (const { originalError } of errors) {
    if (originalError !== undefined && !(originalError instanceof GraphQLError)) throw originalError;
  }
  return { kind: "refused", errors };
}

function invalid(errors: readonly GraphQLError[]): LinearResult {
  return { kind: "invalid", errors: errors.map((error) => withExtensions(error, validationFailed)) };
}

function withExtensions(error: GraphQLError, extensions: Readonly<Record<string, unknown>>): GraphQLError {
  const { message, nodes = null, source, positions, path } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
