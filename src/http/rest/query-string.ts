/**
 * Reads `select`, `order` and conditions out of a query string, as PostgREST writes them.
 *
 * Owns: the grammars. Everything that it returns is a value or one of a closed list of words; nothing of the text becomes SQL
 * (statement.ts quotes names and passes values as parameters).
 */
import { RestError } from "./errors.ts";
import {
  castTypes,
  comparisons,
  isWords,
  quantifiable,
  textSearches,
  type CastType,
  type Comparison,
  type Condition,
  type FieldPath,
  type IsWord,
  type Operation,
  type OrderTerm,
  type PathStep,
  type SelectItem,
  type TextSearch,
} from "./query.ts";
import { Scanner } from "./scanner.ts";

/** Limits on one part of a query; no legitimate query comes near them. The limits on a whole query are in query-cost.ts. */
const queryLimits = { conditions: 200, depth: 20, columns: 200, orderTerms: 50, values: 2_000 } as const;

const namePattern = /[\p{L}\p{N}_ $-]+?(?=->|::|[.,:()]|$)/uy;

function readName(scanner: Scanner): string {
  if (scanner.peek() === '"') return scanner.quoted();
  const name = scanner.match(namePattern)?.[0].trim();
  if (name === undefined || name === "") scanner.fail("field name (* or [a..z0..9_$])");
  return name;
}

function readSteps(scanner: Scanner): PathStep[] {
  const steps: PathStep[] = [];
  for (;;) {
    const asText = scanner.take("->>");
    if (!asText && !scanner.take("->")) return steps;
    if (steps.length >= queryLimits.depth) scanner.fail("fewer steps");
    const index = scanner.match(/-?\d{1,9}(?=->|::|[.,):]|$)/y)?.[0];
    if (index !== undefined) steps.push({ key: Number(index), asText });
    else if (scanner.peek() === '"') steps.push({ key: scanner.quoted(), asText });
    else {
      const key = scanner.match(/(?:(?!->|::|[.,:()]).)+/uy)?.[0];
      if (key === undefined) scanner.fail("any non reserved character different from: .,>()");
      steps.push({ key, asText });
    }
  }
}

function readField(scanner: Scanner): FieldPath {
  return { column: readName(scanner), steps: readSteps(scanner) };
}

/** `id,name,a:meta->a,qty::text` */
export function parseSelect(text: string): SelectItem[] {
  if (text === "") return [{ kind: "all" }];
  const scanner = new Scanner(text, `select parameter (${text.slice(0, 200)})`);
  const items: SelectItem[] = [];
  do {
    if (items.length >= queryLimits.columns) scanner.fail("fewer columns");
    items.push(readSelectItem(scanner));
  } while (scanner.take(","));
  if (!scanner.done) scanner.fail('"," or end of input');
  return items;
}

function readSelectItem(scanner: Scanner): SelectItem {
  if (scanner.take("*")) return { kind: "all" };
  let field = readField(scanner);
  let alias: string | undefined;
  if (field.steps.length === 0 && !scanner.rest.startsWith("::") && scanner.take(":")) {
    alias = field.column;
    field = readField(scanner);
  }
  if (scanner.peek() === "(" || scanner.peek() === "!") throw noRelationship(field.column);
  const cast = scanner.take("::") ? readCast(scanner) : undefined;
  if (scanner.peek() === "." || scanner.peek() === "(") {
    throw new RestError(400, "PGRST123", "Use of aggregate functions is not allowed");
  }
  return { kind: "field", field, alias, cast };
}

/** Our views have no foreign keys that an embedding could follow. */
function noRelationship(name: string): RestError {
  return new RestError(400, "PGRST200", `Could not find a relationship with '${name}' in the schema cache`, {
    details: "Embedding of other relations is not offered here.",
    hint: "Ask for each relation by itself.",
  });
}

function readCast(scanner: Scanner): CastType {
  const name =
    scanner
      .match(/[\p{L}\p{N}_ ]+/uy)?.[0]
      .trim()
      .toLowerCase() ?? "";
  const known = castTypes.find((type) => type === name);
  if (known !== undefined) return known;
  throw new RestError(400, "42704", `type "${name.slice(0, 64)}" does not exist`, {
    hint: `Possible: ${castTypes.join(", ")}.`,
  });
}

/** `qty.desc.nullslast,id` */
export function parseOrder(text: string): OrderTerm[] {
  const scanner = new Scanner(text, `order (${text.slice(0, 200)})`);
  const terms: OrderTerm[] = [];
  do {
    if (terms.length >= queryLimits.orderTerms) scanner.fail("fewer terms");
    const field = readField(scanner);
    const direction = scanner.take(".asc") ? "asc" : scanner.take(".desc") ? "desc" : undefined;
    const nulls = scanner.take(".nullsfirst") ? "first" : scanner.take(".nullslast") ? "last" : undefined;
    terms.push({ field, direction, nulls });
  } while (scanner.take(","));
  if (!scanner.done) scanner.fail('"asc", "desc", "nullsfirst", "nullslast", "," or end of input');
  return terms;
}

/** `id=eq.2`: the name on the left, the operation on the right. */
export function parseFilter(name: string, text: string): Condition {
  const left = new Scanner(name, `tree path (${name.slice(0, 200)})`);
  const field = readField(left);
  if (!left.done) left.fail("end of input");
  const scanner = new Scanner(text, `filter (${text.slice(0, 200)})`);
  const negated = scanner.take("not.");
  const operation = readOperation(scanner, (inner) => {
    const { rest } = inner;
    inner.at += rest.length;
    return rest;
  });
  if (!scanner.done) scanner.fail("end of input");
  return { kind: "field", field, negated, operation };
}

/** `or=(id.eq.1,not.and(a.is.null,b.gt.3))`: the value with its brackets. */
export function parseLogic(joined: "and" | "or", negated: boolean, text: string): Condition {
  const scanner = new Scanner(text, `logic tree (${text.slice(0, 200)})`);
  const members = readMembers(scanner, { left: queryLimits.conditions }, 0);
  if (!scanner.done) scanner.fail("end of input");
  return { kind: "group", joined, negated, members };
}

function readMembers(scanner: Scanner, budget: { left: number }, depth: number): Condition[] {
  if (depth > queryLimits.depth) scanner.fail("fewer levels");
  scanner.expect("(");
  const members: Condition[] = [];
  do {
    budget.left -= 1;
    if (budget.left < 0) scanner.fail("fewer conditions");
    members.push(readMember(scanner, budget, depth));
  } while (scanner.take(","));
  scanner.expect(")");
  return members;
}

function readMember(scanner: Scanner, budget: { left: number }, depth: number): Condition {
  const group = scanner.match(/(not\.)?(and|or)(?=\()/y);
  if (group !== undefined) {
    const joined = group[2] === "or" ? "or" : "and";
    return { kind: "group", joined, negated: group[1] !== undefined, members: readMembers(scanner, budget, depth + 1) };
  }
  const field = readField(scanner);
  scanner.expect(".");
  const negated = scanner.take("not.");
  return { kind: "field", field, negated, operation: readOperation(scanner, readInnerValue) };
}

/** Inside a tree a value ends at a comma or a bracket, unless it is quoted or an array between braces. */
function readInnerValue(scanner: Scanner): string {
  if (scanner.peek() === '"') return scanner.quoted();
  if (scanner.peek() === "{") return scanner.match(/\{[^{}]*\}/y)?.[0] ?? scanner.fail('"}"');
  return scanner.match(/[^,)]*/y)?.[0] ?? "";
}

const operatorPattern = /([a-z]+)(?:\(([a-z_]+)\))?\./y;

function readOperation(scanner: Scanner, readValue: (scanner: Scanner) => string): Operation {
  const start = scanner.at;
  const [, name = "", modifier] = scanner.match(operatorPattern) ?? [];
  const refuse = (): never => {
    scanner.at = start;
    return scanner.fail('"not" or operator (eq, gt, ...)');
  };
  if (name === "in" && modifier === undefined) return { kind: "in", values: readList(scanner) };
  if (name === "is" && modifier === undefined) {
    const word = readValue(scanner).toLowerCase();
    if (isOneOf<IsWord>(word, isWords)) return { kind: "is", word };
    throw new RestError(400, "PGRST100", `"failed to parse filter" (line 1, column ${start + 1})`, {
      details: "unexpected value expecting null, not_null, true, false or unknown",
    });
  }
  if (isOneOf<TextSearch>(name, textSearches)) {
    return { kind: "search", operator: name, language: modifier, value: readValue(scanner) };
  }
  if (!isOneOf<Comparison>(name, comparisons)) return refuse();
  if (modifier === undefined)
    return { kind: "compare", operator: name, quantifier: undefined, value: readValue(scanner) };
  if ((modifier !== "any" && modifier !== "all") || !quantifiable.has(name)) return refuse();
  return { kind: "compare", operator: name, quantifier: modifier, value: readValue(scanner) };
}

function isOneOf<Word extends string>(word: string, words: Readonly<Record<Word, string>>): word is Word {
  return Object.hasOwn(words, word);
}

/** `(1,3,"a,b")` */
function readList(scanner: Scanner): string[] {
  scanner.expect("(");
  const values: string[] = [];
  if (scanner.take(")")) return values;
  do {
    if (values.length >= queryLimits.values) scanner.fail("fewer values");
    values.push(scanner.peek() === '"' ? scanner.quoted() : (scanner.match(/[^,)]*/y)?.[0] ?? ""));
  } while (scanner.take(","));
  scanner.expect(")");
  return values;
}
