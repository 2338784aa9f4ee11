/**
 * Limits on the cost of a query that a statement timeout enforces too late: the rest of the workspace waits meanwhile.
 *
 * Owns: how many patterns and JSON paths there are, how long a pattern is, and which regular expressions are allowed. Does not own: the
 * grammar (query-string.ts), nor how much time a member may use in total (database/gateway-database.ts).
 */
import { RestError } from "./errors.ts";
import type { Condition, FieldPath, Operation, ReadQuery } from "./query.ts";

/** Limits on one request; no legitimate request comes near them. */
const most = { conditions: 200, patterns: 10, patternChars: 200, paths: 50 } as const;

export function checkCost({ select, conditions, order }: ReadQuery): void {
  const members = conditions.flatMap(membersOf);
  const operations = members.map(({ operation }) => operation);
  const patterns = operations.filter(isPattern);
  const fields: readonly FieldPath[] = [
    ...select.flatMap((item) => (item.kind === "all" ? [] : [item.field])),
    ...members.map(({ field }) => field),
    ...order.map(({ field }) => field),
  ];
  if (members.length > most.conditions) throw tooMuch("Too many conditions.");
  if (patterns.length > most.patterns) throw tooMuch(`More than ${most.patterns} patterns and searches.`);
  if (patterns.some(({ value }) => value.length > most.patternChars)) {
    throw tooMuch(`A pattern or search of more than ${most.patternChars} characters.`);
  }
  if (fields.filter(({ steps }) => steps.length > 0).length > most.paths) {
    throw tooMuch(`More than ${most.paths} paths into JSON.`);
  }
  for (const pattern of patterns) if (isRegularExpression(pattern)) checkRegularExpression(pattern);
}

function membersOf(condition: Condition): Extract<Condition, { kind: "field" }>[] {
  return condition.kind === "field" ? [condition] : condition.members.flatMap(membersOf);
}

type Pattern = Extract<Operation, { kind: "compare" | "search" }>;
const patternOperators: ReadonlySet<string> = new Set(["like", "ilike", "match", "imatch"]);

/** Operators that compare with a whole text, for each row that is read. */
function isPattern(operation: Operation): operation is Pattern {
  return operation.kind === "search" || (operation.kind === "compare" && patternOperators.has(operation.operator));
}

function isRegularExpression({ operator }: Pattern): boolean {
  return operator === "match" || operator === "imatch";
}

const token = new RegExp(
  [
    String.raw`(?<atom>[^\\^$.|?*+(){}[\]]|\.|\\[dswDSW]|\\[^\p{L}\p{N}]|\[\^?(?:[\x20-\x5a\x5e-\x7e]|\\[dsw]|\\[^\p{L}\p{N}])+\])`,
    String.raw`(?<times>[*+?]\??)|(?<bound>\{[0-9](?:,[0-9]?)?\}\??)`,
    String.raw`(?<anchor>\^|\$|\\[mMyYAZ])`,
    String.raw`(?<open>\((?:\?:)?)|(?<close>\))|(?<or>\|)`,
  ].join("|"),
  "uy",
);

/** Each may double the work of compiling: sixteen of them take twenty seconds. */
const maxAnchors = 4;

/**
 * Whether PostgreSQL's engine compiles a regular expression quickly, and matches it in time proportional to the text. Back-references make
 * it try everything; nested groups and large bounds multiply its states; look-around, and anchors that are many or inside a repeated
 * part, take seconds to compile; and a range of letters outside ASCII is expanded letter by letter.
 */
function isOffered(expression: string): boolean {
  let repeatable: "no" | "group" | "atom" = "no";
  let group: "none" | "plain" | "anchored" = "none";
  let anchors = 0;
  token.lastIndex = 0;
  while (token.lastIndex < expression.length) {
    const { times, bound, anchor, open, close, or, atom } = token.exec(expression)?.groups ?? {};
    if (times !== undefined && repeatable !== "no") repeatable = "no";
    else if (bound !== undefined && repeatable === "atom") repeatable = "no";
    else if (open !== undefined && group === "none") [group, repeatable] = ["plain", "no"];
    else if (close !== undefined && group !== "none") {
      [repeatable, group] = [group === "plain" ? "group" : "no", "none"];
    } else if (anchor !== undefined && anchors < maxAnchors) {
      [group, repeatable] = [group === "none" ? "none" : "anchored", "no"];
      anchors += 1;
    } else if (atom !== undefined) repeatable = "atom";
    else if (or !== undefined) repeatable = "no";
    else return false;
  }
  return group === "none";
}

/** In a list (`match(any).{^a,b$}`) a backslash belongs to the list. */
function checkRegularExpression(pattern: Pattern): void {
  const isList = pattern.kind === "compare" && pattern.quantifier !== undefined;
  const { value } = pattern;
  if (isList ? !value.includes("\\") && isOffered(value.replace(/^\{(.*)\}$/s, "$1")) : isOffered(value)) return;
  throw new RestError(400, "2201B", "invalid regular expression: it is of a kind that is not offered here", {
    details:
      "Offered are characters, classes of ASCII, groups that are not nested, * + ? and, behind a character or class, bounds below 10; and four anchors outside of what is repeated.",
    hint: "Use like or ilike, or a simpler expression.",
  });
}

function tooMuch(what: string): RestError {
  return new RestError(400, "PGRST100", what, { hint: "Ask for less at once." });
}
