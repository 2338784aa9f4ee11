/**
 * Reads a GraphQL request: operations, fields with aliases and arguments, fragments, variables and their defaults.
 *
 * Owns: the grammar of requests. Does not own: schemas, or what a field means (graphql-run.ts).
 */

export type Value =
  | { readonly kind: "variable"; readonly name: string }
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "list"; readonly items: readonly Value[] }
  | { readonly kind: "object"; readonly fields: Readonly<Record<string, Value>> };

export type Selection =
  | {
      readonly kind: "field";
      readonly name: string;
      readonly alias: string;
      readonly args: Readonly<Record<string, Value>>;
      readonly selections: readonly Selection[] | undefined;
    }
  | { readonly kind: "spread"; readonly fragment: string }
  | { readonly kind: "inline"; readonly on: string | undefined; readonly selections: readonly Selection[] };

export interface Operation {
  readonly type: "query" | "mutation";
  readonly name: string | undefined;
  readonly defaults: Readonly<Record<string, Value>>;
  readonly selections: readonly Selection[];
}

export interface Document {
  readonly operations: readonly Operation[];
  readonly fragments: ReadonlyMap<string, { readonly on: string; readonly selections: readonly Selection[] }>;
}

export class GraphqlSyntaxError extends Error {
  override readonly name = "GraphqlSyntaxError";
}

const token =
  /[\s,\uFEFF]+|#[^\n\r]*|(?<punctuator>\.\.\.|[!$&()[\]{}:=@|])|(?<name>[A-Za-z_]\w*)|(?<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|"""(?<block>(?:[^"\\]|\\"""|\\|"(?!""))*)"""|(?<string>"(?:[^"\\\n\r]|\\.)*")/y;
const maxDepth = 30;

interface Token {
  readonly kind: "punctuator" | "name" | "number" | "string" | "block";
  readonly text: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const groups = token.exec(text)?.groups;
    if (token.lastIndex === 0) throw new GraphqlSyntaxError(`Syntax Error: Unexpected character at ${at}.`);
    for (const kind of ["punctuator", "name", "number", "string", "block"] as const) {
      const found = groups?.[kind];
      if (found !== undefined) tokens.push({ kind, text: found });
    }
  }
  return tokens;
}

export function parseGraphql(text: string): Document {
  return new Parser(tokensOf(text)).document();
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  document(): Document {
    const operations: Operation[] = [];
    const fragments = new Map<string, { on: string; selections: readonly Selection[] }>();
    while (this.#at < this.#tokens.length) {
      if (this.#skip("fragment")) {
        const name = this.#name();
        this.#expect("on");
        fragments.set(name, { on: this.#name(), selections: this.#selections() });
      } else {
        operations.push(this.#operation());
      }
    }
    if (operations.length === 0) throw new GraphqlSyntaxError("Syntax Error: Unexpected <EOF>.");
    return { operations, fragments };
  }

  #operation(): Operation {
    if (this.#peek("{")) return { type: "query", name: undefined, defaults: {}, selections: this.#selections() };
    const type = this.#name();
    if (type !== "query" && type !== "mutation") throw this.#unexpected(type);
    const name = this.#peek("{") || this.#peek("(") || this.#peek("@") ? undefined : this.#name();
    const defaults = this.#variables();
    this.#directives();
    return { type, name, defaults, selections: this.#selections() };
  }

  #variables(): Record<string, Value> {
    const defaults: Record<string, Value> = {};
    if (!this.#skip("(")) return defaults;
    while (!this.#skip(")")) {
      this.#expect("$");
      const name = this.#name();
      this.#expect(":");
      this.#type();
      if (this.#skip("=")) defaults[name] = this.#value();
      this.#directives();
    }
    return defaults;
  }

  #type(): void {
    if (this.#skip("[")) {
      this.#type();
      this.#expect("]");
    } else {
      this.#name();
    }
    this.#skip("!");
  }

  #selections(): Selection[] {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new GraphqlSyntaxError("Query is too complex.");
    this.#expect("{");
    const selections: Selection[] = [];
    do selections.push(this.#selection());
    while (!this.#skip("}"));
    this.#depth -= 1;
    return selections;
  }

  #selection(): Selection {
    if (this.#skip("...")) {
      if (this.#skip("on")) return this.#inline(this.#name());
      if (this.#peek("{") || this.#peek("@")) return this.#inline(undefined);
      const fragment = this.#name();
      this.#directives();
      return { kind: "spread", fragment };
    }
    const first = this.#name();
    const renamed = this.#skip(":");
    const name = renamed ? this.#name() : first;
    const args = this.#arguments();
    this.#directives();
    return { kind: "field", alias: first, name, args, selections: this.#peek("{") ? this.#selections() : undefined };
  }

  #inline(on: string | undefined): Selection {
    this.#directives();
    return { kind: "inline", on, selections: this.#selections() };
  }

  #arguments(): Record<string, Value> {
    const args: Record<string, Value> = {};
    if (!this.#skip("(")) return args;
    while (!this.#skip(")")) {
      const name = this.#name();
      this.#expect(":");
      args[name] = this.#value();
    }
    return args;
  }

  #directives(): void {
    while (this.#skip("@")) {
      this.#name();
      this.#arguments();
    }
  }

  #value(): Value {
    if (this.#skip("$")) return { kind: "variable", name: this.#name() };
    if (this.#skip("[")) {
      const items: Value[] = [];
      while (!this.#skip("]")) items.push(this.#value());
      return { kind: "list", items };
    }
    if (this.#skip("{")) {
      const fields: Record<string, Value> = {};
      while (!this.#skip("}")) {
        const name = this.#name();
        this.#expect(":");
        fields[name] = this.#value();
      }
      return { kind: "object", fields };
    }
    return { kind: "constant", value: constantOf(this.#next()) };
  }

  #peek(text: string): boolean {
    const next = this.#tokens[this.#at];
    return next !== undefined && next.kind !== "string" && next.kind !== "block" && next.text === text;
  }

  #skip(text: string): boolean {
    const found = this.#peek(text);
    if (found) this.#at += 1;
    return found;
  }

  #expect(text: string): void {
    if (!this.#skip(text)) throw this.#unexpected(this.#tokens[this.#at]?.text);
  }

  #name(): string {
    const next = this.#next();
    if (next.kind !== "name") throw this.#unexpected(next.text);
    return next.text;
  }

  #next(): Token {
    const next = this.#tokens[this.#at];
    if (next === undefined) throw this.#unexpected(undefined);
    this.#at += 1;
    return next;
  }

  #unexpected(text: string | undefined): GraphqlSyntaxError {
    return new GraphqlSyntaxError(`Syntax Error: Unexpected ${text === undefined ? "<EOF>" : `"${text}"`}.`);
  }
}

function constantOf({ kind, text }: Token): unknown {
  if (kind === "number") return Number(text);
  if (kind === "block") return text.replaceAll('\\"""', '"""').trim();
  if (kind === "string") {
    try {
      return JSON.parse(text);
    } catch {
      throw new GraphqlSyntaxError(`Syntax Error: Unterminated string ${text.slice(0, 40)}.`);
    }
  }
  if (kind === "punctuator") throw new GraphqlSyntaxError(`Syntax Error: Unexpected "${text}".`);
  if (text === "true" || text === "false") return text === "true";
  return text === "null" ? null : text;
}
