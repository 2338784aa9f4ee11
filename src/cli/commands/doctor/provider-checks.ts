/**
 * Do the providers that this installation needs answer? Its workspaces, this environment and the database determine which
 * ones are needed. Each gets a call that changes nothing, with the settings that a relay started here
 * would have.
 */
import { ZodError } from "zod";
import { HeadroomError } from "../../../db/errors.ts";
import { accessCheckMs, type AccessProblem } from "../../../rails/access-check.ts";
import {
  checkEnvironment,
  checkProviderAccess,
  completeWith,
  providerStatus,
  valueOf,
  type Completed,
  type Places,
  type ProviderStatus,
} from "../../relay/provider-rails.ts";
import type { ConnectedWorkflows } from "../../../provisioning/index.ts";
import { pricedIn } from "./billing-checks.ts";
import { inWorkspaces, isServed, type Facts, type WorkspaceNeeds } from "./facts.ts";
import { askAsControl, failure, ok, skipped, warning, type Finding } from "./finding.ts";

/** Next to a running `headroom up`, which delivers to its own stand-ins, whatever this environment has. */
export const sandboxProviders: Finding = ok(
  "providers",
  "`headroom up` delivers to the stand-ins of its sandbox. Real providers need your own database, and a relay with their settings.",
);

/** What the checks of providers need to know; without a database, only the environment. */
export type Surroundings = Pick<Facts, "environment" | "workspaces" | "connected" | "money" | "rails" | "credentials">;

export async function checkProviders(facts: Surroundings, offline: boolean): Promise<Finding[]> {
  const completed = completeWith(facts.credentials.values ?? new Map<string, string>(), facts.environment);
  try {
    checkEnvironment(completed.environment);
  } catch (error) {
    if (!(error instanceof HeadroomError)) throw error;
    return [failure("providers", error.message, error.hint ?? "Correct the environment variables.")];
  }
  const all = providerStatus(completed.environment);
  const checks = [...new Set(all.map(({ check }) => check))];
  const findings = await Promise.all(checks.map((check) => providerFinding(check, all, facts, completed, offline)));
  const unused = completed.unused.map((message) =>
    warning(
      "credentials",
      message,
      "headroom secret list shows what is stored; headroom secret set or remove changes it.",
    ),
  );
  return [...findings, ...unused];
}

interface Need {
  /** Null if nothing needs it. */
  readonly why: string | null;
  readonly places: Places;
}

function by(concerned: readonly WorkspaceNeeds[], what: string): string | null {
  return concerned.length === 0 ? null : `${what} in ${inWorkspaces(concerned)}`;
}

function needOf(check: string, { workspaces = [], connected = [], money = [] }: Surroundings): Need {
  const used = workspaces.filter((workspace) => workspace.in_use);
  if (check === "slack") {
    const concerned = used.filter((workspace) => workspace.slack_connected);
    return {
      why: by(concerned, "Requests are posted"),
      places: named(concerned.flatMap((each) => each.slack_channels)),
    };
  }
  if (check === "linear") {
    const concerned = used.filter((workspace) => workspace.linear_team_id !== null);
    return {
      why: by(concerned, "Requests are mirrored as issues"),
      places: named(concerned.flatMap((each) => each.linear_team_id ?? [])),
    };
  }
  if (check === "mail") return { why: by(used, "Customers are asked by mail"), places: named([]) };
  if (check === "stripe") return { why: by(pricedIn(used, money), "Customers pay"), places: named([]) };
  const concerned = used.filter((each) => connected.some(({ workspaceId }) => workspaceId === each.workspace_id));
  return {
    why: by(concerned, "Workflows provide the capacity"),
    places: { names: [], repositories: connected.map(toRepository) },
  };
}

function named(names: readonly string[]): Places {
  return { names: [...new Set(names)], repositories: [] };
}

function toRepository({ owner, repo, ref, provisionWorkflow, cleanupWorkflow }: ConnectedWorkflows) {
  return { owner, repo, ref, workflows: [provisionWorkflow, cleanupWorkflow] };
}

async function providerFinding(
  check: string,
  all: readonly ProviderStatus[],
  facts: Surroundings,
  completed: Completed,
  offline: boolean,
): Promise<Finding> {
  const candidates = all.filter((status) => status.check === check);
  const set = candidates.find((status) => status.used);
  const { why, places } = needOf(check, facts);
  if (set !== undefined) {
    if (offline)
      return skipped(check, `${set.name} is set up here: ${sources(set, completed)}. Not checked (--offline).`);
    return askProvider(set, completed, places);
  }
  const kept = candidates.find(({ credentials }) =>
    credentials.some((name) => facts.credentials.stored.includes(name)),
  );
  if (kept !== undefined && facts.credentials.values === undefined) {
    const names = kept.credentials.filter((name) => facts.credentials.stored.includes(name)).join(", ");
    return skipped(
      check,
      `${names} is stored in the database for relays, and this login may not read it.`,
      "To have it checked, run headroom doctor with the database login of a relay.",
    );
  }
  const variables = candidates.map(({ required }) => required.join(" and ")).join(", or ");
  if (why === null && facts.workspaces === undefined) {
    return skipped(
      check,
      `Not set up here (${variables}); whether anything needs it cannot be seen from here.`,
      askAsControl,
    );
  }
  if (why === null) return ok(check, `Not set up here (${variables}), and nothing needs it.`);
  if (candidates.some(({ rails }) => rails.every((rail) => isServed(facts, rail)))) {
    return skipped(
      check,
      `${why}; a relay serves it, with settings that this environment does not have.`,
      "To have it checked, run headroom doctor in the environment of that relay.",
    );
  }
  return failure(
    check,
    `${why}, but ${variables} is not set here, and no relay serves it.`,
    `Set ${variables} in the relay's environment, or store ${candidates.flatMap(({ credentials }) => credentials).join(" or ")} (headroom secret set), and start it: headroom relay (docs/guides/rails.md).`,
  );
}

/** Where each credential comes from. */
function sources({ credentials }: ProviderStatus, { environment, stored }: Completed): string {
  return credentials
    .filter((name) => valueOf(environment, name) !== undefined)
    .map((name) => `${name} from the ${stored.has(name) ? "database" : "environment"}`)
    .join(", ");
}

async function askProvider(status: ProviderStatus, completed: Completed, places: Places): Promise<Finding> {
  const { name, check } = status;
  const { environment } = completed;
  try {
    const result = await checkProviderAccess(name, environment, places, AbortSignal.timeout(accessCheckMs));
    if (result.kind === "answers") return ok(check, `${name} answers, as ${result.as}. ${sources(status, completed)}.`);
    const report = result.grave ? failure : warning;
    return report(check, `${name}: ${result.reason} (${sources(status, completed)})`, remedyOf(result, status));
  } catch (error) {
    // The answer is malformed; the error names fields and rules, never values.
    if (error instanceof ZodError) {
      return failure(
        check,
        `The address of ${name} answers, but not as ${name} does.`,
        "Check that its address is the right one.",
      );
    }
    if (!(error instanceof HeadroomError)) throw error;
    return failure(
      check,
      `${name}: ${error.message} ${error.detail ?? ""}`.trimEnd(),
      `Correct ${status.required.join(", ")}.`,
    );
  }
}

function remedyOf({ what, remedy }: AccessProblem, { name, required, optional }: ProviderStatus): string {
  if (remedy !== undefined) return remedy;
  if (what === "refused")
    return `Set ${required.join(", ")} to a valid value, here and for every relay, and restart the relays.`;
  const address = [...required, ...optional].filter((variable) => variable.endsWith("_URL")).join(", ");
  if (what === "unreachable") {
    return `Check ${address === "" ? "the network" : address}, and that it can be reached from here (DNS, firewall, proxy).`;
  }
  return `See the message from ${name}; docs/reference/rails.md explains its codes.`;
}
