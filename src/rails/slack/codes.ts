/**
 * The Slack rails' codes: Slack's own error words, each with its outcome, in one table.
 *
 * There are three rules. An error about our settings (token, scopes) is tried again: the message is good, and a
 * working token delivers it. An error about the message or its channel is rejected. If Slack's reference says that a
 * part may have succeeded, the outcome is unknown and the rail asks. Only Slack's own `service_unavailable` (503) proves that nothing was done.
 *
 * Owns: which outcome a word or a status is. Does not own: making the call, or wording the reason.
 */
import { codeOfAnyStatus, exchangeCodes, statusCodes } from "../exchange-codes.ts";
import type { RailCode } from "../exchange-codes.ts";

const throttling = {
  ratelimited: { outcome: "retry", meaning: "Slack asks for quiet." },
  rate_limited: { outcome: "retry", meaning: "Slack asks for quiet: too many messages." },
  message_limit_exceeded: { outcome: "retry", meaning: "The workspace sends too many messages." },
} as const satisfies Record<string, RailCode>;

const passing = {
  service_unavailable: { outcome: "retry", meaning: "Slack is not available for now." },
  request_timeout: { outcome: "retry", meaning: "Slack got only a part of the request." },
  team_added_to_org: { outcome: "retry", meaning: "The workspace is being moved into an organisation." },
  org_login_required: { outcome: "retry", meaning: "The workspace is being moved into an organisation." },
  external_channel_migrating: { outcome: "retry", meaning: "The channel is being moved." },
} as const satisfies Record<string, RailCode>;

/** About the token and what it may do: an operator must correct it, and the message is fine. */
const settings = {
  not_authed: { outcome: "retry", meaning: "Slack got no token." },
  invalid_auth: { outcome: "retry", meaning: "Slack does not accept the token." },
  account_inactive: { outcome: "retry", meaning: "The token belongs to a deleted bot or workspace." },
  token_revoked: { outcome: "retry", meaning: "The token was revoked." },
  token_expired: { outcome: "retry", meaning: "The token has expired." },
  missing_scope: { outcome: "retry", meaning: "The token lacks a scope." },
  no_permission: { outcome: "retry", meaning: "The token may not do this." },
  not_allowed_token_type: { outcome: "retry", meaning: "This type of token may not do this." },
  access_denied: { outcome: "retry", meaning: "Slack denies access." },
  accesslimited: { outcome: "retry", meaning: "Slack allows no access from this network." },
  ekm_access_denied: { outcome: "retry", meaning: "Administrators have suspended messages." },
  enterprise_is_restricted: { outcome: "retry", meaning: "The organisation's token may not do this." },
  two_factor_setup_required: { outcome: "retry", meaning: "The token's owner must set up a second factor." },
  metadata_must_be_sent_from_app: { outcome: "retry", meaning: "Only an app's token may send metadata." },
} as const satisfies Record<string, RailCode>;

const aboutTheMessage = {
  channel_not_found: { outcome: "rejected", meaning: "There is no such channel, or the app cannot see it." },
  not_in_channel: { outcome: "rejected", meaning: "The app is not in the channel: invite it." },
  user_not_in_channel: { outcome: "rejected", meaning: "The person is not in the channel." },
  user_not_found: { outcome: "rejected", meaning: "There is no such person." },
  user_disabled: { outcome: "rejected", meaning: "The person's account is closed." },
  user_not_visible: { outcome: "rejected", meaning: "The app may not see the person." },
  is_archived: { outcome: "rejected", meaning: "The channel is archived." },
  is_inactive: { outcome: "rejected", meaning: "The channel is frozen." },
  restricted_action: { outcome: "rejected", meaning: "A setting of the workspace forbids it." },
  restricted_action_read_only_channel: { outcome: "rejected", meaning: "The channel can only be read." },
  restricted_action_thread_only_channel: { outcome: "rejected", meaning: "The channel takes replies only." },
  restricted_action_non_threadable_channel: { outcome: "rejected", meaning: "The channel takes no replies." },
  restricted_action_thread_locked: { outcome: "rejected", meaning: "The thread is locked." },
  posting_to_channel_denied: { outcome: "rejected", meaning: "The app may not post to the channel." },
  messages_tab_disabled: { outcome: "rejected", meaning: "The app takes no direct messages." },
  cannot_reply_to_message: { outcome: "rejected", meaning: "The message takes no replies." },
  thread_not_found: { outcome: "rejected", meaning: "There is no such thread." },
  message_not_found: { outcome: "rejected", meaning: "There is no such message any more." },
  cant_update_message: { outcome: "rejected", meaning: "The app may not change the message." },
  edit_window_closed: { outcome: "rejected", meaning: "The message is too old to be changed." },
  msg_too_long: { outcome: "rejected", meaning: "The message is too long." },
  msg_blocks_too_long: { outcome: "rejected", meaning: "The blocks are too long." },
  no_text: { outcome: "rejected", meaning: "The message has no text." },
  invalid_blocks: { outcome: "rejected", meaning: "The blocks are not valid." },
  invalid_blocks_format: { outcome: "rejected", meaning: "The blocks are no Block Kit." },
  invalid_attachments: { outcome: "rejected", meaning: "The attachments are not valid." },
  too_many_attachments: { outcome: "rejected", meaning: "There are too many attachments." },
  invalid_metadata_format: { outcome: "rejected", meaning: "The metadata is malformed." },
  invalid_metadata_schema: { outcome: "rejected", meaning: "The metadata is not as the app declares it." },
  metadata_too_large: { outcome: "rejected", meaning: "The metadata is too large." },
  invalid_arguments: { outcome: "rejected", meaning: "The arguments are not valid." },
  invalid_trigger_id: { outcome: "rejected", meaning: "This is not a trigger." },
  expired_trigger_id: { outcome: "rejected", meaning: "The trigger was older than three seconds." },
  exchanged_trigger_id: { outcome: "rejected", meaning: "The trigger was used already." },
  view_too_large: { outcome: "rejected", meaning: "The view is too large." },
  not_found: { outcome: "rejected", meaning: "The view is closed." },
  hash_conflict: { outcome: "rejected", meaning: "The view has changed in the meantime." },
  duplicate_external_id: { outcome: "rejected", meaning: "There is a view with this id already." },
  slack_error: { outcome: "rejected", meaning: "Slack refuses with a word that is not on our list." },
} as const satisfies Record<string, RailCode>;

const uncertain = {
  internal_error: { outcome: "unknown", meaning: "Slack failed, and a part may have succeeded." },
  fatal_error: { outcome: "unknown", meaning: "Slack failed badly, and a part may have succeeded." },
  update_failed: { outcome: "unknown", meaning: "Slack failed to change the message." },
} as const satisfies Record<string, RailCode>;

export const slackCodes = {
  ...exchangeCodes,
  ...statusCodes,
  ...throttling,
  ...passing,
  ...settings,
  ...aboutTheMessage,
  ...uncertain,
  http_429: { outcome: "retry", meaning: "Slack asks for quiet." },
  http_other: { outcome: "retry", meaning: "A status that Slack does not use: a proxy, or the wrong address?" },
  may_still_appear: {
    outcome: "retry",
    meaning: "The message was not found, and was sent too recently for that to count.",
  },
  too_many_to_search: { outcome: "retry", meaning: "More was written since than a search for the message can read." },
} as const satisfies Record<string, RailCode>;

export type SlackCodeName = keyof typeof slackCodes;

/**
 * For messages that cannot be looked up. Here a failure of the server is treated as a failure to send: a note that one
 * person sees until the next reload is better shown twice than never.
 */
export const slackInteractionCodes = {
  ...slackCodes,
  http_5xx: { outcome: "retry", meaning: "Slack failed." },
} as const satisfies Record<SlackCodeName, RailCode>;

const errorWords: ReadonlyMap<string, SlackCodeName> = new Map(
  Object.keys({ ...throttling, ...passing, ...settings, ...aboutTheMessage, ...uncertain }).flatMap((word) =>
    isSlackCode(word) ? [[word, word] as const] : [],
  ),
);

function isSlackCode(word: string): word is SlackCodeName {
  return Object.hasOwn(slackCodes, word);
}

/** The code of an answer `{ ok: false, error }`. */
export function codeOfWord(word: string): SlackCodeName {
  return errorWords.get(word) ?? "slack_error";
}

/** The code of a status other than 200, which is the only status of Slack's methods. */
export function codeOfStatus(status: number): SlackCodeName {
  return status === 429 ? "http_429" : (codeOfAnyStatus(status) ?? "http_other");
}

/** The codes after which the whole destination must pause. */
export function isThrottling(code: SlackCodeName): boolean {
  return code === "http_429" || Object.hasOwn(throttling, code);
}
