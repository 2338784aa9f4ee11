/**
 * Which requests may need a secret that the database keeps encrypted.
 *
 * The key to them is sent as a parameter of a statement, and a server that logs parameters would log it. So it is sent with
 * these requests and with no others.
 *
 * Owns: the list. Does not own: the key (gateway-database.ts), nor the functions.
 */

/** Functions that verify a signature or a link, or that seal or open what an endpoint is signed with. */
export const functionsWithSecrets: ReadonlySet<string> = new Set([
  "begin_checkout",
  "begin_draft",
  "decide_by_token",
  "describe_confirmation",
  "describe_draft",
  "describe_unsubscribe",
  "get_checkout",
  "handle_github_webhook",
  "handle_linear_webhook",
  "handle_provisioning_callback",
  "handle_slack_webhook",
  "handle_stripe_webhook",
  "list_endpoints",
  "put_endpoint",
  "resubscribe",
  "rotate_endpoint_secret",
  "save_draft",
  "send_draft_link",
  "set_slack_webhook",
  "submit_draft",
  "unsubscribe",
  "webhook_keys",
]);

/** The path as the database gets it: `/rpc/name` for a function. */
export function mayNeedSecrets(path: string | undefined): boolean {
  return path?.startsWith("/rpc/") === true && functionsWithSecrets.has(path.slice("/rpc/".length));
}
