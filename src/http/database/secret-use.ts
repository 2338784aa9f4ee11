/**
 * Which requests may need a secret that the database keeps encrypted.
 *
 * The key to them travels as a parameter of a statement, and a server that is told to log parameters logs it. So it goes along
 * with these requests and with no others.
 *
 * Owns: the list. Does not own: the key (gateway-database.ts), nor the functions.
 */

/** Functions that verify a signature or a link, or that seal or open what an endpoint is signed with. */
export const functionsWithSecrets: ReadonlySet<string> = new Set([
  "decide_by_token",
  "describe_confirmation",
  "handle_linear_webhook",
  "handle_slack_webhook",
  "list_endpoints",
  "put_endpoint",
  "rotate_endpoint_secret",
  "webhook_keys",
]);

/** The path is as the database is told it: `/rpc/name` for a function. */
export function mayNeedSecrets(path: string | undefined): boolean {
  return path?.startsWith("/rpc/") === true && functionsWithSecrets.has(path.slice("/rpc/".length));
}
