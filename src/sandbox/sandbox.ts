/**
 * The sandbox: one server that stands in for every provider, so that you can try and test the whole product without an account.
 *
 * Owns: starting, wiring and stopping. Does not own: any provider; each has its own folder.
 */
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HeadroomError } from "../db/errors.ts";
import { openListener } from "../web/listener.ts";
import { hostsFor } from "../web/hosts.ts";
import type { SampleData } from "./sample-data.ts";
import { controlRoutes, problem } from "./core/control.ts";
import { WebhookSender } from "./core/webhook-sender.ts";
import type { SandboxEnv } from "./core/exchange.ts";
import { FaultPlan } from "./core/faults.ts";
import { privateKey } from "./core/signing-key.ts";
import { Ids } from "./core/ids.ts";
import { StateFile, type Log } from "./core/state-file.ts";
import { RequestLog } from "./core/request-log.ts";
import type { SandboxSecrets, World } from "./core/world.ts";
import { messagePages, type ReadMessages } from "./messages/page.ts";
import { overviewPages } from "./overview/page.ts";
import { Live } from "./pages/live.ts";
import { assetRoutes, ownFormsOnly } from "./pages/routes.ts";
import { startSmtp } from "./mail/smtp.ts";
import type { OidcClient } from "./oidc/state.ts";
import { shippedScript } from "./github/job-processes.ts";
import { createProviders, type UserActions } from "./providers.ts";

export interface SandboxOptions {
  /** Default: 127.0.0.1. The sandbox asks for no password, so keep it on the loopback. */
  readonly host?: string;
  /** Default: any free one. */
  readonly port?: number;
  /** Default: any free one. */
  readonly smtpPort?: number;
  readonly sampleData: SampleData;
  readonly secrets: SandboxSecrets;
  /** The client that may sign people in. Default: `headroom`, sent back to Headroom's own address. */
  readonly oidc?: OidcClient;
  /** Gets unexpected errors. Default: they are ignored. */
  readonly log?: Log;
  /** Milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
  /** A file that keeps the stand-ins' state across restarts. Default: it is forgotten. */
  readonly keepIn?: string;
  /** What the page of all messages shows. Default: it says that there is nothing to show. */
  readonly messages?: ReadMessages | undefined;
  /** How many calls are remembered. Default: 5,000. */
  readonly requestLimit?: number;
  /** How many mails are kept. Default: 2,000. */
  readonly mailLimit?: number;
  /** A factor on the duration of workflow runs; for tests. Default: 1. */
  readonly runTimeScale?: number;
  /** The shortest wait of a run before it retries a call, at any speed; a result is retried for 150 times as long. Default: 20. */
  readonly minRunRetryMs?: number;
  /** Additional environment variables for runs; for tests. Default: none. */
  readonly runVariables?: Readonly<Record<string, string>>;
  /** The script that runs call. Default: the one that users copy, deploy/github/headroom.mjs. */
  readonly runScript?: string;
}

export interface Sandbox extends UserActions {
  readonly url: string;
  readonly smtpUrl: string;
  readonly sampleData: SampleData;
  readonly faults: FaultPlan;
  readonly requests: RequestLog;
  readonly webhooks: WebhookSender;
  /** Sets Headroom's address, to which clicks, commands and events are sent. */
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
  mailLimit: 2_000,
  runTimeScale: 1,
  minRunRetryMs: 20,
  runVariables: {},
  runScript: shippedScript,
  now: Date.now,
} as const satisfies Partial<SandboxOptions>;
const maxBodyBytes = 2_000_000;

export async function startSandbox(given: SandboxOptions): Promise<Sandbox> {
  const options = { ...defaults, ...given };
  const closing = new AbortController();
  let url = "";
  const live = new Live(closing.signal);
  let stateFile: StateFile | undefined;
  const changed = (): void => {
    live.changed();
    stateFile?.changed();
  };
  const world = createWorld(options, closing.signal, () => url, changed);
  const key = await privateKey(options.secrets.privateKey);
  const providers = createProviders(world, {
    key,
    live,
    oidcClient: options.oidc,
    mailLimit: options.mailLimit,
    runs: {
      timeScale: options.runTimeScale,
      minRetryMs: options.minRunRetryMs,
      script: options.runScript,
      variables: options.runVariables,
    },
  });
  if (options.keepIn !== undefined) {
    stateFile = new StateFile(options.keepIn, providers.kept, options.log);
    await stateFile.read();
  }
  const reset = (): void => {
    world.faults.clear();
    world.requests.clear();
    world.webhooks.clear();
    providers.reset();
  };
  const app = new Hono<SandboxEnv>();
  app.use(bodyLimit({ maxSize: maxBodyBytes }));
  app.use(ownFormsOnly);
  app.onError((error) => failed(error, options.log));
  const control = controlRoutes(world, providers.userActions, reset);
  const pages = [overviewPages(world, reset), messagePages(options.messages), assetRoutes(live)];
  for (const routes of [...providers.routes, control, ...pages]) app.route("/", routes);

  const listener = await openListener({
    host: options.host,
    port: options.port,
    // Otherwise another site could point its own host name here and use the sandbox from its pages.
    hosts: hostsFor(options.host),
    purpose: "the sandbox",
    fetch: (request, wire) => app.fetch(request, wire),
  });
  url = listener.url;
  const smtp = await startSmtp(world, providers.mailbox, options.host, options.smtpPort).catch((error: unknown) => {
    void listener.close();
    throw error;
  });
  providers.resume();
  return {
    ...providers.userActions,
    url,
    smtpUrl: smtp.url,
    sampleData: world.sampleData,
    faults: world.faults,
    requests: world.requests,
    webhooks: world.webhooks,
    connect: ({ headroomUrl }) => world.webhooks.connect(headroomUrl),
    reset,
    async close() {
      closing.abort(new DOMException("The sandbox is closing.", "AbortError"));
      world.faults.release();
      await Promise.all([providers.close(), listener.close(), smtp.close()]);
      await world.webhooks.done();
      await stateFile?.close();
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
    sampleData: options.sampleData,
    secrets: options.secrets,
    url,
    now: options.now,
    ids: new Ids(),
    faults: new FaultPlan(),
    requests: new RequestLog(options.requestLimit, options.now),
    closing,
    webhooks: new WebhookSender(closing, options.now, changed),
    changed,
  };
}

function failed(error: Error, log: SandboxOptions["log"]): Response {
  if (error instanceof HeadroomError) return problem(error.httpStatus, error.message, error.hint ?? "");
  log?.("sandbox_failed", { error: error.message });
  return problem(500, "The sandbox failed.", "The log has the details.");
}
