/** What a status proves is decided once, and every rail that speaks HTTP goes by it. */
import { describe, expect, test } from "vitest";
import { codeOfStatus as emailStatus, emailCodes } from "./email/codes.ts";
import type { RailCode } from "./exchange-codes.ts";
import { githubActionsCodes, codeOfStatus as githubStatus } from "./github-actions/codes.ts";
import { linearCodes, codeOfStatus as linearStatus } from "./linear/codes.ts";
import { slackCodes, slackInteractionCodes, codeOfStatus as slackStatus } from "./slack/codes.ts";
import { stripeCodes, codeOfStatus as stripeStatus } from "./stripe/codes.ts";
import { codeOfStatus as webhookStatus, webhookCodes } from "./webhook/codes.ts";

type Outcome = RailCode["outcome"];

const outcomes: readonly (readonly [string, (status: number) => Outcome | null])[] = [
  ["webhook", (status) => outcomeOf(webhookCodes, webhookStatus(status))],
  ["slack", (status) => outcomeOf(slackCodes, slackStatus(status))],
  ["linear", (status) => outcomeOf(linearCodes, linearStatus(status))],
  ["email", (status) => outcomeOf(emailCodes, emailStatus(status))],
  ["github-actions", (status) => outcomeOf(githubActionsCodes, githubStatus(status, false))],
  ["stripe", (status) => outcomeOf(stripeCodes, stripeStatus(status))],
];

function outcomeOf<Code extends string>(codes: Readonly<Record<Code, RailCode>>, code: Code | null): Outcome | null {
  return code === null ? null : codes[code].outcome;
}

const statuses = (from: number): number[] => Array.from({ length: 100 }, (_none, at) => from + at);

describe.each(outcomes)("by a status alone, %s", (_rail, outcomeUnder) => {
  test("takes a failing server for no proof, 503 included", () => {
    expect(new Set(statuses(500).map(outcomeUnder))).toEqual(new Set(["unknown"]));
  });

  test("takes a refusal or a redirect for certain", () => {
    const certain = [...statuses(300), ...statuses(400)].map(outcomeUnder);
    expect(certain.filter((outcome) => outcome !== "retry" && outcome !== "rejected")).toEqual([]);
  });

  test("tries again what is about the moment and not about the message", () => {
    expect([408, 425, 429].map(outcomeUnder)).toEqual(["retry", "retry", "retry"]);
  });
});

test("one rail differs in one code: a note for one person is better shown twice than never", () => {
  const differing = Object.entries(slackInteractionCodes).filter(
    ([code, { outcome }]) => outcome !== new Map(Object.entries(slackCodes)).get(code)?.outcome,
  );
  expect(differing).toEqual([["http_5xx", expect.objectContaining({ outcome: "retry" })]]);
});
