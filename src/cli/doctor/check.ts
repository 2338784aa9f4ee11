/** What a check of the doctor says. */

export interface Finding {
  /** A word or two, stable, for machines too. */
  readonly check: string;
  readonly status: "ok" | "warning" | "failure";
  /** What was found, as a sentence. */
  readonly message: string;
  /** How to mend it; nothing when all is well. */
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
