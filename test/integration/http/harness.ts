/**
 * The real server on a free loopback port, in front of a test's database.
 *
 * Owns: keys, tokens, starting and stopping. Does not own: who is in the directory, nor what is asserted.
 */
import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll } from "vitest";
import { webhookSecrets } from "../../../bench/hostile/worst-input.ts";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { createApp, type App } from "../../../src/http/app.ts";
import type { HttpDependencies, HttpLogEntry } from "../../../src/http/dependencies.ts";
import { createGatewayDatabase, type GatewayDatabaseOptions } from "../../../src/http/database/gateway-database.ts";
import { startServer, type ServerOptions } from "../../../src/http/server.ts";
import { memberSession } from "../../../src/http/auth/session.ts";
import type { TestDatabase } from "../../helpers/database.ts";

export const jwtSecret = "super-secret-jwt-token-with-at-least-32-characters-long";
export const testSecretKey = "a key for tests that is thirty-two bytes and more";

export function signToken(claims: Record<string, unknown>, secret = jwtSecret): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(new TextEncoder().encode(secret));
}

/** The bearer token of a member. */
export function memberToken(memberId: string, workspaceId = "acme"): Promise<string> {
  return signToken({ ...memberSession({ memberId, workspaceId }).claims, exp: 4_102_444_800 });
}

/** Gives the database the secrets with which it verifies providers' deliveries; without them it could only say that it is not set up. */
export async function storeWebhookSecrets(db: TestDatabase): Promise<void> {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const secrets = {
    ...webhookSecrets,
    POSTAL_WEBHOOK_PUBLIC_KEY: publicKey.export({ type: "spki", format: "der" }).toString("base64"),
    CONFIRMATION_TOKEN_SECRET: "a secret for links, of 32 bytes or more",
  };
  const control = await db.as("headroom_control").connect();
  for (const [name, value] of Object.entries(secrets)) {
    await setSecret(control, { name, value, key: testSecretKey });
  }
  await control.end();
}

export interface TestGateway extends AsyncDisposable {
  readonly url: string;
  readonly app: App;
  readonly keys: HttpDependencies["keys"];
  readonly log: readonly HttpLogEntry[];
  stop(): Promise<void>;
}

export interface TestGatewayOptions {
  readonly dependencies?: Partial<HttpDependencies> | undefined;
  readonly database?: Partial<GatewayDatabaseOptions> | undefined;
  readonly server?: Partial<ServerOptions> | undefined;
}

/**
 * Starts it; it is stopped at the end of the file. Call it while tests are being collected, or inside a test with `await using`.
 */
export async function startTestGateway(db: TestDatabase, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const database = createGatewayDatabase({
    url: db.as("authenticator").url,
    maxConnections: 8,
    secretKey: testSecretKey,
    ...options.database,
  });
  const keys = {
    jwtSecret,
    anonKey: await signToken({ role: "anon", exp: 4_102_444_800 }),
    serviceKey: await signToken({ role: "service_role", exp: 4_102_444_800 }),
  };
  const log: HttpLogEntry[] = [];
  const app = createApp({
    database,
    keys,
    publicUrl: "http://127.0.0.1",
    log: (entry) => void log.push(entry),
    relaySecret: "the-relay-secret-of-all-the-tests",
    ...options.dependencies,
  });
  const server = await startServer({ app, host: "127.0.0.1", port: 0, drainMs: 2_000, ...options.server });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= server.stop().then(() => database.close()));
  afterAll(stop);
  return { url: server.url, app, keys, log, stop, [Symbol.asyncDispose]: stop };
}
