/**
 * Stripe's form encoding: `line_items[0][price_data][currency]=usd` becomes nested objects and lists.
 */
import { readFields } from "../../web/form.ts";

export type FormValue = string | FormValue[] | { [name: string]: FormValue };

const maxDepth = 8;

export class FormError extends Error {
  override readonly name = "FormError";
}

export function readForm(text: string): Record<string, FormValue> {
  const root = new Map<string, Branch>();
  const fields = readFields(text);
  if (fields === undefined) throw new FormError("Received too many parameters");
  for (const [name, value] of fields) {
    const path = [...name.matchAll(/^[^[\]]+|\[([^[\]]*)\]/g)].map((match) => match[1] ?? match[0]);
    if (path.length === 0 || path.length > maxDepth)
      throw new FormError(`Received unknown parameter: ${name.slice(0, 100)}`);
    put(root, path, value);
  }
  return Object.fromEntries([...root].map(([name, branch]) => [name, valueOf(branch)]));
}

type Branch = string | Map<string, Branch>;

function put(branch: Map<string, Branch>, path: readonly string[], value: string): void {
  const [first = "", ...rest] = path;
  const name = first === "" ? String(branch.size) : first;
  if (rest.length === 0) {
    branch.set(name, value);
    return;
  }
  const existing = branch.get(name);
  const next = existing instanceof Map ? existing : new Map<string, Branch>();
  branch.set(name, next);
  put(next, rest, value);
}

/** Names that are 0, 1, 2, … make a list. */
function valueOf(branch: Branch): FormValue {
  if (typeof branch === "string") return branch;
  const entries = [...branch];
  const isList = entries.length > 0 && entries.every(([name], index) => name === String(index));
  if (isList) return entries.map(([, each]) => valueOf(each));
  return Object.fromEntries(entries.map(([name, each]) => [name, valueOf(each)]));
}
