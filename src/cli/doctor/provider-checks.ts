/**
 * Do the providers that this installation needs answer? Which it needs, its workspaces and what is set in this environment say; each is
 * asked something harmless, with the settings that a relay started here would have.
 */
import { ZodError } from "zod";
import { HeadroomError } from "../../db/errors.ts";
import { accessCheckMs, type AccessProblem } from "../../rails/access-check.ts";
import {
  checkEnvironment,
  checkProviderAccess,
  providerStatus,
  type Environment,
  type ProviderStatus,
} from "../relay/provider-rails.ts";
import { failure, ok, skipped, warning, type Finding } from "./check.ts";
import { inWorkspaces, isServed, type Facts, type WorkspaceNeeds } from "./facts.ts";

/** Beside `headroom up`: what it delivers to does not depend on this process. */
export const sandboxProviders: Finding = ok(
  "providers",
  "Those of the sandbox: `headroom up` delivers to its own stand-ins. Real ones need a database of yours, and a relay with their settings.",
);

/** What of the installation the providers' checks go by; without a database there is none. */
export type Surroundings = Pick<Facts, "environment" | "workspaces" | "rails">;

export async function checkProviders(facts: Surroundings, offline: boolean): Promise<Finding[]> {
  try {
    checkEnvironment(facts.environment);
  } catch (error) {
    if (!(error instanceof HeadroomError)) throw error;
    return [failure("providers", error.message, error.hint ?? "Mend the environment.")];
  }
  const all = providerStatus(facts.environment);
  const checks = [...new Set(all.map(({ check }) => check))];
  return Promise.all(checks.map((check) => providerFinding(check, all, facts, offline)));
}

interface Need {
  /** Null: nothing needs it. */
  readonly why: string | null;
  /** Channels or teams that matter. */
  readonly places: readonly string[];
}

function by(concerned: readonly WorkspaceNeeds[], what: string): string | null {
  return concerned.length === 0 ? null : `${what} in ${inWorkspaces(concerned)}`;
}

function needOf(check: string, workspaces: readonly WorkspaceNeeds[]): Need {
  const used = workspaces.filter((workspace) => workspace.in_use);
  if (check === "slack") {
    const concerned = used.filter((workspace) => workspace.slack_connected);
    return { why: by(concerned, "Requests are posted"), places: concerned.flatMap((each) => each.slack_channels) };
  }
  if (check === "linear") {
    const concerned = used.filter((workspace) => workspace.linear_team_id !== null);
    return {
      why: by(concerned, "Requests have issues"),
      places: concerned.flatMap((each) => each.linear_team_id ?? []),
    };
  }
  if (check === "mail") return { why: by(used, "Customers are asked by mail"), places: [] };
  return { why: null, places: [] };
}

async function providerFinding(
  check: string,
  all: readonly ProviderStatus[],
  facts: Surroundings,
  offline: boolean,
): Promise<Finding> {
  const candidates = all.filter((status) => status.check === check);
  const set = candidates.find((status) => status.used);
  const { why, places } = needOf(check, facts.workspaces ?? []);
  if (set !== undefined) {
    if (offline) return skipped(check, `${set.name} is set up here. Not asked (--offline).`);
    return askProvider(set, facts.environment, [...new Set(places)]);
  }
  const variables = candidates.map(({ required }) => required.join(" and ")).join(", or ");
  if (why === null) return ok(check, `Not set up here (${variables}), and nothing needs it.`);
  if (candidates.some(({ rails }) => rails.every((rail) => isServed(facts, rail)))) {
    return skipped(
      check,
      `${why}; a relay serves it, with settings that are not here.`,
      "To have it asked, run this in the environment of that relay.",
    );
  }
  return failure(
    check,
    `${why}, but ${variables} is not set here, and no relay serves it.`,
    `Set ${variables} in the relay's environment, and start it: headroom relay (docs/guides/rails.md).`,
  );
}

async function askProvider(
  status: ProviderStatus,
  environment: Environment,
  places: readonly string[],
): Promise<Finding> {
  const { name, check } = status;
  try {
    const result = await checkProviderAccess(name, environment, places, AbortSignal.timeout(accessCheckMs));
    if (result.kind === "answers") return ok(check, `${name} answers, as ${result.as}.`);
    const say = result.grave ? failure : warning;
    return say(check, `${name}: ${result.reason}`, remedyOf(result, status));
  } catch (error) {
    // Settings of the wrong form; the error names fields and rules, never values.
    if (error instanceof ZodError) {
      return failure(check, `${name} answers, and not as ${name} does.`, "Check that its address is the right one.");
    }
    if (!(error instanceof HeadroomError)) throw error;
    return failure(
      check,
      `${name}: ${error.message} ${error.detail ?? ""}`.trimEnd(),
      `Mend ${status.required.join(", ")}.`,
    );
  }
}

function remedyOf({ what, remedy }: AccessProblem, { name, required, optional }: ProviderStatus): string {
  if (remedy !== undefined) return remedy;
  if (what === "refused")
    return `Put a valid one into ${required.join(", ")}, here and for every relay, and restart them.`;
  const address = [...required, ...optional].filter((variable) => variable.endsWith("_URL")).join(", ");
  if (what === "unreachable") {
    return `Check ${address === "" ? "the network" : address}, and that it can be reached from here (DNS, firewall, proxy).`;
  }
  return `Look at what ${name} says; docs/reference/rails.md has its codes.`;
}
