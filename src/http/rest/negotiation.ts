/**
 * Reads what the headers of a request ask for: the form of the answer (Accept), the kind of body (Content-Type), the schema (profile)
 * and preferences (Prefer).
 */
import { RestError } from "./errors.ts";

export interface AnswerForm {
  /** One object instead of a list; any number of rows other than one is refused. */
  readonly single: boolean;
  readonly stripNulls: boolean;
  readonly contentType: string;
}

const forms: Readonly<Record<string, AnswerForm>> = {
  list: { single: false, stripNulls: false, contentType: "application/json; charset=utf-8" },
  single: { single: true, stripNulls: false, contentType: "application/vnd.pgrst.object+json; charset=utf-8" },
  strippedList: {
    single: false,
    stripNulls: true,
    contentType: "application/vnd.pgrst.array+json; nulls=stripped; charset=utf-8",
  },
  strippedSingle: {
    single: true,
    stripNulls: true,
    contentType: "application/vnd.pgrst.object+json; nulls=stripped; charset=utf-8",
  },
};

/** The first acceptable type wins; a missing header accepts anything. */
export function parseAccept(header: string | null): AnswerForm {
  const offered = (header ?? "*/*").split(",").map((part) => part.trim());
  for (const part of offered) {
    const form = formOf(part);
    if (form !== undefined) return form;
  }
  throw new RestError(406, "PGRST107", `None of these media types are available: ${offered.join(", ").slice(0, 200)}`);
}

function formOf(part: string): AnswerForm | undefined {
  const [type = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
  const stripped = parameters.includes("nulls=stripped");
  switch (type) {
    case "*/*":
    case "application/*":
    case "application/json":
      return forms["list"];
    case "application/vnd.pgrst.array+json":
    case "application/vnd.pgrst.array":
      return stripped ? forms["strippedList"] : forms["list"];
    case "application/vnd.pgrst.object+json":
    case "application/vnd.pgrst.object":
      return stripped ? forms["strippedSingle"] : forms["single"];
    default:
      return undefined;
  }
}

export type BodyKind = "json" | "form" | "text" | "bytes";

export function parseContentType(header: string | null): BodyKind {
  const type = (header ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "" || type === "application/json" || /^application\/[a-z0-9.-]+\+json$/.test(type)) return "json";
  if (type === "application/x-www-form-urlencoded") return "form";
  if (type === "text/plain") return "text";
  if (type === "application/octet-stream") return "bytes";
  throw new RestError(400, "PGRST102", `Content-Type not acceptable: ${type.slice(0, 100)}`);
}

/** One schema is exposed. Naming it is allowed, naming another is not. */
export function checkProfile(headers: Headers, schema: string): void {
  for (const name of ["accept-profile", "content-profile"]) {
    const asked = headers.get(name);
    if (asked !== null && asked !== schema) {
      throw new RestError(406, "PGRST106", `The schema must be one of the following: ${schema}`);
    }
  }
}

export interface Preferences {
  readonly count: "exact" | "planned" | "estimated" | undefined;
  readonly singleObject: boolean;
  readonly applied: string | undefined;
}

const noPreferences: Preferences = { count: undefined, singleObject: false, applied: undefined };

const ignoredPreferences = /^(return|resolution|missing|tx|timezone|max-affected)=/;

export function parsePrefer(header: string | null): Preferences {
  if (header === null) return noPreferences;
  const preferences = header.split(",").map((preference) => preference.trim());
  const applied: string[] = [];
  const wanted = (name: string): boolean => preferences.includes(name) && applied.push(name) > 0;
  const count = (["exact", "planned", "estimated"] as const).find((kind) => wanted(`count=${kind}`));
  const singleObject = wanted("params=single-object");
  if (preferences.includes("handling=strict")) {
    const unknown = preferences.filter(
      (preference) =>
        preference !== "" &&
        !applied.includes(preference) &&
        !preference.startsWith("handling=") &&
        !ignoredPreferences.test(preference),
    );
    if (unknown.length > 0) {
      throw new RestError(400, "PGRST122", "Invalid preferences given with handling=strict", {
        details: `Invalid preferences: ${unknown.join(", ").slice(0, 200)}`,
      });
    }
    applied.unshift("handling=strict");
  }
  return { count, singleObject, applied: applied.length === 0 ? undefined : applied.join(", ") };
}
