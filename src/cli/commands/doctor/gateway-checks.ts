/**
 * Does HTTP work: can the server log in, does it have its keys, and does the platform's PostgREST call our check before each request?
 */
import type { Client } from "pg";
import { withConnection } from "../../../db/connect.ts";
import { toHeadroomError } from "../../../db/errors.ts";
import { openGateway, readGatewayLogin } from "../../../db/gateway-login.ts";
import { accessCheckMs } from "../../../rails/access-check.ts";
import { valueOf, type Environment } from "../../relay/provider-rails.ts";
import { isInUse, type Facts } from "./facts.ts";
import { failure, ok, skipped, warning, type Finding } from "./finding.ts";

export async function checkHttp(client: Client, facts: Facts): Promise<Finding[]> {
  const gateway = await checkGateway(client);
  return [
    gateway.status === "ok" ? await checkGatewayLogin(client, facts) : gateway,
    ...checkServerKeys(facts.environment),
    ...(await checkPreRequest(client, isInUse(facts))),
  ];
}

/**
 * The HTTP server logs in as the gateway, or as a platform's authenticator, and switches to another role for each request. If a
 * platform made these roles, the migrating role may not have been allowed to grant them to our gateway.
 */
export async function checkGateway(client: Client): Promise<Finding> {
  const result = await client.query<{ login: string; missing: string[] }>(
    `select g.rolname::text as login, array_agg(r.rolname::text order by r.rolname) filter (where not pg_has_role(g.oid, r.oid,
              case when current_setting('server_version_num')::integer >= 160000 then 'SET' else 'MEMBER' end)) as missing
       from pg_roles g join pg_roles r on r.rolname in ('anon', 'authenticated', 'service_role')
      where g.rolname in ('headroom_gateway', 'authenticator') group by g.rolname order by g.rolname desc`,
  );
  const [ours, platforms] = result.rows.map((row) => ({ ...row, missing: row.missing ?? [] }));
  if (ours === undefined || ours.missing.length === 0) {
    return ok("gateway", "headroom_gateway may act as anon, authenticated and service_role.");
  }
  const message = `headroom_gateway may not act as ${ours.missing.join(", ")}`;
  const remedy = `As a superuser or the role that made them: grant ${ours.missing.join(", ")} to headroom_gateway`;
  return platforms?.missing.length === 0
    ? { ...ok("gateway", `${message}; authenticator may, so the server can log in as that.`), remedy }
    : warning("gateway", `${message}: requests over HTTP would be refused.`, remedy);
}

export async function checkGatewayLogin(client: Client, facts: Facts): Promise<Finding> {
  const url = valueOf(facts.environment, "HEADROOM_GATEWAY_URL");
  const { gateway, platform, password } = await readGatewayLogin(client);
  if (url !== undefined) return tryLogin(url, gateway);
  if (!gateway && platform) {
    return ok("gateway", "authenticator can log in and serves requests over HTTP; headroom_gateway has no login.");
  }
  const remedy = `Run: ${openGateway}; then start headroom serve with HEADROOM_GATEWAY_URL=postgresql://headroom_gateway:<password>@<host>/<database>`;
  if (!gateway) {
    const message = "headroom_gateway cannot log in, so headroom serve cannot start";
    if (facts.workspaces === undefined) return warning("gateway", `${message}.`, remedy);
    if (isInUse(facts)) {
      return failure("gateway", `${message}: customers' links, Slack buttons and the API do not work.`, remedy);
    }
    return ok("gateway", "headroom_gateway has no login yet, and needs none while there are no members.");
  }
  if (password === false) {
    return warning(
      "gateway",
      "headroom_gateway may log in but has no password: its login is refused, unless the database server accepts it in another way.",
      remedy,
    );
  }
  if (password === true) return ok("gateway", "headroom_gateway can log in, and has a password.");
  return ok(
    "gateway",
    "headroom_gateway may log in; whether it has a password can be checked only by a superuser, or with HEADROOM_GATEWAY_URL set here.",
  );
}

async function loginOf(client: Client): Promise<string> {
  const result = await client.query<{ login: string }>("select session_user::text as login");
  return result.rows[0]?.login ?? "";
}

async function tryLogin(url: string, may: boolean): Promise<Finding> {
  try {
    const options = { applicationName: "headroom doctor", connectTimeoutMs: accessCheckMs };
    const login = await withConnection(url, loginOf, options);
    if (login === "headroom_gateway" || login === "authenticator") {
      return ok("gateway", `HEADROOM_GATEWAY_URL logs in, as ${login}.`);
    }
    return failure(
      "gateway",
      `HEADROOM_GATEWAY_URL logs in as "${login}", but the database lets only headroom_gateway and authenticator name the caller.`,
      `Run: ${openGateway}; and use that login in HEADROOM_GATEWAY_URL.`,
    );
  } catch (error) {
    const { code, message } = toHeadroomError(error);
    const remedy =
      code === "login_refused"
        ? `Run: ${openGateway}; with the password from HEADROOM_GATEWAY_URL.`
        : "Check host, port and database in HEADROOM_GATEWAY_URL.";
    const why = may ? "" : " The role headroom_gateway may not log in.";
    return failure("gateway", `HEADROOM_GATEWAY_URL does not log in: ${message}.${why}`, remedy);
  }
}

const shortestSecret = 32;

/** Only in the server's environment, because its keys should be nowhere else. */
function checkServerKeys(environment: Environment): Finding[] {
  if (valueOf(environment, "HEADROOM_GATEWAY_URL") === undefined) return [];
  const secret = environment["HEADROOM_JWT_SECRET"] ?? "";
  if (secret.length >= shortestSecret) return [ok("server keys", "HEADROOM_JWT_SECRET is set.")];
  return [
    failure(
      "server keys",
      `HEADROOM_JWT_SECRET is ${secret === "" ? "not set" : `shorter than ${shortestSecret} characters`}: headroom serve does not start.`,
      "Make keys with headroom keys init, or use your Supabase project's JWT secret.",
    ),
  ];
}

interface PreRequest {
  readonly platform: boolean;
  readonly supabase: boolean;
  readonly hook: string | null;
  readonly asks: boolean;
}

const preRequestText = `with hook as (
    select max(split_part(s.item, '=', 2)) as name
      from pg_db_role_setting d join pg_roles r on r.oid = d.setrole
     cross join unnest(d.setconfig) s(item)
     where r.rolname = 'authenticator' and d.setdatabase in (0, (select oid from pg_database where datname = current_database()))
       and s.item like 'pgrst.db_pre_request=%')
  select coalesce((select rolcanlogin from pg_roles where rolname = 'authenticator'), false) as platform,
         exists (select from pg_roles where rolname = 'supabase_admin') as supabase,
         nullif(h.name, '') as hook,
         h.name in ('public.check_request', 'check_request')
           or exists (select from pg_proc p where p.oid = to_regproc(h.name) and p.prosrc ~ '\\mcheck_request\\M') as asks
    from hook h`;

const setPreRequest =
  "Run: alter role authenticator set pgrst.db_pre_request = 'public.check_request'; notify pgrst, 'reload config'";

/** If a platform's PostgREST answers requests, the function that it calls first refuses revoked keys and outdated requests. */
export async function checkPreRequest(client: Client, inUse: boolean): Promise<Finding[]> {
  const [found] = (await client.query<PreRequest>(preRequestText)).rows;
  if (found === undefined || !found.platform || !inUse) return [];
  if (found.asks) return [ok("pre-request", `PostgREST calls ${found.hook} before each request.`)];
  if (found.hook !== null) {
    return [
      failure(
        "pre-request",
        `PostgREST calls ${found.hook} before each request, which does not call public.check_request: revoked keys are accepted.`,
        "Call public.check_request() in it, or use that function alone: alter role authenticator set pgrst.db_pre_request = 'public.check_request'",
      ),
    ];
  }
  if (found.supabase) {
    return [
      failure("pre-request", "PostgREST calls no function before a request: revoked keys are accepted.", setPreRequest),
    ];
  }
  return [
    skipped(
      "pre-request",
      "authenticator can log in, and has no pgrst.db_pre_request; PostgREST's own configuration cannot be read from here.",
      `If PostgREST serves this database: db-pre-request = "public.check_request". ${setPreRequest}`,
    ),
  ];
}
