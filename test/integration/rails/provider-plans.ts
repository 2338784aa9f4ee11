/** The providers' rails and how each shows in the sandbox what became of a message. */
import { randomUUID } from "node:crypto";
import { createSlackInteractionRail, createSlackRail } from "../../../src/rails/slack/rail.ts";
import type { Json } from "../../../src/rails/rail.ts";
import type { ProviderPlan } from "./provider-harness.ts";

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
