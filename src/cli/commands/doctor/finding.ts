/** What a check of the doctor reports. */
import { HeadroomError } from "../../../db/errors.ts";

export interface Finding {
  /** One or two words that stay the same, because programs read them too. */
  readonly check: string;
  /** `skipped`: it could not be checked here, and the message says why. */
  readonly status: "ok" | "warning" | "failure" | "skipped";
  /** What was found, as a sentence. */
  readonly message: string;
  /** How to fix it, or how to get it checked; undefined if there is nothing to do. */
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

/** The result of work that only some logins may do; undefined for the others. */
export async function ifAllowed<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof HeadroomError && (error.code === "permission_denied" || error.code === "not_allowed"))
      return undefined;
    throw error;
  }
}

/** A check that this login may not make is skipped and says who may make it; the others continue. */
export async function unlessRefused(check: string, work: Promise<Finding>, remedy = askAsControl): Promise<Finding> {
  return (await ifAllowed(work)) ?? skipped(check, "This login may not see what this check needs.", remedy);
}

/** The remedy if this login may not see something. */
export const askAsControl =
  "Run headroom doctor as a member of headroom_control, or as the role that runs headroom migrate.";

/** The remedy if only the migrator may see something. */
export const askAsMigrator = "Run headroom doctor as the role that runs headroom migrate.";
