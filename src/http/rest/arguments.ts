/**
 * The arguments of a call, from a body or a query string.
 *
 * JSON is passed to the database as it came, so that numbers keep every digit. Here only the names in it are read.
 */
import type { BatchValue } from "../../db/batch.ts";
import { HeadroomError } from "../../db/errors.ts";
import type { ExposedFunction } from "../../db/exposed.ts";
import { excessOf } from "../../db/values/json-excess.ts";
import { readFields } from "../../web/form.ts";
import { decodeText } from "../request/body.ts";
import { RestError } from "./errors.ts";
import type { BodyKind } from "./negotiation.ts";
import { wholeBody, type GivenArguments } from "./resolve.ts";
import type { CallArguments } from "./statement.ts";

const maxJsonDepth = 200;

/** The arguments, as far as they are known before the function is. */
export type ReadArguments = {
  readonly given: GivenArguments;
  /** Once the function is known. */
  readonly bind: (called: ExposedFunction, whole: boolean) => CallArguments;
};

export function argumentsOfBody(kind: BodyKind, bytes: Uint8Array<ArrayBuffer>, singleObject: boolean): ReadArguments {
  switch (kind) {
    case "text":
      return wholeArgument(wholeBody.text, decoded(bytes));
    case "bytes":
      return wholeArgument(wholeBody.bytes, Buffer.from(bytes));
    case "form":
      return argumentsOfForm(decoded(bytes));
    default:
      return argumentsOfJson(decoded(bytes), singleObject);
  }
}

function argumentsOfForm(text: string): ReadArguments {
  const fields = readFields(text);
  if (fields === undefined) throw new RestError(400, "PGRST102", "The form has too many fields");
  return argumentsOfPairs([...fields]);
}

/** In the format of the REST surface, which has only one for errors. */
function decoded(bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (error instanceof HeadroomError) throw new RestError(400, "PGRST102", error.message, { hint: error.hint });
    throw error;
  }
}

function wholeArgument(given: GivenArguments, value: BatchValue): ReadArguments {
  return { given, bind: () => ({ kind: "whole", value }) };
}

function argumentsOfJson(text: string, singleObject: boolean): ReadArguments {
  const json = text.trim() === "" ? "{}" : text;
  const parsed = parse(json);
  if (singleObject) return wholeArgument(wholeBody.json, json);
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  const names = isObject ? Object.keys(parsed) : [];
  // A value that is not an object can only be meant for a parameter without a name.
  const given: GivenArguments = isObject ? { kind: "named", names, orJson: true } : wholeBody.json;
  return {
    given,
    bind: (_called, whole) => (whole ? { kind: "whole", value: json } : { kind: "object", names, json }),
  };
}

function refuseExcess(json: string): void {
  const excess = excessOf(json, maxJsonDepth);
  if (excess !== undefined) throw new RestError(400, "PGRST102", `The JSON ${excess}`);
}

function parse(json: string): unknown {
  refuseExcess(json);
  try {
    return JSON.parse(json) as unknown;
  } catch {
    throw new RestError(400, "PGRST102", "Empty or invalid json");
  }
}

/** A form or a query string contains only text. A parameter of a JSON type parses the text as JSON if it can. */
export function argumentsOfPairs(pairs: readonly (readonly [string, string])[]): ReadArguments {
  const names = [...new Set(pairs.map(([name]) => name))];
  return {
    given: { kind: "named", names, orJson: false },
    bind(called) {
      const values = names.map((name) => {
        const given = pairs.filter(([other]) => other === name).map(([, value]) => value);
        const parameter = called.parameters.find((candidate) => candidate.name === name);
        const value = parameter?.variadic === true ? given : (given.at(-1) ?? "");
        return `${JSON.stringify(name)}:${jsonOf(value, parameter?.type ?? "")}`;
      });
      return { kind: "object", names, json: `{${values.join(",")}}` };
    },
  };
}

function jsonOf(value: string | readonly string[], type: string): string {
  if (typeof value !== "string" || !/^pg_catalog\.jsonb?$/.test(type)) return JSON.stringify(value);
  refuseExcess(value);
  try {
    JSON.parse(value);
    return value;
  } catch {
    return JSON.stringify(value);
  }
}
