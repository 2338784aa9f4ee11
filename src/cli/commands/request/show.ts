/** `headroom request show`: one request, whom it waits on, its history, its messages and the notes about it. */
import type { Command } from "commander";
import {
  getRequest,
  type Asked,
  type CapacityEvent,
  type CapacityRequest,
  type Delivery,
  type Erasure,
  type Job,
  type Person,
  type RequestStory,
} from "../../../capacity/index.ts";
import { getPayments, type RequestPayments } from "../../../billing/index.ts";
import { withDatabase } from "../../database.ts";
import { inWords, nextForRequest, whyRefundHeld } from "../../words/money-words.ts";
import { attemptOf, nextCommand, stateWords, stepOf, whyHeld } from "../../words/job-words.ts";
import { addCommon, type CommonOptions } from "../../options.ts";
import { printFacts, printJson, printLine, printTable, visible, type Fact } from "../../output.ts";
import { orFail } from "../../refusal.ts";
import { parseRequestId } from "../../acting.ts";
import { erasureLine } from "./erase.ts";
import { priceOf } from "./price.ts";
import { showUnasked } from "./unasked.ts";

export function registerShow(request: Command): void {
  addCommon(
    request
      .command("show")
      .description("show a request: facts, whom it waits on, history, messages")
      .argument("<id>", "request id", parseRequestId),
  ).action(runShow);
}

async function runShow(id: string, options: CommonOptions): Promise<void> {
  const { story, money } = await withDatabase(options, "request show", async (client) => ({
    ...orFail(await getRequest(client, id)),
    ...orFail(await getPayments(client, id)),
  }));
  if (options.json === true) printJson({ ...story, money });
  else show(story, money);
}

function show(story: RequestStory, money: RequestPayments): void {
  printFacts(factsOf(story, money));
  showPending(story);
  showMoney(story.request.id, money);
  printLine();
  showHistory(story);
  showDeliveries(story.deliveries);
  if (story.notices.length === 0) return;
  printLine();
  printTable(story.notices, [
    { title: "NOTICE", value: (row) => row.kind },
    { title: "AT", value: (row) => row.at },
    { title: "BY", value: (row) => row.actorId },
    { title: "TO", value: (row) => row.memberId },
    { title: "TEXT", value: (row) => [row.said, row.body].filter((text) => text !== null).join(" ") || null },
  ]);
}

function approval(at: Date | null, by: string | null): string | null {
  return at === null ? null : `${by ?? "-"} at ${at.toISOString()}`;
}

function customerOf({ customerRef }: CapacityRequest, erasure: Erasure | null): string | null {
  if (erasure !== null) return erasureLine(erasure);
  return customerRef === null ? null : JSON.stringify(customerRef);
}

function factsOf({ request, customer, erasure }: RequestStory, money: RequestPayments): readonly Fact[] {
  return [
    ["request", request.id],
    ["state", `${request.state} since ${request.stateSince.toISOString()}`],
    ["version", request.version],
    ["what", `${request.quantity} × ${request.size} in ${request.region}`],
    ["price", request.offer === null ? null : priceOf(request.offer)],
    ["payment", money.state === "none" ? null : inWords(money.state)],
    ["monthly cost", request.monthlyCostUsd === null ? null : `${request.monthlyCostUsd} USD`],
    ["why", request.justification],
    ["needed by", request.neededBy],
    ["for", request.durationDays === null ? null : `${request.durationDays} days`],
    ["customer", customerOf(request, erasure)],
    ["customer's address", customer.address],
    ["customer's id", request.customerId],
    ["requester", request.requester],
    ["commercial owner", request.commercialOwner],
    ["infra group", request.infraGroup],
    ["endorsed", approval(request.endorsedAt, request.endorsedBy)],
    ["commercial approval", approval(request.commercialApprovedAt, request.commercialApprovedBy)],
    ["technical approval", approval(request.technicalApprovedAt, request.technicalApprovedBy)],
    ["deadline", request.deadlineAt?.toISOString() ?? null],
    ["rejected because", request.rejectionReason],
    ["cancelled because", request.cancellationReason],
    ["cancelled by", request.cancelledBy],
    ["replaces", request.replaces],
    [
      "Slack",
      request.slackChannelId === null
        ? null
        : [request.slackChannelId, request.slackThreadTs].filter(Boolean).join(" "),
    ],
    ["Linear", request.linearIssueId],
    ["workspace", request.workspaceId],
  ];
}

function names(people: readonly Person[]): string {
  return people.map((person) => `${person.name} (${person.id})`).join(", ");
}

function namesOfAsked(people: readonly Asked[]): string {
  return people
    .map(({ id, name, standsFor }) => `${name} (${id}${standsFor === null ? "" : `, for ${standsFor}`})`)
    .join(", ");
}

/** On whom a request waits, and the command with which those people decide. */
export function showPending(story: RequestStory): void {
  const { id, state } = story.request;
  if (story.pendingApprovals.length > 0) printLine();
  for (const pending of story.pendingApprovals) {
    const [first] = pending.asked;
    const others = pending.reviewers.filter((person) => !pending.asked.some(({ id: asked }) => asked === person.id));
    printLine(
      visible(
        `The ${pending.step} review waits on ${namesOfAsked(pending.asked) || "nobody, because no member can decide it now"}.`,
      ),
    );
    if (pending.why !== null) printLine(visible(`  ${pending.why}`));
    if (others.length > 0) printLine(visible(`  ${names(others)} may decide it too, without being asked.`));
    if (pending.endorsers.length > 0) printLine(visible(`  ${names(pending.endorsers)} may endorse it.`));
    if (first !== undefined) printLine(`  headroom request approve ${id} --step ${pending.step} --as ${first.id}`);
  }
  const { unasked, fixers } = story.customer;
  if (unasked !== null) {
    printLine();
    showUnasked(unasked, story.request, fixers[0]?.id);
    if (fixers.length > 0) printLine(visible(`  ${names(fixers)} can fix that.`));
  }
  for (const job of story.jobs) showJob(job);
  if (state === "CUSTOMER_CONFIRMATION_REQUIRED") {
    const { offer, commercialOwner } = story.request;
    const as = `--as ${commercialOwner ?? "<owner>"}`;
    if (unasked === null) printLine("\nIt waits on the customer.");
    if (offer === null) {
      printLine("The commercial owner can record their answer:");
      printLine(`  headroom request confirm ${id} ${as}   (or decline)`);
    } else {
      printLine(`Paying ${priceOf(offer)} is the confirmation. The commercial owner can record that they declined:`);
      printLine(`  headroom request decline ${id} ${as}`);
    }
  }
}

/** The progress of its provisioning job, and the command for the next step. */
function showJob(job: Job): void {
  const last = job.runs.findLast(({ task }) => task === "provision");
  const step = last === undefined || job.state !== "provisioning" ? null : stepOf(last);
  const how = [attemptOf(job), step, job.cleanup === "failed" ? "the cleanup failed" : null];
  const said = how.filter((part) => part !== null).join("; ");
  printLine();
  printLine(visible(`Its provisioning job is ${stateWords[job.state]}: ${said}.`));
  const held = whyHeld(job);
  if (held !== null) printLine(`  ${held}`);
  printLine(`  headroom jobs show ${job.requestId}`);
  const next = nextCommand(job);
  if (next !== null) printLine(`  ${next}`);
}

/** What went wrong with its payments, or waits for somebody, and the command for the next step. */
function showMoney(id: string, money: RequestPayments): void {
  if (money.state === "none" || money.state === "due" || money.state === "unpaid") return;
  printLine(`\nIts payment: ${inWords(money.state)}.`);
  const held = money.payments.map(whyRefundHeld).find((why) => why !== null);
  if (held !== undefined) printLine(`  ${held}`);
  const { subscription } = money;
  if (subscription?.kind === "recurring") {
    const until = subscription.paidUntil === null ? "" : `, paid until ${subscription.paidUntil.toISOString()}`;
    printLine(`  The subscription is ${subscription.state.replace("_", " ")}${until}.`);
  }
  const next = nextForRequest(id, money);
  if (next !== null) printLine(`  ${next}`);
}

function remarkOn(event: CapacityEvent): string {
  if (event.payload["counts"] === false) return " (endorsement)";
  return event.payload["on_behalf_of"] === "customer" ? " (on the customer's behalf)" : "";
}

function showHistory(story: RequestStory): void {
  printTable(story.history, [
    { title: "#", value: (row) => row.seq, align: "right" },
    { title: "AT", value: (row) => row.at },
    { title: "EVENT", value: (row) => row.type + remarkOn(row) },
    { title: "BY", value: (row) => row.actorId },
    { title: "VIA", value: (row) => row.via },
    { title: "STATE", value: (row) => (row.stateBefore === row.stateAfter ? null : row.stateAfter) },
    { title: "REASON", value: (row) => (typeof row.payload["reason"] === "string" ? row.payload["reason"] : null) },
  ]);
}

function showDeliveries(deliveries: readonly Delivery[]): void {
  if (deliveries.length === 0) return;
  printLine();
  printTable(deliveries, [
    { title: "MESSAGE", value: (row) => (row.endpoint === null ? row.effect : `event:${row.endpoint}`) },
    { title: "OF", value: (row) => (row.eventSeq === null ? `notice ${row.noticeId}` : `event ${row.eventSeq}`) },
    { title: "PLACE", value: (row) => row.place },
    { title: "ERROR", value: (row) => row.errorCode },
    { title: "OUTBOX ID", value: (row) => row.outboxId },
  ]);
  const troubled = deliveries.filter(({ place }) => place === "dead" || place === "parked");
  if (troubled.length > 0) printLine(`Next: headroom outbox inspect ${troubled[0]?.outboxId}`);
}
