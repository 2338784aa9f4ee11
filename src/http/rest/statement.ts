/**
 * Turns a query into SQL: names quoted, values as parameters, everything else from closed lists.
 *
 * Owns: the texts of statements. They contain nothing that a caller sent except quoted names and the number of rows wanted: without that
 * number the planner assumes a tenth of all rows.
 */
import type { BatchValue } from "../../db/batch.ts";
import type { ExposedFunction, ExposedRelation } from "../../db/exposed.ts";
import { textArray } from "../../db/values/array-literal.ts";
import { quoted } from "../database/gateway-database.ts";
import { RestError } from "./errors.ts";
import type { AnswerForm } from "./negotiation.ts";
import {
  comparisons,
  isWords,
  textSearches,
  type Condition,
  type FieldPath,
  type Operation,
  type OrderTerm,
  type ReadQuery,
  type SelectItem,
} from "./query.ts";

export interface Statement {
  readonly text: string;
  readonly values: readonly BatchValue[];
}

/** Collects the values of a statement; each gets the next number. */
class Parameters {
  readonly values: BatchValue[] = [];

  add(value: BatchValue): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** The source of a read: its name in the statement, and the columns that may be named. */
interface Source {
  readonly name: string;
  readonly columns: readonly string[];
}

/** A name that is not a column: the catalogue may be older than the column. */
export class UnknownColumn extends RestError {
  constructor(source: string, column: string) {
    super(400, "42703", `column ${source}.${column.slice(0, 200)} does not exist`);
  }
}

/**
 * Every name that a caller sent becomes SQL here. It is compared with the columns first: where there is no such column, PostgreSQL reads
 * `source.name` as a call of the function `name` with the whole row, which may be an aggregate.
 */
function fieldText(source: Source, { column, steps }: FieldPath, parameters: Parameters): string {
  if (!source.columns.includes(column)) throw new UnknownColumn(source.name, column);
  const name = `${quoted(source.name)}.${quoted(column)}`;
  if (steps.length === 0) return name;
  const path = steps.map(({ key, asText }) => {
    const type = typeof key === "number" ? "pg_catalog.int4" : "pg_catalog.text";
    return `${asText ? "->>" : "->"} ${parameters.add(key)}::${type}`;
  });
  return `(pg_catalog.to_jsonb(${name}) ${path.join(" ")})`;
}

/** Repeating a value would enlarge the answer for nothing, as often as there are names for it. */
function requireOnce(items: readonly SelectItem[]): void {
  const seen = new Set<string>();
  for (const item of items) {
    const value = item.kind === "all" ? "*" : JSON.stringify([item.field.column, ...item.field.steps]);
    if (seen.has(value)) {
      const shown = item.kind === "all" ? "*" : item.field.column.slice(0, 200);
      throw new RestError(400, "42701", `column "${shown}" specified more than once`);
    }
    seen.add(value);
  }
}

function selectText(source: Source, items: readonly SelectItem[], parameters: Parameters): string {
  requireOnce(items);
  return items
    .map((item) => {
      if (item.kind === "all") return `${quoted(source.name)}.*`;
      const { field, alias, cast } = item;
      const value = fieldText(source, field, parameters);
      const shown = cast === undefined ? value : `cast(${value} as ${cast})`;
      const last = field.steps.at(-1)?.key;
      const name = alias ?? (typeof last === "string" ? last : field.column);
      return `${shown} as ${quoted(name)}`;
    })
    .join(", ");
}

function conditionText(source: Source, condition: Condition, parameters: Parameters): string {
  if (condition.kind === "group") {
    const members = condition.members.map((member) => conditionText(source, member, parameters));
    return `${condition.negated ? "not " : ""}(${members.join(` ${condition.joined} `)})`;
  }
  const field = fieldText(source, condition.field, parameters);
  const text = operationText(field, condition.operation, parameters);
  return condition.negated ? `not (${text})` : `(${text})`;
}

function operationText(field: string, operation: Operation, parameters: Parameters): string {
  switch (operation.kind) {
    case "in":
      return `${field} = any (${parameters.add(textArray(operation.values))})`;
    case "is":
      return `${field} is ${isWords[operation.word]}`;
    case "search": {
      const language = operation.language === undefined ? "" : `${parameters.add(operation.language)}::regconfig, `;
      const search = `pg_catalog.${textSearches[operation.operator]}(${language}${parameters.add(operation.value)})`;
      return `${field} @@ ${search}`;
    }
    default: {
      const { operator, quantifier, value } = operation;
      const pattern = operator === "like" || operator === "ilike" ? value.replaceAll("*", "%") : value;
      const parameter = parameters.add(pattern);
      return `${field} ${comparisons[operator]} ${quantifier === undefined ? parameter : `${quantifier} (${parameter})`}`;
    }
  }
}

function whereText(source: Source, conditions: readonly Condition[], parameters: Parameters): string {
  if (conditions.length === 0) return "";
  return ` where ${conditions.map((condition) => conditionText(source, condition, parameters)).join(" and ")}`;
}

function orderText(source: Source, terms: readonly OrderTerm[], parameters: Parameters): string {
  if (terms.length === 0) return "";
  const shown = terms.map(({ field, direction, nulls }) =>
    [fieldText(source, field, parameters), direction ?? "", nulls === undefined ? "" : `nulls ${nulls}`]
      .filter((word) => word !== "")
      .join(" "),
  );
  return ` order by ${shown.join(", ")}`;
}

function pageText({ offset, limit }: ReadQuery, parameters: Parameters): string {
  const limited = limit === undefined ? "" : ` limit ${limit}`;
  return offset === 0 ? limited : `${limited} offset ${parameters.add(offset)}::pg_catalog.int8`;
}

/** Every statement returns one row: the finished body, and the status and headers that the function set. */
const guc = (name: string): string => `nullif(pg_catalog.current_setting('${name}', true), '')`;
const saidByFunction = `${guc("response.status")} as status, ${guc("response.headers")} as headers`;

type ResultKind = "nothing" | "value" | "values" | "row" | "rows";

function resultKind({ returns, returnsSet }: ExposedFunction): ResultKind {
  if (returns === "void") return "nothing";
  if (returns === "row") return returnsSet ? "rows" : "row";
  return returnsSet ? "values" : "value";
}

function bodyText(kind: ResultKind, form: AnswerForm): string {
  if (kind === "nothing") return "null::pg_catalog.text";
  const list =
    kind === "value" || kind === "values"
      ? "pg_catalog.json_agg(page.value)"
      : form.stripNulls
        ? "pg_catalog.json_strip_nulls(pg_catalog.json_agg(page))"
        : "pg_catalog.json_agg(page)";
  if (kind === "row" || kind === "value" || form.single) return `coalesce((${list} -> 0)::text, 'null')`;
  return `coalesce(${list}::text, '[]')`;
}

/** Counting stops here: a caller who asks for a count must not be able to make the database read everything. */
export const maxCounted = 100_000;

/**
 * Counts the matching rows in the caller's session, up to one more than the maximum. It does not use the planner's estimate, which comes
 * from statistics over everybody's rows.
 */
function totalText(from: string, source: Source, query: ReadQuery, parameters: Parameters): string {
  const where = whereText(source, query.conditions, parameters);
  return `(select pg_catalog.count(*) from (select from ${from}${where} limit ${maxCounted + 1}) counted)`;
}

/** Of one answer's body. A longer one is built and measured, but not returned. */
export const maxAnswerBytes = 8 * 1_048_576;

/** The one row that every statement returns: the number of rows, and the finished body unless it is too long. */
function answerText(total: string, body: string, from: string): string {
  return (
    `select answer.total, answer.rows, pg_catalog.octet_length(answer.body) as bytes, ` +
    `case when pg_catalog.octet_length(answer.body) <= ${maxAnswerBytes} then answer.body end as body, answer.status, answer.headers ` +
    `from (select ${total} as total, pg_catalog.count(*) as rows, ${body} as body, ${saidByFunction} from (${from}) page) answer`
  );
}

/** A read of a relation. With `counted`, all rows that match are counted too. */
export function relationStatement(
  schema: string,
  relation: Pick<ExposedRelation, "name" | "columns">,
  query: ReadQuery,
  form: AnswerForm,
  counted: boolean,
): Statement {
  const parameters = new Parameters();
  const from = `${quoted(schema)}.${quoted(relation.name)}`;
  const source = { name: relation.name, columns: relation.columns.map(({ name }) => name) };
  const page =
    `select ${selectText(source, query.select, parameters)} from ${from}${whereText(source, query.conditions, parameters)}` +
    orderText(source, query.order, parameters) +
    pageText(query, parameters);
  const total = counted ? totalText(from, source, query, parameters) : "null::pg_catalog.int8";
  return { text: answerText(total, bodyText("rows", form), page), values: parameters.values };
}

export type CallArguments =
  /** A JSON object; each name becomes an argument of its parameter's type. */
  | { readonly kind: "object"; readonly names: readonly string[]; readonly json: string }
  | { readonly kind: "whole"; readonly value: BatchValue };

/** A call whose answer is used unchanged; with `query`, its rows are filtered and shaped like those of a relation. */
export function callStatement(
  schema: string,
  called: ExposedFunction,
  given: CallArguments,
  form: AnswerForm,
  query: ReadQuery | undefined,
  counted: boolean,
  maxRows: number,
): Statement {
  const parameters = new Parameters();
  const name = `${quoted(schema)}.${quoted(called.name)}`;
  const [from, list] = argumentsText(called, given, parameters);
  const alias = called.returns === "row" ? "as called" : "as called(value)";
  const source = `select called.* from ${from}${name}(${list}) ${alias}`;
  const body = bodyText(resultKind(called), form);
  if (query === undefined) {
    const limit = called.returnsSet ? ` limit ${maxRows}` : "";
    return { text: answerText("null::pg_catalog.int8", body, `${source}${limit}`), values: parameters.values };
  }
  const rows = { name: "called", columns: called.columns };
  const page =
    `select ${selectText(rows, query.select, parameters)} from called${whereText(rows, query.conditions, parameters)}` +
    orderText(rows, query.order, parameters) +
    pageText(query, parameters);
  const total = counted ? totalText("called", rows, query, parameters) : "null::pg_catalog.int8";
  return {
    text: `with called as materialized (${source}) ${answerText(total, body, page)}`,
    values: parameters.values,
  };
}

function argumentsText(
  { parameters: declared }: ExposedFunction,
  given: CallArguments,
  parameters: Parameters,
): [from: string, list: string] {
  if (given.kind === "whole") return ["", `${parameters.add(given.value)}::${declared[0]?.type ?? "pg_catalog.text"}`];
  const used = declared.filter((parameter) => given.names.includes(parameter.name ?? ""));
  if (used.length === 0) return ["", ""];
  const columns = used.map((parameter) => `${quoted(parameter.name ?? "")} ${parameter.type}`);
  const list = used.map((parameter) => {
    const argument = quoted(parameter.name ?? "");
    return `${parameter.variadic ? "variadic " : ""}${argument} := given.${argument}`;
  });
  const record = `pg_catalog.json_to_record(${parameters.add(given.json)}::pg_catalog.json) as given(${columns.join(", ")})`;
  return [`${record}, lateral `, list.join(", ")];
}
