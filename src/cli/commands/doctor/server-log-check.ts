/** Would the database server write the key to the secrets into its log? */
import type { Client } from "pg";
import { call } from "../../../db/call.ts";
import { ok, warning, type Finding } from "./finding.ts";

interface LogSettings {
  readonly statement: string;
  readonly duration: string;
  readonly sampled: boolean;
  readonly explained: boolean;
  readonly parameters: boolean;
  readonly failing: boolean;
}

const settingsText = `select current_setting('log_statement') as statement, current_setting('log_min_duration_statement') as duration,
  (current_setting('log_min_duration_sample') <> '-1' and current_setting('log_statement_sample_rate')::float8 > 0)
    or current_setting('log_transaction_sample_rate')::float8 > 0 as sampled,
  coalesce(current_setting('auto_explain.log_min_duration', true), '-1') not in ('-1', '')
    and coalesce(current_setting('auto_explain.log_parameter_max_length', true), '-1') not in ('0', '0B') as explained,
  current_setting('log_parameter_max_length') not in ('0', '0B') as parameters,
  current_setting('log_parameter_max_length_on_error') not in ('0', '0B') as failing`;

/** Without Vault, HEADROOM_SECRET_KEY goes to the server as a parameter, and only the server's settings can keep it out of its log. */
export async function checkServerLog(client: Client): Promise<Finding> {
  const [settings] = (await client.query<LogSettings>(settingsText)).rows;
  if (settings === undefined || (await call(client, "webhooks.kept_in_vault", {})))
    return ok("server log", "Vault keeps the secrets.");
  const statements = settings.parameters ? loggedBy(settings) : [];
  const logged = [
    ...statements,
    ...(settings.failing ? ["log_parameter_max_length_on_error"] : []),
    ...(settings.explained ? ["auto_explain.log_min_duration"] : []),
  ];
  if (logged.length === 0) return ok("server log", "The server's log shows no parameters.");
  const off = [
    ...(statements.length > 0 ? ["log_parameter_max_length"] : []),
    ...(settings.failing ? ["log_parameter_max_length_on_error"] : []),
    ...(settings.explained ? ["auto_explain.log_parameter_max_length"] : []),
  ];
  return warning(
    "server log",
    `The server logs parameters of statements (${logged.join(", ")}), so its log may show HEADROOM_SECRET_KEY.`,
    `Set ${off.join(" and ")} to 0 and reload the server; then rotate the key if others can read the log (docs/operating, Secrets).`,
  );
}

function loggedBy({ statement, duration, sampled }: LogSettings): string[] {
  return [
    ...(statement === "all" ? ["log_statement"] : []),
    ...(duration === "-1" ? [] : ["log_min_duration_statement"]),
    ...(sampled ? ["sampling"] : []),
  ];
}
