/**
 * The whole product on one machine: stand-ins for every provider, the HTTP server, and the settings that connect them with the database.
 *
 * Owns: the order in which they start and stop, and how they find each other. Does not own: the database server and the relay
 * (the command's), nor what any part does.
 */
import { join } from "node:path";
import type { Client } from "pg";
import { listSecrets, rotateSecretKey, setSecret } from "../../../db/secrets/index.ts";
import { putIdentityDomain, putWorkspace } from "../../../directory/index.ts";
import { withConnection } from "../../../db/connect.ts";
import { HeadroomError } from "../../../db/errors.ts";
import { openGatewayLogin } from "../../../db/gateway-login.ts";
import { createApp } from "../../../http/app.ts";
import type { HttpLogEntry } from "../../../http/dependencies.ts";
import { createGatewayDatabase } from "../../../http/database/gateway-database.ts";
import { startServer, type RunningServer } from "../../../http/server.ts";
import { listTemplates, previewTemplate } from "../../../notify/index.ts";
import { listSettings, putCallbackSecret, putSettings } from "../../../provisioning/index.ts";
import type { Drainer } from "../../../outbox/relay/drain.ts";
import { defaultSampleData } from "../../../sandbox/sample-data.ts";
import type { SampleMessage } from "../../../sandbox/messages/page.ts";
import { startSandbox, type Sandbox } from "../../../sandbox/sandbox.ts";
import { loopbackHosts } from "../../../web/hosts.ts";
import { freePort } from "../../free-port.ts";
import type { InstallationKeys } from "../../installation.ts";
import { tokenIssuer } from "../../make-keys.ts";
import { orFail } from "../../refusal.ts";
import type { Environment } from "../../relay/provider-rails.ts";
import { exampleWorkspace, makeExample } from "./example.ts";

export interface ProductOptions {
  readonly databaseUrl: string;
  readonly keys: InstallationKeys;
  /** The stand-ins' data folder; undefined: only in memory. */
  readonly folder: string | undefined;
  /** Undefined: the default port, or a free one if that is taken. */
  readonly port: number | undefined;
  readonly sandboxPort: number | undefined;
  readonly log: (entry: HttpLogEntry) => void;
  readonly notice: (text: string) => void;
  /** The relay's metrics, once it runs. */
  readonly metrics: () => Promise<string>;
  /** Delivers due rows when the route is called, once there are rails. */
  readonly drain: Drainer["drain"];
}

export interface Product {
  readonly url: string;
  readonly sandbox: Sandbox;
  /** What the providers' rails need to reach the stand-ins, as environment variables. */
  readonly environment: Environment;
  /** Whether this start made the example; false if it existed. */
  readonly isNew: boolean;
  stop(): Promise<void>;
}

const defaultPorts = { server: 8400, sandbox: 8401 } as const;

export async function startProduct(options: ProductOptions): Promise<Product> {
  const { databaseUrl, keys } = options;
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of stops.splice(0).toReversed()) await end();
  };
  try {
    const sandbox = await onPort(options.sandboxPort, defaultPorts.sandbox, options.notice, (port) =>
      startSandbox({
        port,
        sampleData: defaultSampleData,
        secrets: keys,
        messages: () => withConnection(databaseUrl, readMessages, connection),
        ...(options.folder === undefined ? {} : { keepIn: join(options.folder, "sandbox.json") }),
      }),
    );
    stops.push(() => sandbox.close());
    const gatewayUrl = await withConnection(databaseUrl, (client) => prepare(client, options, sandbox), connection);
    const database = createGatewayDatabase({ url: gatewayUrl, secretKey: keys.secretKey });
    stops.push(() => database.close());
    const server = await onPort(options.port, defaultPorts.server, options.notice, (port) =>
      listen(port, options, database, sandbox),
    );
    stops.push(() => server.stop());
    const isNew = await withConnection(databaseUrl, (client) => introduce(client, server.url, keys), connection);
    sandbox.connect({ headroomUrl: server.url });
    return { url: server.url, sandbox, environment: environmentOf(sandbox), isNew, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const connection = { applicationName: "headroom up" };

/** Every message that the example's people may get, for the sandbox's page of all messages. */
export async function readMessages(client: Client): Promise<readonly SampleMessage[]> {
  const messages: SampleMessage[] = [];
  const { templates } = orFail(await listTemplates(client, { workspaceId: exampleWorkspace }));
  for (const template of templates) {
    const which = { name: template.name, language: template.language, workspaceId: exampleWorkspace };
    const previewed = await previewTemplate(client, which);
    // A text that an earlier release accepted and this one refuses is still used, but cannot be previewed.
    messages.push({ ...template, samples: previewed.outcome === "refused" ? [] : previewed.samples });
  }
  return messages;
}

/** What the server needs before it starts: its login, and the secrets by which the database checks signatures. */
async function prepare(client: Client, { databaseUrl, keys }: ProductOptions, sandbox: Sandbox): Promise<string> {
  const gatewayUrl = await openGatewayLogin(client, databaseUrl, keys.gatewayPassword);
  const secrets: Readonly<Record<string, string>> = {
    CONFIRMATION_TOKEN_SECRET: keys.confirmationTokenSecret,
    SLACK_SIGNING_SECRET: keys.slackSigningSecret,
    LINEAR_WEBHOOK_SECRET: keys.linearWebhookSecret,
    GITHUB_WEBHOOK_SECRET: keys.githubWebhookSecret,
    STRIPE_WEBHOOK_SECRET: keys.stripeWebhookSecret,
    POSTAL_WEBHOOK_PUBLIC_KEY: sandbox.mail.postalPublicKey,
  };
  const stored = orFail(await listSecrets(client, keys.secretKey)).secrets;
  // If the key file was lost, there are new keys, and what the old ones encrypted is stored again.
  if (stored.some(({ readable }) => !readable))
    orFail(await rotateSecretKey(client, { key: keys.secretKey, lost: true }));
  for (const [name, value] of Object.entries(secrets)) {
    if (stored.some((secret) => secret.name === name && secret.readable)) continue;
    orFail(await setSecret(client, { name, value, key: keys.secretKey }));
  }
  // Colleagues sign in at the sandbox's identity provider, which may have another address each time.
  for (const domain of new Set(sandbox.sampleData.people.map(({ email }) => email.split("@").at(-1) ?? ""))) {
    orFail(await putIdentityDomain(client, { workspaceId: exampleWorkspace, issuer: issuerOf(sandbox), domain }));
  }
  return gatewayUrl;
}

function issuerOf(sandbox: Sandbox): string {
  return `${sandbox.url}/oidc`;
}

/** Makes the example at the first start. Sets the address of links at every start, because the port may change. */
async function introduce(client: Client, publicUrl: string, keys: InstallationKeys): Promise<boolean> {
  orFail(await putWorkspace(client, exampleWorkspace, { publicUrl }));
  await connectWorkflows(client, keys);
  return makeExample(client, defaultSampleData);
}

/** The sandbox accepts any repository. One that the user connected instead is kept, and so is a secret that can be read. */
async function connectWorkflows(client: Client, keys: InstallationKeys): Promise<void> {
  const { secretKey: key, provisioningCallbackSecret: secret } = keys;
  const connected = (await listSettings(client, key)).find(({ workspaceId }) => workspaceId === exampleWorkspace);
  if (connected === undefined) {
    orFail(await putSettings(client, exampleWorkspace, { owner: "acme", repo: "infrastructure" }));
  }
  if (connected?.secret !== "readable") {
    orFail(await putCallbackSecret(client, exampleWorkspace, { key, secret }));
  }
}

async function listen(
  port: number,
  { keys, log, metrics, drain }: ProductOptions,
  database: ReturnType<typeof createGatewayDatabase>,
  sandbox: Sandbox,
): Promise<RunningServer> {
  // Links and cookies need the address before the server listens.
  const actual = port === 0 ? await freePort(host) : port;
  const app = createApp({
    database,
    keys: {
      jwtSecret: keys.jwtSecret,
      anonKey: keys.anonKey,
      serviceKey: keys.serviceKey,
      issuers: [tokenIssuer],
    },
    publicUrl: `http://${host}:${actual}`,
    relaySecret: keys.relaySecret,
    relay: { metrics },
    drainer: { drain },
    // On loopback only, and under its names only.
    hosts: loopbackHosts,
    metricsOpen: true,
    sandbox: true,
    oidc: {
      issuer: issuerOf(sandbox),
      clientId: "headroom",
      clientSecret: "headroom-sandbox-secret",
      name: "the sandbox's identity provider",
    },
    webhooks: { slackResponseUrls: [`${sandbox.url}/slack/response/`] },
    payments: { checkoutOrigins: [new URL(sandbox.url).origin] },
    log,
  });
  return startServer({ app, host, port: actual });
}

const host = "127.0.0.1";

/** The given port and no other; if none is given, the preferred one, or a free one if that is taken. */
async function onPort<T>(
  wanted: number | undefined,
  preferred: number,
  notice: (text: string) => void,
  start: (port: number) => Promise<T>,
): Promise<T> {
  if (wanted !== undefined) return start(wanted);
  try {
    return await start(preferred);
  } catch (error) {
    if (!(error instanceof HeadroomError) || error.code !== "port_in_use") throw error;
    notice(`Port ${preferred} is taken by another program; using a free one.`);
    return start(0);
  }
}

/** The environment variables with which the rails reach the stand-ins instead of the real providers. */
export function environmentOf(sandbox: Sandbox): Environment {
  return {
    SLACK_BOT_TOKEN: "xoxb-sandbox",
    SLACK_API_URL: `${sandbox.url}/slack/api/`,
    SLACK_HOOKS_URL: `${sandbox.url}/slack/hooks/`,
    LINEAR_API_KEY: "lin_api_sandbox",
    LINEAR_API_URL: `${sandbox.url}/linear/graphql`,
    SMTP_URL: sandbox.smtpUrl,
    MAIL_FROM: "Headroom <capacity@headroom.example>",
    GITHUB_TOKEN: "sandbox",
    GITHUB_API_URL: `${sandbox.url}/github`,
    STRIPE_SECRET_KEY: "sk_test_sandbox",
    STRIPE_API_URL: sandbox.url,
  };
}
