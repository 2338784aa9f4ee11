/**
 * The reference of the rails: each one's settings and codes, from the tables that the rails themselves use.
 */
import { emailCodes } from "../../src/rails/email/codes.ts";
import { emailFields } from "../../src/rails/email/config.ts";
import type { RailCode } from "../../src/rails/exchange-codes.ts";
import { fieldTable, type RailField } from "../../src/rails/fields.ts";
import { githubActionsCodes } from "../../src/rails/github-actions/codes.ts";
import { githubActionsFields } from "../../src/rails/github-actions/config.ts";
import { linearCodes } from "../../src/rails/linear/codes.ts";
import { linearFields } from "../../src/rails/linear/config.ts";
import { slackCodes, slackInteractionCodes } from "../../src/rails/slack/codes.ts";
import { slackFields } from "../../src/rails/slack/config.ts";
import { slackWebhookCodes } from "../../src/rails/slack-webhook/codes.ts";
import { slackWebhookFields } from "../../src/rails/slack-webhook/config.ts";
import { stripeCodes } from "../../src/rails/stripe/codes.ts";
import { stripeFields } from "../../src/rails/stripe/config.ts";
import { webhookCodes } from "../../src/rails/webhook/codes.ts";
import { webhookFields } from "../../src/rails/webhook/config.ts";

interface Described {
  readonly name: string;
  readonly about: string;
  readonly fields: readonly RailField[];
  readonly codes: Readonly<Record<string, RailCode>>;
}

const rails: readonly Described[] = [
  { name: "webhook", about: "idempotent", fields: webhookFields, codes: webhookCodes },
  { name: "slack", about: "lookup", fields: slackFields, codes: slackCodes },
  {
    name: "slack-interaction",
    about: "blind",
    fields: slackFields,
    codes: differing(slackInteractionCodes, slackCodes),
  },
  { name: "slack-webhook", about: "blind", fields: slackWebhookFields, codes: slackWebhookCodes },
  { name: "linear", about: "lookup", fields: linearFields, codes: linearCodes },
  { name: "email", about: "blind", fields: emailFields, codes: emailCodes },
  { name: "github-actions", about: "lookup", fields: githubActionsFields, codes: githubActionsCodes },
  { name: "stripe", about: "lookup", fields: stripeFields, codes: stripeCodes },
];

export function describeRails(): Promise<string> {
  const parts = rails.flatMap(({ name, about, fields, codes }) => [
    `## ${name}`,
    "",
    `Capability: \`${about}\`.`,
    "",
    fieldTable(fields),
    ...(name === "slack-interaction" ? ["The codes are those of `slack`, but for:", ""] : []),
    codeTable(codes),
  ]);
  return Promise.resolve(["# Rails: settings and codes", "", intro, "", ...parts].join("\n"));
}

const intro =
  "Generated from the rails' own tables. The guide to them is [guides/rails.md](../guides/rails.md). `retry`: nothing happened, and the row is " +
  "tried again. `rejected`: the row is given up. `unknown`: it may have been delivered; the next step depends on what the rail can prove.";

function codeTable(codes: Readonly<Record<string, RailCode>>): string {
  const rows = Object.entries(codes).map(([code, { outcome, meaning }]) => `| \`${code}\` | ${outcome} | ${meaning} |`);
  return ["| code | outcome | meaning |", "|---|---|---|", ...rows, ""].join("\n");
}

function differing(
  codes: Readonly<Record<string, RailCode>>,
  others: Readonly<Record<string, RailCode>>,
): Readonly<Record<string, RailCode>> {
  return Object.fromEntries(Object.entries(codes).filter(([code, { outcome }]) => others[code]?.outcome !== outcome));
}
