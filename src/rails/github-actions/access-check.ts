/** Whether GitHub accepts the token: asked for its rate limit, which every kind of token may read, and which costs nothing of it. */
import { openConnections } from "../exchange.ts";
import { requireSettings } from "../fields.ts";
import { problemOf, type AccessCheck } from "../access-check.ts";
import { createGithubCall } from "./call.ts";
import { githubActionsCodes } from "./codes.ts";
import { githubActionsSettingsSchema, type GithubActionsSettings } from "./config.ts";

export async function checkGithubAccess(given: GithubActionsSettings, signal: AbortSignal): Promise<AccessCheck> {
  const settings = requireSettings("github-actions", githubActionsSettingsSchema, given);
  const connections = openConnections();
  try {
    const answer = await createGithubCall(settings, connections)("GET /rate_limit", {}, signal);
    if (answer.kind === "data") return { kind: "answers", as: "the token's owner" };
    const { meaning } = githubActionsCodes[answer.code];
    return problemOf(answer.code, meaning, answer.detail, ["http_401"]);
  } finally {
    connections.close();
  }
}
