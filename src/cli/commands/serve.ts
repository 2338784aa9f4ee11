/**
 * `headroom serve`: only the HTTP server, for production. It logs in as the gateway; keys come from the environment, because everybody
 * on the machine can see a command line.
 */
import { InvalidArgumentError, Option, type Command } from "commander";
import { z } from "zod";
import { startTimers, type Timers } from "../../capacity/timers.ts";
import { describeDatabaseUrl, probeServer, withConnection } from "../../db/connect.ts";
import { HeadroomError, toHeadroomError } from "../../db/errors.ts";
import { openSidePool } from "../../db/side-pool.ts";
import { TaskMetrics } from "../../outbox/observe/task-metrics.ts";
import { openGateway } from "../../db/gateway-login.ts";
import { createApp } from "../../http/app.ts";
import type { OidcSettings } from "../../http/auth/oidc.ts";
import { createGatewayDatabase, type GatewayDatabase } from "../../http/database/gateway-database.ts";
import { startServer } from "../../http/server.ts";
import { serviceSession } from "../../http/auth/session.ts";
import { anyHost, publicHosts, type HostPolicy } from "../../web/hosts.ts";
import { freePort } from "../free-port.ts";
import { signToken, tokenScope } from "../make-keys.ts";
import { collectNames, parseWhole } from "../options.ts";
import { printJson, printLine } from "../output.ts";
import { createHttpLog, createLog } from "../relay/log.ts";
import { builtInStreams } from "../../outbox/claim/streams.ts";
import { createOnDemandRelay, type OnDemandRelay } from "../relay/on-demand.ts";
import { addRailOptions, type RailOptions } from "../relay/options.ts";
import { loadRails } from "../relay/rails.ts";
import { secretKeyOf } from "../secret-key.ts";
import { watchSignals } from "../signals.ts";
import { parseUrl } from "../../db/parse-url.ts";

interface ServeOptions extends RailOptions {
  readonly databaseUrl?: string;
  readonly relayDatabaseUrl?: string;
  readonly relayStreams?: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly publicUrl?: string;
  readonly checkoutOrigin?: string;
  readonly alsoHost?: readonly string[];
  readonly maxConnections: number;
  readonly trustedProxies: number;
  readonly prepare: boolean;
  readonly openMetrics?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  addRailOptions(program.command("serve").description("serve the HTTP API until SIGTERM or Ctrl-C"))
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
    .option(
      "--relay-streams <names>",
      `streams that it delivers, separated by commas; ${builtInStreams} means Headroom's own (default: ${builtInStreams})`,
      collectNames,
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 takes a free one", parseWhole(0, 65_535), 8400)
    .addOption(
      new Option("--public-url <url>", "the URL at which others reach it (default: its own address)")
        .env("HEADROOM_PUBLIC_URL")
        .argParser(publicUrl),
    )
    .option("--also-host <names>", "further host names that it answers to, separated by commas", collectNames)
    .option(
      "--checkout-origin <origin>",
      "where Stripe's pages are, with a Checkout domain of your own (default: https://checkout.stripe.com)",
      checkoutOrigin,
    )
    .option("--max-connections <count>", "connections to the database", parseWhole(1, 1_000), 10)
    .option("--trusted-proxies <count>", "proxies in front whose X-Forwarded-For is trusted", parseWhole(0, 10), 0)
    .option("--no-prepare", "use no prepared statements; behind a transaction pooler this is automatic")
    .option("--open-metrics", "serve /metrics without the service key; only if nobody outside can reach it")
    .option("--json", "log one JSON object a line")
    .addHelpText(
      "after",
      "\nFrom the environment: HEADROOM_GATEWAY_URL, HEADROOM_JWT_SECRET (required), HEADROOM_SECRET_KEY, HEADROOM_RELAY_SECRET,\nHEADROOM_PUBLIC_URL; while one of the three secrets is rotated, its old value under its name with _PREVIOUS;\nHEADROOM_JWT_ISSUER and HEADROOM_JWT_AUDIENCE, which tokens must then name; OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and\nOIDC_NAME for signing in. `headroom keys init` makes the keys.",
    )
    .action(runServe);
}

function publicUrl(text: string): string {
  const url = parseUrl(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return text.replace(/\/+$/, "");
  throw new InvalidArgumentError("Give a URL such as https://capacity.example.com.");
}

function checkoutOrigin(text: string): string {
  const url = parseUrl(text);
  if (url !== null && url.protocol === "https:" && url.pathname === "/") return url.origin;
  throw new InvalidArgumentError("Give an https address without a path, such as https://pay.example.com.");
}

async function runServe(options: ServeOptions): Promise<void> {
  const json = options.json === true;
  const log = createHttpLog(json);
  const jwtSecret = requireSecret();
  const previousJwtSecret = previousSecret();
  const scope = tokenScope(process.env);
  const url = requireGatewayUrl(options);
  const prepare = options.prepare && (await supportsPreparing(url));
  const database = createGatewayDatabase({
    url,
    maxConnections: options.maxConnections,
    secretKey: secretKeyOf(process.env),
    prepare,
  });
  const relaySecret = nonEmpty(process.env["HEADROOM_RELAY_SECRET"]);
  const signals = watchSignals((signal) => log({ level: "info", event: "stopping", message: signal }));
  const taskMetrics = new TaskMetrics();
  let drainer: OnDemandRelay | undefined;
  let timers: Timers | undefined;
  try {
    drainer = relaySecret === undefined ? undefined : await drainerOf(options, json, taskMetrics);
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
      relay: { metrics: () => taskMetrics.render() },
      drainer,
      trustedProxies: options.trustedProxies,
      metricsOpen: options.openMetrics,
      oidc: oidcSettings(process.env),
      payments: { checkoutOrigins: options.checkoutOrigin === undefined ? undefined : [options.checkoutOrigin] },
      hosts,
      log,
    });
    const server = await startServer({ app, host: options.host, port });
    drainer?.keepTurning();
    timers = timersOf(database, taskMetrics, json);
    announce(server.url, hosts, prepare, options, routeOf(relaySecret, drainer));
    await signals.stopped;
    await server.stop();
  } finally {
    signals.dispose();
    await Promise.all([timers?.stop(), drainer?.close()]);
    await database.close();
  }
}

/** Timers run as a statement of the gateway, which has a time limit of seconds, so one run handles few requests. */
const maxInSweep = 25;

function timersOf(database: GatewayDatabase, metrics: TaskMetrics, json: boolean): Timers {
  return startTimers({
    runner: "server",
    most: maxInSweep,
    use: (work) => database.transaction(serviceSession(), work, { preRequest: false }),
    log: createLog(json),
    metrics,
  });
}

/** Delivers for /api/internal/outbox-relay, with another login, because the gateway may not claim rows. */
async function drainerOf(
  options: ServeOptions,
  json: boolean,
  taskMetrics: TaskMetrics,
): Promise<OnDemandRelay | undefined> {
  const url = options.relayDatabaseUrl;
  if (url === undefined || url === "") return undefined;
  const log = createLog(json);
  const side = openSidePool(url);
  try {
    const rails = await loadRails(options, { side, log });
    return createOnDemandRelay(url, rails, log, { streams: options.relayStreams, side, taskMetrics });
  } catch (error) {
    await side.end();
    throw error;
  }
}

function requireSecret(): string {
  const secret = process.env["HEADROOM_JWT_SECRET"];
  if (secret !== undefined && secret.length >= 32) return secret;
  throw new HeadroomError("usage", "HEADROOM_JWT_SECRET is not set, or shorter than 32 characters.", {
    hint: "It signs and checks every token. Make keys with `headroom keys init`, or use your Supabase project's JWT secret.",
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

/** Undefined if no provider is configured; a partly configured one is a usage error. */
function oidcSettings(env: NodeJS.ProcessEnv): OidcSettings | undefined {
  const issuer = nonEmpty(env["OIDC_ISSUER"]);
  const clientId = nonEmpty(env["OIDC_CLIENT_ID"]);
  if (issuer === undefined && clientId === undefined) return undefined;
  if (issuer === undefined || clientId === undefined || !/^https?:$/.test(parseUrl(issuer)?.protocol ?? "")) {
    throw new HeadroomError("usage", "The identity provider is only partly configured.", {
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
async function supportsPreparing(url: string): Promise<boolean> {
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

/** Only these logins may name the caller; with any other, every caller would be anonymous. */
async function checkLogin(database: GatewayDatabase): Promise<void> {
  const { rows } = await database.ask({ text: "select session_user::text as login" }).catch((error: unknown) => {
    throw explainRefusedLogin(error);
  });
  const [{ login }] = loginRows.parse(rows);
  if (login === "headroom_gateway" || login === "authenticator") return;
  throw new HeadroomError("usage", `The server cannot work as the login "${login}".`, {
    detail: "The database lets only headroom_gateway and authenticator name the caller.",
    hint: `Run: ${openGateway}; and use that login in HEADROOM_GATEWAY_URL.`,
  });
}

/** The role is made without a login, so a first start often fails here. Callers are not told why, but the operator is. */
function explainRefusedLogin(error: unknown): unknown {
  const told = toHeadroomError(error instanceof HeadroomError && error.cause instanceof Error ? error.cause : error);
  const { code, message, sqlState } = told;
  if (code !== "login_refused") return told;
  return new HeadroomError(code, `The database refuses the server's login: ${message}.`, {
    detail: "headroom migrate makes the role headroom_gateway without a login; you give it one when you deploy.",
    hint: `As the role that migrated: ${openGateway}; with the password from HEADROOM_GATEWAY_URL.`,
    sqlState,
    cause: error,
  });
}

/** Without a public URL it accepts every host name: only the operator knows under which ones a proxy passes requests on. */
function hostsOf({ publicUrl: url, alsoHost }: ServeOptions): HostPolicy {
  return url === undefined && alsoHost === undefined ? anyHost : publicHosts(url ?? "http://localhost", alsoHost);
}

/** The rails of the relay route. */
interface RelayRoute {
  readonly rails: readonly string[];
  readonly words: string;
}

function routeOf(relaySecret: string | undefined, drainer: OnDemandRelay | undefined): RelayRoute {
  if (relaySecret === undefined) return { rails: [], words: "off, because HEADROOM_RELAY_SECRET is not set" };
  if (drainer === undefined) return { rails: [], words: "delivers nothing, because DATABASE_URL is not set" };
  const rails = drainer.rails.map(({ name }) => name);
  return { rails, words: rails.length === 0 ? "delivers nothing, because there are no rails" : rails.join(", ") };
}

function announce(
  url: string,
  hosts: HostPolicy,
  prepare: boolean,
  options: ServeOptions,
  { rails, words }: RelayRoute,
): void {
  if (options.json === true) {
    const event = "server_ready";
    printJson({ time: new Date().toISOString(), level: "info", event, url, hosts: hosts.shown, prepare, rails });
    return;
  }
  printLine(`server     ${url}`);
  printLine(`names      ${hosts.shown}${hosts === anyHost ? " (with --public-url, only that one)" : ""}`);
  const pooled = prepare ? "" : "; no prepared statements, because of a transaction pooler";
  printLine(`database   ${describeDatabaseUrl(options.databaseUrl ?? "")}${pooled}`);
  printLine(`relaying   ${words}`);
  printLine(`API        ${url}/docs`);
}
