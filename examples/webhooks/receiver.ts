/**
 * A correct receiver of webhooks: it checks the signature over the raw bytes, accepts each event once, and answers immediately.
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
  // In a real receiver: a unique key in its database, written in one transaction with the effect of the event.
  const seen = new Set<string>();
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const id = String(request.headers["webhook-id"]);
    let event: CloudEvent;
    try {
      // The raw body: if it were parsed and serialised again, its bytes would differ and the signature would not match.
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      event = cloudEvent.parse(new Webhook(secret()).verify(await text(request), headers));
    } catch {
      response.writeHead(401).end();
      return;
    }
    // An event may come twice, after an answer was lost; the id is the same.
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
