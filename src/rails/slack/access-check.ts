/**
 * Whether Slack accepts the token, what it may do, and whether the channels that requests are posted to exist.
 *
 * Owns: the questions, which nobody sees in Slack. Does not own: which channels are meant.
 */
import { z } from "zod";
import { openConnections } from "../exchange.ts";
import { requireSettings } from "../fields.ts";
import { lacking, maxPlaces, problemOf, type AccessProblem, type AccessCheck } from "../access-check.ts";
import { createSlackCall, type SlackCall, type SlackFailure } from "./call.ts";
import { slackCodes, type SlackCodeName } from "./codes.ts";
import { slackSettingsSchema, type SlackSettings } from "./config.ts";

const needed = ["chat:write"] as const;
/** Without these, notes to one person and the search for a message that may have arrived fail. */
const wanted = ["im:write", "channels:history", "groups:history", "im:history"] as const;

const identitySchema = z.object({
  team: z.string().catch("?"),
  user: z.string().catch("?"),
  response_metadata: z.object({ scopes: z.array(z.string()).optional() }).optional(),
});

export async function checkSlackAccess(
  given: SlackSettings,
  channels: readonly string[],
  signal: AbortSignal,
): Promise<AccessCheck> {
  const settings = requireSettings("slack", slackSettingsSchema, given);
  const connections = openConnections();
  try {
    const call = createSlackCall(settings, connections);
    const answer = await call("auth.test", {}, signal);
    if (answer.kind === "failure") return refusal(answer);
    const { team, user, response_metadata: metadata } = identitySchema.parse(answer.result);
    const problem = lackingScope(metadata?.scopes) ?? (await channelProblem(call, channels, signal));
    return problem ?? { kind: "answers", as: `${user} in ${team}` };
  } finally {
    connections.close();
  }
}

const refusals: readonly SlackCodeName[] = [
  "not_authed",
  "invalid_auth",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "not_allowed_token_type",
  "access_denied",
];

function refusal({ code, detail }: SlackFailure): AccessProblem {
  return problemOf(code, slackCodes[code].meaning, detail, refusals);
}

/** If the server reports no scopes, such as a proxy, none is reported missing. */
function lackingScope(scopes: readonly string[] | undefined): AccessProblem | undefined {
  if (scopes === undefined) return undefined;
  const lacks = (list: readonly string[]): string => list.filter((scope) => !scopes.includes(scope)).join(", ");
  const [grave, slight] = [lacks(needed), lacks(wanted)];
  if (grave === "" && slight === "") return undefined;
  const all = [grave, slight].filter((list) => list !== "").join(", ");
  return lacking(
    grave !== "",
    `The token lacks the scopes ${all}.`,
    "Add them to the app under OAuth & Permissions, install it again, and use its new token (docs/guides/slack.md).",
  );
}

async function channelProblem(
  call: SlackCall,
  channels: readonly string[],
  signal: AbortSignal,
): Promise<AccessProblem | undefined> {
  for (const channel of channels.slice(0, maxPlaces)) {
    const answer = await call("conversations.history", { channel, limit: 1 }, signal);
    if (answer.kind === "ok") continue;
    if (answer.code === "not_in_channel") {
      return lacking(
        false,
        `The app is not in the channel ${channel}: it can post there if it is public, but not look up what it posted.`,
        `In that channel: /invite the app.`,
      );
    }
    if (answer.code === "channel_not_found" || answer.code === "is_archived") {
      return lacking(
        true,
        `Channel ${channel}: ${slackCodes[answer.code].meaning}`,
        "Invite the app to it, or name another: headroom policy settings --slack-channel <id>",
      );
    }
    return refusal(answer);
  }
  return undefined;
}
