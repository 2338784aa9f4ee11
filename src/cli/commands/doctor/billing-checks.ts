/**
 * Can customers pay where there is a price: is there an address to return to, do Stripe's events arrive, and can the wizard submit? Whether
 * Stripe accepts our key is checked with the other providers, and the webhook's secret with the other secrets.
 */
import { inWorkspaces, listed, type Facts, type MoneyNeeds, type WorkspaceNeeds } from "./facts.ts";
import { askAsControl, failure, ok, skipped, warning, type Finding } from "./finding.ts";

export function checkBilling(facts: Facts): Finding[] {
  const used = (facts.workspaces ?? []).filter((workspace) => workspace.in_use);
  if (used.length === 0) return [];
  if (facts.money === undefined) {
    return [skipped("prices", "This login may not see which prices there are.", askAsControl)];
  }
  const priced = pricedIn(used, facts.money);
  const money = facts.money.filter(({ workspace_id: id }) => used.some((each) => each.workspace_id === id));
  return [pricesFinding(priced), ...heardFindings(money, used), ...selfServiceFindings(money)];
}

/** The workspaces whose customers are asked to pay. */
export function pricedIn(
  used: readonly WorkspaceNeeds[],
  money: readonly MoneyNeeds[] = [],
): readonly WorkspaceNeeds[] {
  return used.filter(({ workspace_id: id }) => money.some((each) => each.workspace_id === id && each.prices > 0));
}

function pricesFinding(priced: readonly WorkspaceNeeds[]): Finding {
  if (priced.length === 0) return ok("prices", "There are none: customers confirm without paying.");
  const [homeless] = priced.filter((workspace) => workspace.public_url === null);
  if (homeless === undefined) return ok("prices", `Customers pay in ${inWorkspaces(priced)}.`);
  return failure(
    "prices",
    `Workspace "${homeless.workspace_id}" has prices but no public address: customers can neither reach the payment page nor return from it.`,
    `Run: headroom policy settings --workspace ${homeless.workspace_id} --public-url https://<where headroom serve is reached>`,
  );
}

/** If payments were found only by asking Stripe, its events do not arrive, and everything takes minutes instead of seconds. */
function heardFindings(money: readonly MoneyNeeds[], used: readonly WorkspaceNeeds[]): readonly Finding[] {
  const paid = money.filter(({ payments }) => payments > 0);
  if (paid.length === 0) return [];
  const deaf = paid.filter(({ told }) => told === 0);
  const [first] = deaf;
  if (first === undefined) return [ok("stripe webhook", "Stripe's events report payments.")];
  const address =
    used.find(({ workspace_id: id }) => id === first.workspace_id)?.public_url ?? "https://<public address>";
  return [
    failure(
      "stripe webhook",
      `No event of Stripe reported any of the last payments in workspace ${listed(deaf.map(({ workspace_id: id }) => `"${id}"`))}: they were found by asking, minutes later.`,
      `In Stripe's dashboard add the webhook endpoint ${address.replace(/\/+$/, "")}/webhooks/stripe with the events of docs/payment-rules.md, and run: headroom secret set STRIPE_WEBHOOK_SECRET`,
    ),
  ];
}

function selfServiceFindings(money: readonly MoneyNeeds[]): readonly Finding[] {
  const open = money.filter((each) => each.self_service_requester !== null);
  if (open.length === 0) return [];
  const orphan = open.find((each) => !each.requester_active);
  if (orphan !== undefined) {
    return [
      failure(
        "self-service",
        `The wizard of workspace "${orphan.workspace_id}" submits as "${orphan.self_service_requester}", who is not an active member: nobody can order.`,
        `Run: headroom prices settings --workspace ${orphan.workspace_id} --self-service <member>, or --no-self-service to close it`,
      ),
    ];
  }
  const empty = open.find(({ prices }) => prices === 0);
  if (empty !== undefined) {
    return [
      warning(
        "self-service",
        `The wizard of workspace "${empty.workspace_id}" is open, but nothing has a price: every order there is refused.`,
        `Run: headroom prices set <size> --amount <amount> --monthly --workspace ${empty.workspace_id}, or headroom prices settings --no-self-service`,
      ),
    ];
  }
  return [
    ok("self-service", `Customers can use the wizard in ${listed(open.map(({ workspace_id: id }) => `"${id}"`))}.`),
  ];
}
