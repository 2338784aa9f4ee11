/**
 * The sandbox: one server that stands in for every provider, so that the whole product can be tried and tested with no account.
 *
 * Owns: starting, wiring and ending. Does not own: any provider; each has a folder of its own.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HeadroomError } from "../db/errors.ts";
import { openListener } from "../web/listener.ts";
import { hostsFor } from "../web/hosts.ts";
import type { Cast } from "./cast.ts";
import { controlRoutes, problem } from "./core/control.ts";
import { Courier } from "./core/courier.ts";
import type { SandboxEnv } from "./core/exchange.ts";
import { FaultPlan } from "./core/faults.ts";
import { privateKey } from "./core/keys.ts";
import { Ids } from "./core/ids.ts";
import { Memory, type Log } from "./core/memory.ts";
import { RequestLog } from "./core/requests.ts";
import type { SandboxSecrets, World } from "./core/world.ts";
import { overviewPages } from "./overview/page.ts";
import { Live } from "./pages/live.ts";
import { assetRoutes, ownFormsOnly } from "./pages/routes.ts";
import { startSmtp } from "./mail/smtp.ts";
import type { OidcClient } from "./oidc/state.ts";
import { createProviders, type Desks } from "./providers.ts";

export interface SandboxOptions {
  /** Default: 127.0.0.1. The sandbox lets everybody in: keep it on the loopback. */
  readonly host?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: any free one. */
  readonly smtpPort?: number;
  readonly cast: Cast;
  readonly secrets: SandboxSecrets;
  /** The client that may sign people in. Default: `headroom`, sent back to Headroom's own address. */
  readonly oidc?: OidcClient;
  /** Told of what should not have happened. Default: nobody. */
  readonly log?: Log;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** A file in which the stand-ins' state is kept from one start to the next. Default: it is forgotten. */
  readonly keepIn?: string;
  /** How many calls are remembered. Default: 5,000. */
  readonly requestLimit?: number;
}

export interface Sandbox extends Desks {
  readonly url: string;
  readonly smtpUrl: string;
  readonly cast: Cast;
  readonly faults: FaultPlan;
  readonly requests: RequestLog;
  readonly deliveries: Courier;
  /** Says where Headroom is, so that clicks, commands and events reach it. */
  connect(to: { readonly headroomUrl: string }): void;
  /** Forgets everything that happened, faults included; keeps the connection to Headroom. */
  reset(): void;
  close(): Promise<void>;
}

const defaults = {
  host: "127.0.0.1",
  port: 0,
  smtpPort: 0,
  requestLimit: 5_000,
  now: Date.now,
} as const satisfies Partial<SandboxOptions>;
const maxBodyBytes = 2_000_000;

export async function startSandbox(given: SandboxOptions): Promise<Sandbox> {
  const options = { ...defaults, ...given };
  const closing = new AbortController();
  let url = "";
  const live = new Live(closing.signal);
  let memory: Memory | undefined;
  const changed = (): void => {
    live.changed();
    memory?.changed();
  };
  const world = createWorld(options, closing.signal, () => url, changed);
  const key = await privateKey(options.secrets.privateKey);
  const providers = createProviders(world, { key, live, oidcClient: options.oidc });
  if (options.keepIn !== undefined) {
    memory = new Memory(options.keepIn, providers.kept, options.log);
    await memory.recall();
  }
  const reset = (): void => {
    world.faults.clear();
    world.requests.clear();
    world.courier.clear();
    providers.reset();
  };
  const app = new Hono<SandboxEnv>();
  app.use(bodyLimit({ maxSize: maxBodyBytes }));
  app.use(ownFormsOnly);
  app.onError((error) => failed(error, options.log));
  const control = controlRoutes(world, providers.desks, reset);
  const pages = [overviewPages(world, reset), assetRoutes(live)];
  for (const routes of [...providers.routes, control, ...pages]) app.route("/", routes);

  const listener = await openListener({
    host: options.host,
    port: options.port,
    // A page elsewhere could otherwise have its own name lead here, and use the sandbox as if it were its own.
    hosts: hostsFor(options.host),
    purpose: "the sandbox",
    fetch: (request, wire) => app.fetch(request, wire),
  });
  url = listener.url;
  const smtp = await startSmtp(world, providers.mailbox, options.host, options.smtpPort).catch((error: unknown) => {
    void listener.close();
    throw error;
  });
  return {
    ...providers.desks,
    url,
    smtpUrl: smtp.url,
    cast: world.cast,
    faults: world.faults,
    requests: world.requests,
    deliveries: world.courier,
    connect: ({ headroomUrl }) => world.courier.connect(headroomUrl),
    reset,
    async close() {
      closing.abort(new DOMException("The sandbox is closing.", "AbortError"));
      world.faults.release();
      await Promise.all([listener.close(), smtp.close()]);
      await world.courier.settled();
      await memory?.close();
    },
  };
}

function createWorld(
  options: SandboxOptions & Required<Pick<SandboxOptions, "now" | "requestLimit">>,
  closing: AbortSignal,
  url: () => string,
  changed: () => void,
): World {
  return {
    cast: options.cast,
    secrets: options.secrets,
    url,
    now: options.now,
    ids: new Ids(),
    faults: new FaultPlan(),
    requests: new RequestLog(options.requestLimit, options.now),
    closing,
    courier: new Courier(closing, options.now, changed),
    changed,
  };
}

function failed(error: Error, log: SandboxOptions["log"]): Response {
  if (error instanceof HeadroomError) return problem(error.httpStatus, error.message, error.hint ?? "");
  log?.("sandbox_failed", { error: error.message });
  return problem(500, "The sandbox failed.", "Nothing more is known; see its log.");
}
