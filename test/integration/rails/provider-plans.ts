/** The providers' rails, and how the sandbox shows each message's effect. */
import { randomUUID } from "node:crypto";
import { createEmailRail } from "../../../src/rails/email/rail.ts";
import { createGithubActionsRail } from "../../../src/rails/github-actions/rail.ts";
import { createLinearRail } from "../../../src/rails/linear/rail.ts";
import { createSlackWebhookRail } from "../../../src/rails/slack-webhook/rail.ts";
import { createSlackInteractionRail, createSlackRail } from "../../../src/rails/slack/rail.ts";
import type { Json } from "../../../src/contract/rail.ts";
import { defaultSampleData } from "../../../src/sandbox/sample-data.ts";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import type { ProviderPlan } from "./harness.ts";
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

/** A person's own webhook; the last part is the credential. */
export const webhookAddress = "https://hooks.slack.com/services/T0SANDBOX/URILEY01/XyZsecretXyZsecret12";

export const slackWebhookPlan: ProviderPlan = {
  provider: "slack",
  method: "incoming_webhook",
  rail: (url) =>
    createSlackWebhookRail({ hooksUrl: `${url}/slack/hooks/`, address: () => Promise.resolve(webhookAddress) }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  payload: () => ({ text: randomUUID() }),
  invalid: [null, "text", {}, { text: "" }, { text: "x", channel: "C0CAPACITY" }, { text: "x", blocks: "none" }],
  markOf: (payload) => textAt(payload, "text"),
  effects: (sandbox, mark) => sandbox.slack.messages("URILEY01").filter(({ text }) => text === mark).length,
  secrets: ["XyZsecretXyZsecret12"],
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

const github = {
  provider: "github",
  rail: (url) => createGithubActionsRail({ token: githubToken, apiUrl: `${url}/github`, visibleAfterMs: 0 }),
  nowhere,
  urlOf: (sandbox) => sandbox.url,
  secrets: [githubToken],
} satisfies Partial<ProviderPlan>;

/** For a workflow that the sandbox does not run automatically. */
const workflow = "deploy.yml";

export const githubDispatchPlan: ProviderPlan = {
  ...github,
  method: "dispatch",
  payload() {
    const id = randomUUID();
    const inputs = { job_id: id, attempt: "1", task: "provision" };
    return { owner: "acme", repo: "infra", workflow, ref: "main", job_id: id, run_mark: `${id}/1`, inputs };
  },
  invalid: [null, { owner: "acme", repo: "infra", workflow, ref: "main" }],
  markOf: (payload) => textAt(payload, "job_id"),
  effects: (sandbox, mark) => sandbox.github.runs().filter(({ inputs }) => inputs["job_id"] === mark).length,
  refusals: 2,
};

/** More than any case has messages. */
const preparedRuns = 25;

async function startRun(url: string, repo: string): Promise<{ [name: string]: Json }> {
  const answer = await fetch(`${url}/github/repos/acme/${repo}/actions/workflows/${workflow}/dispatches`, {
    method: "POST",
    headers: { authorization: `Bearer ${githubToken}` },
    body: JSON.stringify({ ref: "main", inputs: { job_id: "job-1", attempt: "1" }, return_run_details: true }),
  });
  const { workflow_run_id: id } = (await answer.json()) as { workflow_run_id: number };
  return { owner: "acme", repo, workflow, run_mark: "job-1/1", since: new Date().toISOString(), run_id: id };
}

/** Runs that can be stopped or watched: each in a separate repository, by whose name all calls about it are recognised. */
interface PreparedRuns {
  readonly prepare: (sandbox: Sandbox) => Promise<void>;
  readonly next: (operation: string) => Json;
}

function prepareRuns(): PreparedRuns {
  const ready: { [name: string]: Json }[] = [];
  return {
    prepare: async ({ url }) => {
      const made = Array.from({ length: preparedRuns }, () => startRun(url, `infra-${randomUUID()}`));
      ready.push(...(await Promise.all(made)));
    },
    next: (operation) => {
      const payload = ready.pop();
      if (payload === undefined) throw new Error("more messages than runs");
      return { ...payload, operation };
    },
  };
}

/** One per sandbox, which has its runs. */
export function githubStopPlan(): ProviderPlan {
  const { prepare, next } = prepareRuns();
  return {
    ...github,
    prepare,
    method: "cancelRun",
    payload: () => next("stop"),
    invalid: [{ operation: "stop", owner: "acme", repo: "infra", workflow, run_mark: "job-1/1" }],
    markOf: (payload) => textAt(payload, "repo"),
    effects: (sandbox, mark) =>
      sandbox.github.runs().filter(({ repo, conclusion }) => repo === mark && conclusion === "cancelled").length,
  };
}

/** Of one run, or of all that show the mark, of which there may be none. The effect of a query is that it was answered. */
export function githubWatchPlan(method: "getRun" | "listRuns"): ProviderPlan {
  const { prepare, next } = prepareRuns();
  const none = { operation: "watch", owner: "acme", workflow, run_mark: "job-1/1" };
  return {
    ...github,
    ...(method === "getRun" ? { prepare } : {}),
    method,
    payload: () =>
      method === "getRun" ? next("watch") : { ...none, repo: `infra-${randomUUID()}`, since: new Date().toISOString() },
    invalid: [{ ...none, repo: "infra" }],
    markOf: (payload) => textAt(payload, "repo"),
    effects: (sandbox, mark) =>
      sandbox.requests.list({ method }).filter(({ path, effect }) => path.includes(mark) && effect === true).length,
  };
}
