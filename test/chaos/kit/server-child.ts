/**
 * The server, which kills itself around one kind of call if told to: while the database works on it, or once it is committed and
 * before it is answered.
 *
 *     node server-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { pause } from "../../../src/db/wait/pause.ts";
import { createApp } from "../../../src/http/app.ts";
import { createGatewayDatabase } from "../../../src/http/database/gateway-database.ts";
import { startServer } from "../../../src/http/server.ts";
import { endWithStarter, sayReady } from "./part-process.ts";

/** The call has all of this in its body. */
const trapSchema = z.object({ holds: z.array(z.string()), at: z.enum(["during", "before the answer"]) });
export type ServerTrap = z.infer<typeof trapSchema>;

const configSchema = z.object({
  connectionString: z.string(),
  secretKey: z.string(),
  checkoutOrigin: z.string().default("https://checkout.example"),
  trap: trapSchema.optional(),
});

const { connectionString, secretKey, checkoutOrigin, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
endWithStarter();
const app = createApp({
  database: createGatewayDatabase({ url: connectionString, maxConnections: 8, secretKey }),
  // Nobody signs in here: callbacks and webhooks have their own signatures.
  keys: { jwtSecret: "x".repeat(32), anonKey: "anon", serviceKey: "service" },
  publicUrl: "http://127.0.0.1",
  payments: { checkoutOrigins: [checkoutOrigin], waitMs: 500 },
  log: () => undefined,
});

/** Long enough for a transaction to start its work, and rarely to finish it. */
const duringMs = 4;

async function answer(request: Request, client?: Parameters<typeof app.fetch>[1]): Promise<Response> {
  if (trap === undefined) return app.fetch(request, client);
  const body = await request.clone().text();
  const isTrapped = trap.holds.every((text) => body.includes(text));
  if (isTrapped && trap.at === "during") void pause(duringMs).then(() => process.kill(process.pid, "SIGKILL"));
  const response = await app.fetch(request, client);
  if (isTrapped && response.status === 200) process.kill(process.pid, "SIGKILL");
  return response;
}

const server = await startServer({ app: { ...app, fetch: answer }, host: "127.0.0.1", port: 0 });
sayReady(server.port);
