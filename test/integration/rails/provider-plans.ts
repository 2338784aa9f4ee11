/** The providers' rails and how each shows in the sandbox what became of a message. */
import { randomUUID } from "node:crypto";
import { createEmailRail } from "../../../src/rails/email/rail.ts";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { createLinearRail } from "../../../src/rails/linear/rail.ts";
import { createSlackInteractionRail, createSlackRail } from "../../../src/rails/slack/rail.ts";
import type { Json } from "../../../src/contract/rail.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import type { ProviderPlan } from "./provider-harness.ts";
import { confirmationToken, from, invalidLetters, letter, makeToken } from "./email/smtp-harness.ts";

export const slackToken = "xoxb-1111-2222-conformance";
export const slackChannel = "C0CAPACITY";

/** Nothing listens on the port for multiplexing TCP services. */
const nowhere = "http://127.0.0.1:1";

/** A text somewhere in a payload. */
function textAt(payload: Json, ...path: readonly string[]): string {
  let found: Json | undefined = payload;
  for (const name of path) {
    found = typeof found === "object" && found !== null && !Array.isArray(found) ? found[name] : undefined;
  }
  return typeof found === "string" ? found : "";
}

export const slackPlan: ProviderPlan = {
  provider: "slack",
  method: "chat.postMessage",
  rail: (url) => createSlackRail({ token: slackToken, apiUrl: `${url}/slack/api/` }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload() {
    const id = randomUUID();
    return {
      method: "chat.postMessage",
      channel: slackChannel,
      text: id,
      metadata: {
        event_type: "capacity_request",
        event_payload: { cr_id: id, instruction_id: id, effect: "slack:root" },
      },
    };
  },
  invalid: [null, "text", {}, { method: "chat.postMessage", channel: "#general", text: "x" }],
  markOf: (payload) => textAt(payload, "text"),
  effects: (sandbox, mark) => sandbox.slack.messages(slackChannel).filter(({ text }) => text === mark).length,
  secrets: [slackToken],
};

export const slackInteractionPlan: ProviderPlan = {
  provider: "slack",
  method: "chat.postEphemeral",
  rail: (url) => createSlackInteractionRail({ token: slackToken, apiUrl: `${url}/slack/api/` }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload: () => ({ method: "chat.postEphemeral", channel: slackChannel, user: "URILEY01", text: randomUUID() }),
  invalid: [null, { method: "chat.postMessage", channel: slackChannel, text: "for all to see" }],
  markOf: (payload) => textAt(payload, "text"),
  effects: (sandbox, mark) => sandbox.slack.ephemerals("URILEY01").filter(({ text }) => text === mark).length,
  secrets: [slackToken],
};

export const linearKey = "lin_api_conformance";

export const linearPlan: ProviderPlan = {
  provider: "linear",
  method: "issueCreate",
  rail: (url) => createLinearRail({ apiKey: linearKey, apiUrl: `${url}/linear/graphql` }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload: () => ({
    operation: "issueCreate",
    input: { id: randomUUID(), teamId: defaultSampleData.linearTeam.id, title: "2 × large" },
  }),
  invalid: [
    null,
    { operation: "issueCreate", input: { teamId: defaultSampleData.linearTeam.id, title: "without an id" } },
  ],
  markOf: (payload) => textAt(payload, "input", "id"),
  effects: (sandbox, mark) => sandbox.linear.issues().filter(({ id }) => id === mark).length,
  secrets: [linearKey],
};

export const postalKey = "postal-conformance-key";

export const postalPlan: ProviderPlan = {
  provider: "postal",
  method: "send",
  rail: (url) =>
    createEmailRail({
      from,
      transport: { kind: "postal", url: `${url}/postal`, key: postalKey },
      confirmationToken: makeToken,
    }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload: () => letter(),
  invalid: invalidLetters,
  markOf: (payload) => textAt(payload, "subject"),
  effects: (sandbox, mark) => sandbox.mail.list().filter(({ subject }) => subject === mark).length,
  secrets: [postalKey, confirmationToken],
};

export const githubToken = "github_pat_conformance";

export const githubPlan: ProviderPlan = {
  provider: "github",
  method: "dispatch",
  rail: (url) => createGithubActionsRail({ token: githubToken, apiUrl: `${url}/github`, visibleAfterMs: 0 }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload: () => ({ owner: "acme", repo: "infra", workflow: "provision.yml", ref: "main", job_id: randomUUID() }),
  invalid: [null, { owner: "acme", repo: "infra", workflow: "provision.yml", ref: "main" }],
  markOf: (payload) => textAt(payload, "job_id"),
  effects: (sandbox, mark) => sandbox.github.runs().filter(({ inputs }) => inputs["job_id"] === mark).length,
  secrets: [githubToken],
  refusals: 2,
};
