/**
 * Does the workflow have what its workspaces need: an address for customers' links, and the secrets that sign and verify?
 */
import type { Client } from "pg";
import { listUnlinkedReviewers } from "../../../capacity/index.ts";
import { listSecrets, type SecretStatus } from "../../../db/secrets/index.ts";
import { openConnections, exchange } from "../../../rails/exchange.ts";
import { accessCheckMs } from "../../../rails/access-check.ts";
import { pricedIn } from "./billing-checks.ts";
import { inWorkspaces, isServersEnvironment, listed, type Facts, type WorkspaceNeeds } from "./facts.ts";
import { askAsControl, failure, ifAllowed, ok, skipped, warning, type Finding } from "./finding.ts";

export async function checkWorkflow(client: Client, facts: Facts, offline: boolean): Promise<Finding[]> {
  if (facts.workspaces === undefined) {
    return [skipped("workspaces", "This login may not see what workspaces need.", askAsControl)];
  }
  const used = facts.workspaces.filter((workspace) => workspace.in_use);
  if (used.length === 0) return [ok("workspaces", "No workspace has members: only the delivery engine is in use.")];
  return [
    ok("workspaces", `In use: ${inWorkspaces(used)}.`),
    await checkPublicUrls(used, offline),
    ...(await checkReviewers(client, used)),
    ...(await checkSecrets(client, facts, used)),
  ];
}

async function checkPublicUrls(used: readonly WorkspaceNeeds[], offline: boolean): Promise<Finding> {
  const without = used.filter((workspace) => workspace.public_url === null);
  const [first] = without;
  if (first !== undefined) {
    return failure(
      "public url",
      `There is no address for customers' links in ${inWorkspaces(without)}: no customer is asked, and their requests expire.`,
      `Run: headroom policy settings --workspace ${first.workspace_id} --public-url https://<where headroom serve is reached>`,
    );
  }
  const addresses = [...new Set(used.flatMap((workspace) => workspace.public_url ?? []))];
  if (offline) return skipped("public url", `Set in every workspace: ${listed(addresses)}. Not checked (--offline).`);
  const problems = await Promise.all(addresses.slice(0, maxAddresses).map(problemAt));
  const problem = problems.find((text) => text !== undefined);
  if (problem === undefined) return ok("public url", `Reachable: ${listed(addresses)}.`);
  return warning(
    "public url",
    problem,
    "Start headroom serve there, or set the address where it runs: headroom policy settings --public-url <url>",
  );
}

/** A new user in Slack might be a reviewer whose Slack user id is not known. */
async function checkReviewers(client: Client, used: readonly WorkspaceNeeds[]): Promise<Finding[]> {
  const connected = new Set(used.filter((each) => each.slack_connected).map((each) => each.workspace_id));
  const unlinked = (await ifAllowed(listUnlinkedReviewers(client)))?.filter((each) => connected.has(each.workspaceId));
  const [first] = unlinked ?? [];
  if (unlinked === undefined || first === undefined) return [];
  return [
    warning(
      "reviewers in Slack",
      `No Slack user id is known for ${listed(unlinked.map((each) => `${each.memberId} (${each.workspaceId})`))}: Slack users who are not in the directory are refused there.`,
      `Run: headroom members put ${first.memberId} --workspace ${first.workspaceId} --slack <Slack user id>, or --without-slack for somebody who has none`,
    ),
  ];
}

const maxAddresses = 10;

/** At most a warning: customers may be able to reach a server that cannot be reached from here. */
async function problemAt(address: string): Promise<string | undefined> {
  const connections = openConnections();
  try {
    const url = new URL(`${address.replace(/\/+$/, "")}/healthz`);
    const request = { method: "GET", url, headers: {}, body: Buffer.alloc(0), maxResponseBytes: 65_536 };
    const result = await exchange(request, connections, AbortSignal.timeout(accessCheckMs));
    if (result.kind !== "answer")
      return `${address} does not answer from here (${result.code}): customers' links may not work.`;
    if (result.status === 200) return undefined;
    return `${address} answers with HTTP ${result.status}, which headroom serve does not: customers' links may lead to another server.`;
  } finally {
    connections.close();
  }
}

interface NeededSecret {
  readonly check: string;
  readonly name: string;
  readonly needed: boolean;
  /** The effect of its absence. */
  readonly without: string;
  readonly report: typeof failure;
  readonly how: string;
}

function neededSecrets(used: readonly WorkspaceNeeds[], { money }: Facts): NeededSecret[] {
  return [
    {
      check: "confirmation secret",
      name: "CONFIRMATION_TOKEN_SECRET",
      needed: true,
      without: "customers' links can be neither made nor checked",
      report: failure,
      how: "openssl rand -hex 32 | headroom secret set CONFIRMATION_TOKEN_SECRET",
    },
    {
      check: "slack signing secret",
      name: "SLACK_SIGNING_SECRET",
      needed: used.some((workspace) => workspace.slack_connected),
      without: "every button, form and command of Slack is refused",
      report: failure,
      how: "headroom secret set SLACK_SIGNING_SECRET, with the app's Signing Secret (Basic Information) on standard input",
    },
    {
      check: "linear webhook secret",
      name: "LINEAR_WEBHOOK_SECRET",
      needed: used.some((workspace) => workspace.linear_team_id !== null),
      without: "comments and changes in Linear do not come back",
      report: warning,
      how: "headroom secret set LINEAR_WEBHOOK_SECRET, with the webhook's signing secret on standard input",
    },
    {
      check: "stripe webhook secret",
      name: "STRIPE_WEBHOOK_SECRET",
      needed: pricedIn(used, money).length > 0,
      without: "Stripe's events are refused, and customers who have paid wait until we ask Stripe",
      report: failure,
      how: "headroom secret set STRIPE_WEBHOOK_SECRET, with the endpoint's signing secret (whsec_…) on standard input",
    },
  ];
}

async function checkSecrets(client: Client, facts: Facts, used: readonly WorkspaceNeeds[]): Promise<Finding[]> {
  const listing = await ifAllowed(listSecrets(client, facts.secretKey));
  if (listing === undefined || listing.outcome === "refused") {
    return [skipped("secrets", "This login may not see which secrets are stored.", askAsControl)];
  }
  const { secrets } = listing;
  const needed = neededSecrets(used, facts).filter((secret) => secret.needed);
  return [
    ...needed.map((secret) => secretFinding(secret, secrets)),
    ...(secrets.length === 0 ? [] : [secretKeyFinding(secrets, facts)]),
  ];
}

function secretFinding({ check, name, without, report, how }: NeededSecret, stored: readonly SecretStatus[]): Finding {
  if (stored.some((candidate) => candidate.name === name)) return ok(check, `${name} is stored.`);
  return report(check, `${name} is not stored: ${without}.`, `Run: ${how}`);
}

function secretKeyFinding(stored: readonly SecretStatus[], facts: Facts): Finding {
  const locked = stored.filter((secret) => !secret.readable).map(({ name }) => name);
  if (locked.length === 0) {
    return ok(
      "secret key",
      stored.some(({ keptIn }) => keptIn === "vault") ? "Vault keeps the secrets." : "It decrypts every stored secret.",
    );
  }
  return lockedFinding(
    "secret key",
    listed(locked),
    facts,
    "Without them no links are made, and what providers send is refused.",
  );
}

/** The secrets cannot be decrypted here: the key is wrong, or this process has none. */
export function lockedFinding(check: string, what: string, facts: Facts, consequence: string): Finding {
  const remedy =
    "Set HEADROOM_SECRET_KEY to the key that they were encrypted with, here and for the server and every relay.";
  if (facts.secretKey !== undefined) {
    return failure(check, `HEADROOM_SECRET_KEY does not decrypt ${what}. ${consequence}`, remedy);
  }
  if (isServersEnvironment(facts.environment)) {
    return failure(check, `HEADROOM_SECRET_KEY is not set, so nothing decrypts ${what}. ${consequence}`, remedy);
  }
  return skipped(
    check,
    `Whether ${what} can be decrypted can be checked only with HEADROOM_SECRET_KEY.`,
    "To have it checked, run headroom doctor in the environment of the server or of a relay.",
  );
}
