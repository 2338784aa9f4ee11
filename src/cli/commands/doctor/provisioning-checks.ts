/**
 * Do workspaces have workflows that provide their capacity, and can the runs report? Our rights at GitHub are checked with the other
 * providers.
 */
import { isLoopback } from "../../../web/hosts.ts";
import type { ConnectedWorkflows } from "../../../provisioning/index.ts";
import { inWorkspaces, listed, type Facts, type WorkspaceNeeds } from "./facts.ts";
import { askAsControl, failure, ok, skipped, warning, type Finding } from "./finding.ts";
import { lockedFinding } from "./workflow-checks.ts";
import { parseUrl } from "../../../db/parse-url.ts";

export function checkProvisioning(facts: Facts): Finding[] {
  const used = (facts.workspaces ?? []).filter((workspace) => workspace.in_use);
  if (used.length === 0) return [];
  if (facts.connected === undefined) {
    return [skipped("provisioning", "This login may not see which workflows are connected.", askAsControl)];
  }
  const connected = facts.connected.filter(({ workspaceId }) => used.some((each) => each.workspace_id === workspaceId));
  const found = connectedFinding(used, connected);
  return connected.length === 0 ? [found] : [found, addressFinding(connected), secretFinding(connected, facts)];
}

function connectedFinding(used: readonly WorkspaceNeeds[], connected: readonly ConnectedWorkflows[]): Finding {
  const without = used.filter((each) => !connected.some(({ workspaceId }) => workspaceId === each.workspace_id));
  const [first] = without;
  if (first === undefined) {
    const repositories = connected.map(({ owner, repo, ref }) => `${owner}/${repo} at ${ref}`);
    return ok("provisioning", `Capacity is provided by the workflows of ${listed([...new Set(repositories)])}.`);
  }
  return warning(
    "provisioning",
    `No workflow is connected in ${inWorkspaces(without)}: confirmed requests wait until somebody records how they ended.`,
    `Run: headroom jobs connect --workspace ${first.workspace_id} --repo <owner/name>`,
  );
}

function addressFinding(connected: readonly ConnectedWorkflows[]): Finding {
  const silent = connected.find(({ callbackAddress }) => callbackAddress === null);
  if (silent !== undefined) {
    const { workspaceId: id } = silent;
    return failure(
      "callback address",
      `Runs of workspace "${id}" have no address to report to: its jobs wait.`,
      `Run: headroom policy settings --workspace ${id} --public-url https://…, or headroom jobs connect --workspace ${id} --callback-url https://…`,
    );
  }
  const open = connected.find(({ callbackAddress }) => !isSafe(callbackAddress ?? ""));
  if (open === undefined) {
    return ok("callback address", `Runs report to ${listed([...new Set(connected.flatMap(addressOf))])}.`);
  }
  return failure(
    "callback address",
    `Runs of workspace "${open.workspaceId}" are to report to ${open.callbackAddress}, and refuse to without https.`,
    `Run: headroom jobs connect --workspace ${open.workspaceId} --callback-url https://…`,
  );
}

function addressOf({ callbackAddress }: ConnectedWorkflows): readonly string[] {
  return callbackAddress === null ? [] : [callbackAddress];
}

/** The script in the workflows accepts the same. */
function isSafe(address: string): boolean {
  const url = parseUrl(address);
  return url !== null && (url.protocol === "https:" || isLoopback(url.hostname));
}

function secretFinding(connected: readonly ConnectedWorkflows[], facts: Facts): Finding {
  const missing = connected.find(({ secret }) => secret === "missing");
  if (missing !== undefined) {
    return failure(
      "callback secret",
      `Workspace "${missing.workspaceId}" has no secret for runs to sign with: their reports are refused.`,
      `Run: headroom jobs secret --rotate --workspace ${missing.workspaceId}, and store it at GitHub as HEADROOM_CALLBACK_SECRET`,
    );
  }
  const locked = connected.filter(({ secret }) => secret === "unreadable").map(({ workspaceId }) => `"${workspaceId}"`);
  if (locked.length === 0) return ok("callback secret", "Every workspace with workflows has one, and it can be read.");
  const what = `the callback secret of workspace ${listed(locked)}`;
  return lockedFinding("callback secret", what, facts, "Without it the reports of runs are refused.");
}
