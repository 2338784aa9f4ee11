/**
 * `headroom request approve | reject | confirm | decline | cancel`: decisions on a request.
 *
 * Deciding twice changes nothing and shows who decided before. The request tells which review a member gives, if that is unambiguous.
 */
import { type Command, Option } from "commander";
import type { Client } from "pg";
import {
  decide,
  getRequest,
  type Decided,
  type MemberEvent,
  type PendingApproval,
  type RequestStory,
} from "../../../capacity/index.ts";
import { listMembers } from "../../../directory/index.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { withDatabase } from "../../database.ts";
import { addCommon, parseWhole } from "../../options.ts";
import { printJson, printLine } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { asOption, parseRequestId, reasonOption, requireMember, type ActingOptions } from "../../acting.ts";
import { showPending } from "./show.ts";

type Step = "commercial" | "technical";

interface DecisionOptions extends ActingOptions {
  readonly step?: Step;
  readonly reason?: string;
  readonly ifVersion?: number;
}

export function registerDecisions(request: Command): void {
  decision(request, "approve", "approve a review")
    .addOption(stepOption())
    .action((id: string, options: DecisionOptions) =>
      run(id, options, (step) => ({ type: step === "commercial" ? "COMMERCIAL_APPROVED" : "TECH_REVIEW_APPROVED" })),
    );
  decision(request, "reject", "reject a review, which ends the request")
    .addOption(stepOption())
    .addOption(reasonOption().makeOptionMandatory())
    .action((id: string, options: DecisionOptions) =>
      run(id, options, (step) => ({
        type: step === "commercial" ? "COMMERCIAL_REJECTED" : "TECH_REVIEW_REJECTED",
        reason: options.reason ?? "",
      })),
    );
  decision(request, "confirm", "record the customer's yes, as the commercial owner").action(
    (id: string, options: DecisionOptions) => run(id, options, { type: "CUSTOMER_CONFIRMED" }),
  );
  decision(request, "decline", "record the customer's no, as the commercial owner")
    .addOption(reasonOption())
    .action((id: string, options: DecisionOptions) =>
      run(id, options, { type: "CUSTOMER_DECLINED", reason: options.reason }),
    );
  decision(request, "cancel", "cancel a request, as its requester or an admin")
    .addOption(reasonOption().makeOptionMandatory())
    .action((id: string, options: DecisionOptions) =>
      run(id, options, { type: "CANCEL_APPROVED", reason: options.reason ?? "" }),
    );
}

function decision(request: Command, name: string, description: string): Command {
  return addCommon(
    request
      .command(name)
      .description(description)
      .argument("<id>", "request id", parseRequestId)
      .addOption(asOption())
      .option("--if-version <number>", "only if the request still has this version", parseWhole(1, 2_147_483_647)),
  );
}

function stepOption(): Option {
  return new Option("--step <step>", "which review; needed only if the member may give both").choices([
    "commercial",
    "technical",
  ]);
}

type EventOfStep = (step: Step) => MemberEvent;

async function run(id: string, options: DecisionOptions, event: MemberEvent | EventOfStep): Promise<void> {
  const as = requireMember(options);
  await withDatabase(options, "request decide", async (client) => {
    const chosen = typeof event === "function" ? event(await findStep(client, id, as, options.step)) : event;
    const decided = orFail(await decide(client, id, chosen, { as, expectedVersion: options.ifVersion }));
    if (options.json === true) {
      printJson({ ...decided, event: chosen.type });
      return;
    }
    show(decided, chosen.type);
    showPending(orFail(await getRequest(client, id)).story);
  });
}

/** The review that this member may give: an open one, otherwise one that they could have given. */
async function findStep(client: Client, id: string, as: string, given: Step | undefined): Promise<Step> {
  if (given !== undefined) return given;
  const { story } = orFail(await getRequest(client, id));
  const member = await findMember(client, story.request.workspaceId, as);
  const open = story.pendingApprovals
    .filter(({ reviewers, endorsers }) => [...reviewers, ...endorsers].some((person) => person.id === member))
    .map(({ step }) => step);
  const [step, second] = open.length > 0 ? open : stepsOf(story, member);
  if (step === undefined) {
    throw new HeadroomError("not_allowed", `${member} has no review to give on ${id}.`, {
      detail: story.pendingApprovals.map(describePending).join("; ") || `the request is ${story.request.state}`,
      hint: `headroom request show ${id} shows who is asked. Nothing was changed.`,
    });
  }
  if (second === undefined) return step;
  throw new HeadroomError("usage", `${member} may give both reviews of ${id}.`, {
    hint: "Choose one: --step commercial or --step technical. Nothing was changed.",
  });
}

function describePending({ step, asked }: PendingApproval): string {
  return `the ${step} review waits on ${asked.map((person) => person.id).join(", ") || "nobody, because no member can decide it now"}`;
}

/** The member's id, by which a request names people; a Slack id is looked up in the directory. */
async function findMember(client: Client, workspaceId: string, as: string): Promise<string> {
  if (!/^[UW][A-Z0-9]{2,31}$/.test(as)) return as;
  const { members } = orFail(await listMembers(client, workspaceId));
  return members.find((member) => member.slackUserId === as)?.id ?? as;
}

function stepsOf({ request }: RequestStory, as: string): Step[] {
  const { commercial, technical } = request.reviewPlan;
  const isAsked = (people: readonly { readonly id: string }[]): boolean => people.some((person) => person.id === as);
  return [
    ...(isAsked(commercial.reviewers) || request.commercialOwner === as ? (["commercial"] as const) : []),
    ...(isAsked(technical.reviewers) ? (["technical"] as const) : []),
  ];
}

const words: Readonly<Record<MemberEvent["type"], string>> = {
  COMMERCIAL_APPROVED: "commercial approval",
  TECH_REVIEW_APPROVED: "technical approval",
  COMMERCIAL_REJECTED: "commercial rejection",
  TECH_REVIEW_REJECTED: "technical rejection",
  CUSTOMER_CONFIRMED: "customer's confirmation",
  CUSTOMER_DECLINED: "customer's refusal",
  CANCEL_APPROVED: "cancellation",
  PROVISIONING_COMPLETE: "end of provisioning",
  PROVISIONING_FAILED: "failure of provisioning",
};

function show(decided: Decided, type: MemberEvent["type"]): void {
  const { id, state } = decided.request;
  const what = decided.counts ? words[type] : "endorsement";
  if (decided.outcome === "repeated") {
    const at = decided.decidedAt.toISOString();
    printLine(`${id}: the ${what} was given before, by ${decided.decidedBy} at ${at}. Nothing was changed.`);
  } else if (decided.counts) {
    printLine(`${id}: the ${what} is recorded. The request is ${state}.`);
  } else {
    printLine(`${id}: recorded as an endorsement. The decision needs a higher authority.`);
  }
}
