/** Which providers this process has settings for: what a relay that is started here would bring. */
import { HeadroomError } from "../../db/errors.ts";
import { checkEnvironment, providerStatus, type Environment } from "../relay/provider-rails.ts";
import { failure, ok, type Finding } from "./check.ts";

/** Beside `headroom up`: what it delivers to does not depend on this process. */
export const sandboxProviders: Finding = ok(
  "providers",
  "Those of the sandbox: `headroom up` delivers to its own stand-ins. Real ones need a database of yours, and a relay with their settings.",
);

export function checkProviders(environment: Environment = process.env): Finding {
  try {
    checkEnvironment(environment);
  } catch (error) {
    if (!(error instanceof HeadroomError)) throw error;
    return failure("providers", error.message, error.hint ?? "Mend the environment.");
  }
  const all = providerStatus(environment);
  const used = all.filter((status) => status.used).map(({ name, rails }) => `${name} (${rails.join(", ")})`);
  const unused = all.filter((status) => !status.used).map(({ name, required }) => `${name} (${required.join(", ")})`);
  const there = used.length === 0 ? "None is set up in this environment" : `Set up here: ${used.join(", ")}`;
  return ok("providers", `${there}.${unused.length === 0 ? "" : ` Not set up: ${unused.join(", ")}.`}`);
}
