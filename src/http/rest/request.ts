/**
 * Parses a request of the REST surface: which parts of its query string are conditions, and which are arguments.
 */
import { parsePage } from "./range.ts";
import type { Condition, ReadQuery } from "./query.ts";
import { checkCost } from "./query-cost.ts";
import { parseFilter, parseLogic, parseOrder, parseSelect } from "./query-string.ts";

const shaping = new Set(["select", "order", "limit", "offset", "columns", "on_conflict"]);

export interface SplitQuery {
  readonly read: ReadQuery;
  /** True when the request asks for the whole result. */
  readonly plain: boolean;
}

/** `isArgument` tells which parameters belong to a function; they are left out here. */
export function readQuery(
  params: URLSearchParams,
  rangeHeader: string | null,
  maxRows: number,
  isArgument: (name: string) => boolean = () => false,
): SplitQuery {
  const conditions: Condition[] = [];
  let shaped = rangeHeader !== null;
  for (const [name, value] of params) {
    if (shaping.has(name)) {
      shaped = true;
      continue;
    }
    if (isArgument(name)) continue;
    const logic = /^(not\.)?(and|or)$/.exec(name);
    conditions.push(
      logic === null
        ? parseFilter(name, value)
        : parseLogic(logic[2] === "or" ? "or" : "and", logic[1] !== undefined, value),
    );
  }
  const order = params.get("order");
  const page = parsePage(params, rangeHeader, maxRows);
  const read = {
    select: parseSelect((params.get("select") ?? "").replaceAll(/\s/g, "")),
    conditions,
    order: order === null || order === "" ? [] : parseOrder(order),
    ...page,
  };
  checkCost(read);
  return { read, plain: !shaped && conditions.length === 0 };
}

/** The address of the same result, with sorted parameters, as in PostgREST. */
export function contentLocation(path: string, params: URLSearchParams): string {
  const sorted = [...params].toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
  const shown = sorted.map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return shown.length === 0 ? path : `${path}?${shown.join("&")}`;
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}
