/**
 * The server, which kills itself if it was told to once it has committed a callback of one kind, before it answers.
 *
 *     node server-child.ts '<config as JSON>'
 */
import { z } from "zod";
import { createApp } from "../../../src/http/app.ts";
import { createGatewayDatabase } from "../../../src/http/database/gateway-database.ts";
import { startServer } from "../../../src/http/server.ts";
import { endWithStarter } from "./part-process.ts";

const trapSchema = z.object({
  task: z.enum(["provision", "cleanup"]),
  signal: z.enum(["claim", "heartbeat", "succeeded", "failed"]),
});
export type ServerTrap = z.infer<typeof trapSchema>;

const configSchema = z.object({
  connectionString: z.string(),
  secretKey: z.string(),
  trap: trapSchema.optional(),
});

const { connectionString, secretKey, trap } = configSchema.parse(JSON.parse(process.argv[2] ?? "{}"));
endWithStarter();
const app = createApp({
  database: createGatewayDatabase({ url: connectionString, maxConnections: 6, secretKey }),
  // Nobody signs in here: callbacks and webhooks bring signatures of their own.
  keys: { jwtSecret: "x".repeat(32), anonKey: "anon", serviceKey: "service" },
  publicUrl: "http://127.0.0.1",
  log: () => undefined,
});

async function answer(request: Request, client?: Parameters<typeof app.fetch>[1]): Promise<Response> {
  const said = trapSchema.safeParse(
    await request
      .clone()
      .json()
      .catch(() => undefined),
  ).data;
  const response = await app.fetch(request, client);
  const isTrapped = said !== undefined && said.task === trap?.task && said.signal === trap.signal;
  if (isTrapped && response.status === 200) process.kill(process.pid, "SIGKILL");
  return response;
}

const server = await startServer({ app: { ...app, fetch: answer }, host: "127.0.0.1", port: 0 });
console.log(JSON.stringify({ ready: server.port }));
