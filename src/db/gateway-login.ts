/**
 * The login of the HTTP server.
 *
 * The role is made without one: the person who deploys adds it. On the embedded server we do.
 */
import type { Client } from "pg";
import { toHeadroomError } from "./errors.ts";

const gatewayRole = "headroom_gateway";

/** Gives the server's role a login; the password goes into HEADROOM_GATEWAY_URL. */
export const openGateway = "alter role headroom_gateway login password '<password>'";

export interface GatewayLogin {
  /** Whether the role may log in at all. */
  readonly gateway: boolean;
  readonly platform: boolean;
  /** Null if this login may not see whether there is one. */
  readonly password: boolean | null;
}

export async function readGatewayLogin(client: Client): Promise<GatewayLogin> {
  const result = await client.query<{ gateway: boolean; platform: boolean; readable: boolean }>(
    `select coalesce(bool_or(r.rolcanlogin) filter (where r.rolname = 'headroom_gateway'), false) as gateway,
            coalesce(bool_or(r.rolcanlogin) filter (where r.rolname = 'authenticator'), false) as platform,
            has_table_privilege('pg_authid', 'select') as readable
       from pg_roles r`,
  );
  const { gateway = false, platform = false, readable = false } = result.rows[0] ?? {};
  if (!readable) return { gateway, platform, password: null };
  const secrets = await client.query(
    "select from pg_authid where rolname = 'headroom_gateway' and rolpassword is not null",
  );
  return { gateway, platform, password: secrets.rows.length > 0 };
}

/** Lets the gateway's role log in with this password, and returns the URL to log in with. */
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
