/**
 * Turns a query into SQL: names quoted, values as parameters, everything else from closed lists.
 *
 * Owns: the texts of statements. Nothing that a caller sent stands in one except as a quoted name, and how many rows are wanted: a plan that does
 * not know it is made for a tenth of all.
 */
import type { BatchValue } from "../../db/batch.ts";
import type { ExposedFunction } from "../../db/exposed.ts";
import { textArray } from "../../db/array-literal.ts";
import { quoted } from "../database/gateway-database.ts";
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

function fieldText(source: string, { column, steps }: FieldPath, parameters: Parameters): string {
  const name = `${source}.${quoted(column)}`;
  if (steps.length === 0) return name;
  const path = steps.map(({ key, asText }) => {
    const type = typeof key === "number" ? "pg_catalog.int4" : "pg_catalog.text";
    return `${asText ? "->>" : "->"} ${parameters.add(key)}::${type}`;
  });
  return `(pg_catalog.to_jsonb(${name}) ${path.join(" ")})`;
}

function selectText(source: string, items: readonly SelectItem[], parameters: Parameters): string {
  return items
    .map((item) => {
      if (item.kind === "all") return `${source}.*`;
      const { field, alias, cast } = item;
      const value = fieldText(source, field, parameters);
      const shown = cast === undefined ? value : `cast(${value} as ${cast})`;
      const last = field.steps.at(-1)?.key;
      const name = alias ?? (typeof last === "string" ? last : field.column);
      return `${shown} as ${quoted(name)}`;
    })
    .join(", ");
}

function conditionText(source: string, condition: Condition, parameters: Parameters): string {
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

function whereText(source: string, conditions: readonly Condition[], parameters: Parameters): string {
  if (conditions.length === 0) return "";
  return ` where ${conditions.map((condition) => conditionText(source, condition, parameters)).join(" and ")}`;
}

function orderText(source: string, terms: readonly OrderTerm[], parameters: Parameters): string {
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

/** What every statement answers with: one row that holds the finished body and what the function said of the answer. */
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

/** What has more rows is not counted further: whoever asks for a number must not be able to make the database read everything. */
export const mostCounted = 100_000;

/**
 * How many rows match, by counting them, in the caller's session; one more than the most where there are more. Never by the planner's
 * expectation: it comes from statistics over everybody's rows.
 */
function totalText(from: string, source: string, query: ReadQuery, parameters: Parameters): string {
  const where = whereText(source, query.conditions, parameters);
  return `(select pg_catalog.count(*) from (select from ${from}${where} limit ${mostCounted + 1}) counted)`;
}

/** A read of a relation. With `counted`, all rows that match are counted too. */
export function relationStatement(
  schema: string,
  relation: string,
  query: ReadQuery,
  form: AnswerForm,
  counted: boolean,
): Statement {
  const parameters = new Parameters();
  const from = `${quoted(schema)}.${quoted(relation)}`;
  const source = quoted(relation);
  const page =
    `select ${selectText(source, query.select, parameters)} from ${from}${whereText(source, query.conditions, parameters)}` +
    orderText(source, query.order, parameters) +
    pageText(query, parameters);
  const total = counted ? totalText(from, source, query, parameters) : "null::pg_catalog.int8";
  const text = `select ${total} as total, pg_catalog.count(*) as rows, ${bodyText("rows", form)} as body, ${saidByFunction} from (${page}) page`;
  return { text, values: parameters.values };
}

export type CallArguments =
  /** A JSON object; each name becomes an argument of its parameter's type. */
  | { readonly kind: "object"; readonly names: readonly string[]; readonly json: string }
  | { readonly kind: "whole"; readonly value: BatchValue };

/** A call whose answer is taken as it is; with `query`, its rows are filtered and shaped like those of a relation. */
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
  const answer = (total: string): string =>
    `select ${total} as total, pg_catalog.count(*) as rows, ${body} as body, ${saidByFunction}`;
  if (query === undefined) {
    const limit = called.returnsSet ? ` limit ${maxRows}` : "";
    return { text: `${answer("null::pg_catalog.int8")} from (${source}${limit}) page`, values: parameters.values };
  }
  const page =
    `select ${selectText("called", query.select, parameters)} from called${whereText("called", query.conditions, parameters)}` +
    orderText("called", query.order, parameters) +
    pageText(query, parameters);
  const total = counted ? totalText("called", "called", query, parameters) : "null::pg_catalog.int8";
  return {
    text: `with called as materialized (${source}) ${answer(total)} from (${page}) page`,
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
