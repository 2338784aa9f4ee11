/**
 * A receiver of webhooks as it should be: it checks the signature over the raw bytes, takes each event once, and answers at once.
 *
 * Any library of Standard Webhooks does the checking; there is one for most languages.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { z } from "zod";

const cloudEvent = z.object({
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string().optional(),
  data: z.unknown(),
});
export type CloudEvent = z.infer<typeof cloudEvent>;

export interface Receiver {
  readonly url: string;
  close(): void;
}

export async function startReceiver(secret: () => string, onEvent: (event: CloudEvent) => void): Promise<Receiver> {
  // In a real one: a unique key in its database, written together with what the event causes.
  const seen = new Set<string>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers["webhook-id"]);
    let event: CloudEvent;
    try {
      // The raw body: parsed and written again, its bytes would differ, and the signature would not fit.
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      event = cloudEvent.parse(new Webhook(secret()).verify(await text(request), headers));
    } catch {
      response.writeHead(401).end();
      return;
    }
    // An event may come twice, after an answer that got lost; the id is the same then.
    if (!seen.has(id)) {
      seen.add(id);
      onEvent(event);
    }
    response.writeHead(204).end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}/hooks`, close: () => server.close() };
}
