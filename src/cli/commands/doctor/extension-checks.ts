/** Checks the optional extensions: do those that are installed work? */
import type { Client } from "pg";
import { toHeadroomError } from "../../../db/errors.ts";
import { ok, warning, type Finding } from "./finding.ts";

const used: ReadonlyMap<string, string> = new Map([
  ["supabase_vault", "keeps the secrets"],
  ["pg_cron", "runs the timers"],
  ["pg_net", "sends database webhooks"],
]);

export async function checkExtensions(client: Client): Promise<Finding[]> {
  const result = await client.query<{ name: string; version: string; checkable: boolean }>(
    `select extname::text as name, extversion as version, exists (
              select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
               where n.nspname = 'net' and p.proname = 'check_worker_is_up' and p.pronargs = 0) as checkable
       from pg_extension where extname = any ($1) order by 1`,
    [[...used.keys()]],
  );
  const names = result.rows.map(({ name, version }) => `${name} ${version} ${used.get(name)}`);
  const found = ok(
    "extensions",
    names.length === 0 ? "pg_cron, pg_net and Vault are not installed. They are not needed." : `${names.join(", ")}.`,
  );
  const checkable = result.rows.some((row) => row.name === "pg_net" && row.checkable);
  return [found, ...(checkable ? [await netFinding(client)] : [])];
}

async function netFinding(client: Client): Promise<Finding> {
  try {
    await client.query("select net.check_worker_is_up()");
    return ok("pg_net", "Its worker is up.");
  } catch (error) {
    const { code, message } = toHeadroomError(error);
    if (code === "permission_denied") return ok("pg_net", "This login may not check whether its worker is up.");
    return warning(
      "pg_net",
      `Its worker is not up (${message}): database webhooks are not sent, so they wake no relay.`,
      "Run: select net.worker_restart()",
    );
  }
}
