/**
 * A login for the HTTP server, on a server that is ours alone.
 *
 * The role has no login when it is made: whoever deploys gives it one. On the embedded server that is us.
 */
import type { Client } from "pg";
import { toHeadroomError } from "./errors.ts";

const gatewayRole = "headroom_gateway";

/** Lets the gateway's role log in with this password, and answers with the URL that does so. */
export async function openGatewayLogin(client: Client, databaseUrl: string, password: string): Promise<string> {
  try {
    // Utility statements take no parameters; the server quotes the value itself.
    const made = await client.query<{ text: string }>(
      "select format('alter role %I login password %L', $1::text, $2::text) as text",
      [gatewayRole, password],
    );
    for (const { text } of made.rows) await client.query(text);
  } catch (error) {
    throw toHeadroomError(error);
  }
  const url = new URL(databaseUrl);
  url.username = gatewayRole;
  url.password = password;
  return url.toString();
}
