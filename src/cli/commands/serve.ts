/**
 * `headroom serve`: the HTTP server alone, for production. It logs in as the gateway; keys come from the environment, because what
 * stands on a command line is seen by everybody on the machine.
 */
import { InvalidArgumentError, Option, type Command } from "commander";
import { z } from "zod";
import { startTimers, type Timers } from "../../capacity/timers.ts";
import { describeDatabaseUrl, probeServer, withConnection } from "../../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { openGateway } from "../../db/gateway-login.ts";
import { createApp } from "../../http/app.ts";
import type { OidcSettings } from "../../http/auth/oidc.ts";
import { createGatewayDatabase, type GatewayDatabase } from "../../http/database/gateway-database.ts";
import { startServer } from "../../http/server.ts";
import { serviceSession } from "../../http/auth/session.ts";
import { freePort } from "../free-port.ts";
import { signToken, tokenScope } from "../keys/issue.ts";
import { printJson, printLine } from "../output.ts";
import { createHttpLog, createLog } from "../relay/log.ts";
import { createOnDemandRelay, type OnDemandRelay } from "../relay/on-demand.ts";
import { collectNames, wholeNumber } from "../relay/options.ts";
import { loadRails } from "../relay/rails.ts";
import { anyHost, publicHosts, type HostPolicy } from "../../web/hosts.ts";
import { secretKeyOf } from "../secret-key.ts";
import { watchSignals } from "../signals.ts";

interface ServeOptions {
  readonly databaseUrl?: string;
  readonly relayDatabaseUrl?: string;
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly alsoHost?: readonly string[];
  readonly maxConnections: number;
  readonly trustedProxies: number;
  readonly prepare: boolean;
  readonly openMetrics?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  program
    .command("serve")
    .description("serve the HTTP API until SIGTERM or Ctrl-C")
    .addOption(
      new Option("--database-url <url>", "database, logging in as headroom_gateway or authenticator").env(
        "HEADROOM_GATEWAY_URL",
      ),
    )
    .addOption(
      new Option(
        "--relay-database-url <url>",
        "database as a member of headroom_executor: lets POST /api/internal/outbox-relay deliver",
      ).env("DATABASE_URL"),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 8400)
    .addOption(
      new Option("--public-url <url>", "where the outside reaches it (default: its own address)")
        .env("HEADROOM_PUBLIC_URL")
        .argParser(publicUrl),
    )
    .option(
      "--also-host <names>",
      "names that it answers to beside the public address's, separated by commas",
      collectNames,
    )
    .option("--max-connections <count>", "connections to the database", wholeNumber(1, 1_000), 10)
    .option("--trusted-proxies <count>", "proxies in front whose X-Forwarded-For is believed", wholeNumber(0, 10), 0)
    .option(
      "--no-prepare",
      "prepare no statements by name; behind a transaction pooler that is so without being asked for",
    )
    .option("--open-metrics", "answer /metrics without the service key, where nobody from outside reaches it")
    .option("--json", "log one JSON object a line")
    .addHelpText(
      "after",
      "\nFrom the environment: HEADROOM_GATEWAY_URL, HEADROOM_JWT_SECRET (required), HEADROOM_SECRET_KEY, HEADROOM_RELAY_SECRET,\nHEADROOM_PUBLIC_URL; while one of the three secrets is being changed, the one before under its name and _PREVIOUS;\nHEADROOM_JWT_ISSUER and HEADROOM_JWT_AUDIENCE, which tokens must then name; OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and\nOIDC_NAME for signing in. `headroom keys init` makes the keys.",
    )
    .action(runServe);
}

function publicUrl(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Give an address such as https://capacity.example.com.");
}

async function runServe(options: ServeOptions): Promise<void> {
  const json = options.json === true;
  const log = createHttpLog(json);
  const jwtSecret = requireSecret();
  const previousJwtSecret = previousSecret();
  const scope = tokenScope(process.env);
  const url = requireGatewayUrl(options);
  const prepare = options.prepare && (await bearsPreparing(url));
  const database = createGatewayDatabase({
    url,
    maxConnections: options.maxConnections,
    secretKey: secretKeyOf(process.env),
    prepare,
  });
  const relaySecret = nonEmpty(process.env["HEADROOM_RELAY_SECRET"]);
  const signals = watchSignals((signal) => log({ level: "info", event: "stopping", message: signal }));
  let drainer: OnDemandRelay | undefined;
  let timers: Timers | undefined;
  try {
    drainer = relaySecret === undefined ? undefined : await drainerOf(options.relayDatabaseUrl, json);
    const hosts = hostsOf(options);
    const port = options.port === 0 ? await freePort(options.host) : options.port;
    await checkLogin(database);
    const forever = { ...scope, jwtSecret, expiresAt: null };
    const app = createApp({
      database,
      keys: {
        jwtSecret,
        previousJwtSecret,
        ...scope,
        anonKey: await signToken({ role: "anon" }, forever),
        serviceKey: await signToken({ role: "service_role" }, forever),
      },
      publicUrl: options.publicUrl ?? `http://${options.host}:${port}`,
      relaySecret,
      previousRelaySecret: nonEmpty(process.env["HEADROOM_RELAY_SECRET_PREVIOUS"]),
      drainer,
      trustedProxies: options.trustedProxies,
      metricsOpen: options.openMetrics,
      oidc: oidcSettings(process.env),
      hosts,
      log,
    });
    const server = await startServer({ app, host: options.host, port });
    drainer?.keepTurning();
    timers = startTimers({
      runner: "server",
      most: mostInSweep,
      use: (work) => database.transaction(serviceSession(), work, { preRequest: false }),
      log: createLog(json),
    });
    announce(server.url, hosts, prepare, options);
    await signals.stopped;
    await server.stop();
  } finally {
    signals.dispose();
    await Promise.all([timers?.stop(), drainer?.close()]);
    await database.close();
  }
}

/** A sweep of the timers is a statement of the gateway's, whose statements have seconds. */
const mostInSweep = 25;

/** What /api/internal/outbox-relay delivers with: a login of its own, because the gateway may not claim. */
async function drainerOf(url: string | undefined, json: boolean): Promise<OnDemandRelay | undefined> {
  if (url === undefined || url === "") return undefined;
  const log = createLog(json);
  const rails = await loadRails({ listen: false, metricsHost: "127.0.0.1" }, { databaseUrl: url, log });
  return createOnDemandRelay(url, rails, log);
}

function requireSecret(): string {
  const secret = process.env["HEADROOM_JWT_SECRET"];
  if (secret !== undefined && secret.length >= 32) return secret;
  throw new HeadroomError("usage", "HEADROOM_JWT_SECRET is not set, or shorter than 32 characters.", {
    hint: "It signs and checks every token. Make keys with `headroom keys init`, or take your Supabase project's JWT secret.",
  });
}

function previousSecret(): string | undefined {
  const secret = nonEmpty(process.env["HEADROOM_JWT_SECRET_PREVIOUS"]);
  if (secret === undefined || secret.length >= 32) return secret;
  throw new HeadroomError("usage", "HEADROOM_JWT_SECRET_PREVIOUS is shorter than 32 characters.", {
    hint: "Set it to the secret that HEADROOM_JWT_SECRET was before, or leave it out.",
  });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

/** Undefined when no provider is named; half of one is a mistake. */
function oidcSettings(env: NodeJS.ProcessEnv): OidcSettings | undefined {
  const issuer = nonEmpty(env["OIDC_ISSUER"]);
  const clientId = nonEmpty(env["OIDC_CLIENT_ID"]);
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || !/^https?:$/.test(URL.parse(issuer)?.protocol ?? "")) {
    throw new HeadroomError("usage", "The identity provider is named by halves.", {
      hint: "Set OIDC_ISSUER to the address in its discovery document, OIDC_CLIENT_ID, and OIDC_CLIENT_SECRET where it gave one.",
    });
  }
  return {
    issuer,
    clientId,
    clientSecret: nonEmpty(env["OIDC_CLIENT_SECRET"]),
    name: nonEmpty(env["OIDC_NAME"]),
    scope: nonEmpty(env["OIDC_SCOPE"]),
  };
}

function requireGatewayUrl({ databaseUrl }: ServeOptions): string {
  if (databaseUrl !== undefined && databaseUrl !== "") return databaseUrl;
  throw new HeadroomError("usage", "No database is named.", {
    hint: "Set HEADROOM_GATEWAY_URL to postgresql://headroom_gateway:password@host:5432/database",
  });
}

/** Behind a pooler in transaction mode the next transaction has another session, where nothing was prepared. */
async function bearsPreparing(url: string): Promise<boolean> {
  const connection = { applicationName: "headroom serve" };
  const report = await withConnection(
    url,
    (client) => withConnection(url, (rival) => probeServer(client, rival), connection),
    connection,
  ).catch((error: unknown) => {
    throw explainRefusedLogin(error);
  });
  return report.preparedStatements;
}

const loginRows = z.tuple([z.object({ login: z.string() })]);

/** Only these logins are believed when they say who calls; with any other, everybody would be nobody. */
async function checkLogin(database: GatewayDatabase): Promise<void> {
  const { rows } = await database.ask({ text: "select session_user::text as login" }).catch((error: unknown) => {
    throw explainRefusedLogin(error);
  });
  const [{ login }] = loginRows.parse(rows);
  if (login === "headroom_gateway" || login === "authenticator") return;
  throw new HeadroomError("usage", `The server cannot work as the login "${login}".`, {
    detail: "The database believes what a token says only from headroom_gateway and authenticator.",
    hint: `Run: ${openGateway}; and put that login into HEADROOM_GATEWAY_URL.`,
  });
}

/** The role is made without a login, so this is what a first start meets. Callers are not told why; whoever starts the server is. */
function explainRefusedLogin(error: unknown): unknown {
  const told = toHeadroomError(error instanceof HeadroomError && error.cause instanceof Error ? error.cause : error);
  const { code, message, sqlState } = told;
  if (code !== "login_refused") return told;
  return new HeadroomError(code, `The database refuses the server's login: ${message}.`, {
    detail: "headroom migrate makes the role headroom_gateway without a login; whoever deploys gives it one.",
    hint: `As the role that migrated: ${openGateway}; with the password that stands in HEADROOM_GATEWAY_URL.`,
    sqlState,
    cause: error,
  });
}

/** While no name was given, nobody but the operator knows by which ones a proxy passes requests on. */
function hostsOf({ publicUrl: url, alsoHost }: ServeOptions): HostPolicy {
  return url === undefined && alsoHost === undefined ? anyHost : publicHosts(url ?? "http://localhost", alsoHost);
}

function announce(url: string, hosts: HostPolicy, prepare: boolean, options: ServeOptions): void {
  if (options.json === true) {
    const event = "server_ready";
    printJson({ time: new Date().toISOString(), level: "info", event, url, hosts: hosts.shown, prepare });
    return;
  }
  printLine(`server     ${url}`);
  printLine(`names      ${hosts.shown}${hosts === anyHost ? " (give it a --public-url, and it answers to that)" : ""}`);
  const pooled = prepare ? "" : "; statements are not prepared, for the sake of a transaction pooler";
  printLine(`database   ${describeDatabaseUrl(options.databaseUrl ?? "")}${pooled}`);
  printLine(`API        ${url}/docs`);
}
