/**
 * Answers a GraphQL request from plain objects: what was asked for, under the names that were asked for.
 *
 * Owns: selections, fragments, variables, and the refusal of fields that a type does not have. Does not own: the types and roots.
 */
import type { Document, Operation, Selection, Value } from "./graphql-parse.ts";

export type Args = Readonly<Record<string, unknown>>;

/** One thing of a type. A field may be a value, a node, a list of nodes, or a function of its arguments that gives one of them; what is missing is null. */
export interface Node {
  readonly type: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Schema {
  readonly query: Readonly<Record<string, (args: Args) => unknown>>;
  readonly mutation: Readonly<Record<string, (args: Args) => unknown>>;
  /** The names of each type's fields; a type that is not listed takes any. */
  readonly types: Readonly<Record<string, ReadonlySet<string>>>;
}

/** An error that the caller is told of, as GraphQL does: in `errors`, beside `data`. */
export class GraphqlError extends Error {
  override readonly name = "GraphqlError";
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(message: string, extensions: Readonly<Record<string, unknown>>) {
    super(message);
    this.extensions = extensions;
  }
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "fields" in value;
}

function isResolver(value: unknown): value is (args: Args) => unknown {
  return typeof value === "function";
}

export function operationOf(document: Document, name: string | undefined): Operation {
  const found =
    name === undefined || name === ""
      ? document.operations[0]
      : document.operations.find((operation) => operation.name === name);
  if (found === undefined || (name === undefined && document.operations.length > 1))
    throw invalid("Must provide operation name if query contains multiple operations.");
  return found;
}

/** The first field of the operation: what the call is about. */
export function rootField(operation: Operation): string {
  const [first] = operation.selections;
  return first?.kind === "field" ? first.name : (operation.name ?? operation.type);
}

export function run(
  schema: Schema,
  document: Document,
  operation: Operation,
  variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const given = Object.fromEntries(
    Object.entries(operation.defaults).map(([name, value]) => [name, valueOf(value, {})]),
  );
  const runner = new Runner(schema, document, { ...given, ...variables });
  const roots = { type: operation.type === "query" ? "Query" : "Mutation", fields: schema[operation.type] };
  runner.check(operation.selections, roots);
  return runner.select(operation.selections, roots);
}

class Runner {
  readonly #schema: Schema;
  readonly #document: Document;
  readonly #variables: Readonly<Record<string, unknown>>;

  constructor(schema: Schema, document: Document, variables: Readonly<Record<string, unknown>>) {
    this.#schema = schema;
    this.#document = document;
    this.#variables = variables;
  }

  /** Roots that do not exist are refused before any of them has had an effect. */
  check(selections: readonly Selection[], roots: Node): void {
    for (const selection of this.#flat(selections, roots)) this.#mustHave(roots, selection.name);
  }

  select(selections: readonly Selection[], node: Node): Record<string, unknown> {
    const answer: Record<string, unknown> = {};
    for (const field of this.#flat(selections, node)) {
      if (field.name === "__typename") {
        answer[field.alias] = node.type;
        continue;
      }
      this.#mustHave(node, field.name);
      const found = node.fields[field.name];
      const value = isResolver(found) ? found(this.#args(field.args)) : found;
      answer[field.alias] = this.#complete(value, field, node);
    }
    return answer;
  }

  #complete(value: unknown, field: Extract<Selection, { kind: "field" }>, node: Node): unknown {
    if (value === undefined || value === null) return null;
    if (Array.isArray(value)) return value.map((item: unknown) => this.#complete(item, field, node));
    if (!isNode(value)) return value;
    if (field.selections === undefined) {
      throw invalid(`Field "${field.name}" of type "${value.type}" must have a selection of subfields.`);
    }
    return this.select(field.selections, value);
  }

  /** The fields that apply to this node, fragments unfolded. */
  #flat(selections: readonly Selection[], node: Node, depth = 0): Extract<Selection, { kind: "field" }>[] {
    if (depth > 20) throw invalid("Fragments within fragments, too deep.");
    return selections.flatMap((selection) => {
      if (selection.kind === "field") return [selection];
      if (selection.kind === "inline") {
        const applies = selection.on === undefined || selection.on === node.type;
        return applies ? this.#flat(selection.selections, node, depth + 1) : [];
      }
      const fragment = this.#document.fragments.get(selection.fragment);
      if (fragment === undefined) throw invalid(`Unknown fragment "${selection.fragment}".`);
      // Fragments on an interface (Node) apply to whatever has their fields.
      return this.#flat(fragment.selections, node, depth + 1);
    });
  }

  #mustHave(node: Node, name: string): void {
    if (name === "__typename") return;
    const known = this.#schema.types[node.type];
    const roots = node.type === "Query" || node.type === "Mutation";
    if (roots ? !(name in node.fields) : known !== undefined && !known.has(name) && !(name in node.fields)) {
      throw invalid(`Cannot query field "${name}" on type "${node.type}".`);
    }
  }

  #args(args: Readonly<Record<string, Value>>): Args {
    return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, valueOf(value, this.#variables)]));
  }
}

function valueOf(value: Value, variables: Readonly<Record<string, unknown>>): unknown {
  switch (value.kind) {
    case "variable":
      return variables[value.name];
    case "constant":
      return value.value;
    case "list":
      return value.items.map((item) => valueOf(item, variables));
    default:
      return Object.fromEntries(Object.entries(value.fields).map(([name, field]) => [name, valueOf(field, variables)]));
  }
}

function invalid(message: string): GraphqlError {
  return new GraphqlError(message, { type: "graphql error", code: "GRAPHQL_VALIDATION_FAILED", userError: true });
}
