/**
 * The receiver's control API, on a separate port that no fault affects.
 *
 * GET /stats, GET /record (?from=<seq>), POST /faults (a plan), POST /queue (a list of faults), POST /secrets (a list),
 * POST /release, POST /refuse, POST /listen, POST /clear. Bodies and answers are JSON.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { faultPlanSchema, faultSchema } from "./receiver-faults.ts";
import { portOf } from "./receiver.ts";
import type { Receiver } from "./receiver.ts";

export interface ReceiverControl {
  readonly url: string;
  close(): Promise<void>;
}

type Route = (receiver: Receiver, body: string) => unknown;

const routes: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["GET /stats", (receiver) => receiver.book.stats()],
  ["POST /faults", (receiver, body) => receiver.script.set(faultPlanSchema.parse(JSON.parse(body)))],
  ["POST /queue", (receiver, body) => receiver.script.push(...z.array(faultSchema).parse(JSON.parse(body)))],
  ["POST /secrets", (receiver, body) => receiver.setSecrets(z.array(z.string()).parse(JSON.parse(body)))],
  ["POST /release", (receiver) => ({ released: receiver.release() })],
  ["POST /refuse", (receiver) => receiver.refuse()],
  ["POST /listen", (receiver) => receiver.listen()],
  ["POST /clear", (receiver) => receiver.book.clear()],
]);

export async function startReceiverControl(receiver: Receiver, port = 0): Promise<ReceiverControl> {
  const server = createServer((request, response) => void serve(receiver, request, response));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(receiver: Receiver, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://control");
    const name = `${request.method ?? ""} ${pathname}`;
    if (name === "GET /record") {
      response.writeHead(200, { "content-type": "application/json" });
      await pipeline(Readable.from(recordAsJson(receiver, Number(searchParams.get("from") ?? 1))), response);
      return;
    }
    const route = routes.get(name);
    if (route === undefined) {
      respond(response, 404, { error: `there is no ${name}` });
      return;
    }
    const answer = await route(receiver, await text(request));
    respond(response, 200, answer ?? { ok: true });
  } catch (error) {
    respond(response, 400, { error: String(error) });
  }
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** In chunks: after a long run the record is too big for one string. */
function* recordAsJson(receiver: Receiver, from: number): Generator<string> {
  yield '{"requests":[';
  yield* elements(receiver.book.requests, from);
  yield '],"effects":[';
  yield* elements(receiver.book.effects, from);
  yield "]}";
}

const elementsPerPiece = 500;

function* elements(list: readonly { readonly seq: number }[], from: number): Generator<string> {
  const chosen = from <= 1 ? list : list.filter(({ seq }) => seq >= from);
  for (let start = 0; start < chosen.length; start += elementsPerPiece) {
    const piece = chosen.slice(start, start + elementsPerPiece).map((each) => JSON.stringify(each));
    yield (start === 0 ? "" : ",") + piece.join(",");
  }
}
