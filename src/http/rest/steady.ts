/**
 * Which reads are worth preparing: those whose plan is the same whatever the values are, and is not large.
 *
 * A prepared statement is soon run with one plan for all values. If a condition matches few rows for one value and most rows for another,
 * that plan can be far slower than one made for the value, so such reads are planned each time.
 */
import type { Condition, ReadQuery } from "./query.ts";

/** A column may cost a separate query each time it is named. */
const maxOrderTerms = 3;

/** A whole list, or a read by one id; each column at most once. */
export function isSteady({ select, conditions, order }: ReadQuery): boolean {
  const [only, ...more] = conditions;
  const columns = select.map((item) => (item.kind === "all" ? "*" : item.field.column));
  return (
    more.length === 0 &&
    (only === undefined || isOneId(only)) &&
    order.length <= maxOrderTerms &&
    new Set(columns).size === columns.length &&
    (columns.length === 1 || !columns.includes("*"))
  );
}

function isOneId(condition: Condition): boolean {
  if (condition.kind === "group" || condition.negated) return false;
  const { field, operation } = condition;
  return (
    field.column === "id" &&
    field.steps.length === 0 &&
    operation.kind === "compare" &&
    operation.operator === "eq" &&
    operation.quantifier === undefined
  );
}
