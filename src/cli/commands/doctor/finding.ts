/** What a check of the doctor reports. */
import { HeadroomError } from "../../../db/errors.ts";

export interface Finding {
  /** One or two words that stay the same, because programs read them too. */
  readonly check: string;
  /** `skipped`: it could not be checked from here, and the message says why. */
  readonly status: "ok" | "warning" | "failure" | "skipped";
  /** What was found, as a sentence. */
  readonly message: string;
  /** How to fix it, or how to have it checked; undefined when there is nothing to do. */
  readonly remedy?: string | undefined;
}

export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, status: "warning", message, remedy };
}

export function failure(check: string, message: string, remedy: string): Finding {
  return { check, status: "failure", message, remedy };
}

export function skipped(check: string, message: string, remedy?: string): Finding {
  return { check, status: "skipped", message, remedy };
}

/** The answer to what only some logins may ask; undefined for the others. */
export async function ifAllowed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HeadroomError && (error.code === "permission_denied" || error.code === "not_allowed"))
      return undefined;
    throw error;
  }
}

/** A check whose question this login may not ask is left out, and says who may; the others go on. */
export async function unlessRefused(check: string, work: Promise<Finding>, remedy = askAsControl): Promise<Finding> {
  return (await ifAllowed(work)) ?? skipped(check, "This login may not see what this check needs.", remedy);
}

/** For what this login may not see. */
export const askAsControl =
  "Run headroom doctor as a member of headroom_control, or as the role that runs headroom migrate.";

/** For what only the migrator may see. */
export const askAsMigrator = "Run headroom doctor as the role that runs headroom migrate.";
