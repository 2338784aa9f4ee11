/**
 * Receives a workflow's callbacks instead of Headroom: a real server that checks signature, time, replays, sizes and fields, lets the first
 * run have the job and tells others to stop, or answers as a test says.
 */
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

const short = z.string().min(1).max(200);
const callbackSchema = z.strictObject({
  id: z.uuidv4(),
  workspace: z.string(),
  job_id: z.string(),
  task: z.enum(["provision", "cleanup"]),
  attempt: z.int().min(1),
  run_id: z.int().min(1),
  run_attempt: z.int().min(1),
  signal: z.enum(["claim", "heartbeat", "succeeded", "failed"]),
  step: short.optional(),
  progress: z.int().min(0).max(100).optional(),
  error: z.string().min(1).max(4_000).optional(),
  failed_step: short.optional(),
});
export type Callback = z.infer<typeof callbackSchema>;
export type Signal = Callback["signal"];

export type Reply =
  | { readonly status: number; readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> }
  /** The connection is closed without an answer. */
  | "cut"
  /** `go_on: false`. */
  | "stop";

export interface Heard extends Callback {
  readonly headers: IncomingHttpHeaders;
  readonly bytes: number;
}

export interface CallbackReceiver {
  readonly url: string;
  readonly secret: string;
  /** Callbacks that were signed and well-formed, in order of arrival, whatever the answer. */
  readonly heard: Heard[];
  /** Why others were refused. */
  readonly refused: string[];
  /** Answers to the next callbacks of this signal, in turn; afterwards Headroom's usual ones. */
  plan(signal: Signal, ...replies: Reply[]): void;
  /** The terms in the answer to a claim. */
  job: Readonly<Record<string, unknown>>;
  /** Resolves once that many callbacks of this signal were received. */
  heardAtLeast(count: number, signal?: Signal): Promise<void>;
  close(): Promise<void>;
}

const patienceMs = 20_000;
const windowSeconds = 300;
const maxBytes = 16_384;

export const terms = {
  request_id: "CR-2026-000123",
  size: "32XL",
  quantity: 4,
  region: "us-east-1",
  duration_days: 90,
  attempt: 1,
  heartbeat_seconds: 60,
  limit_minutes: 15,
} as const;

export async function startReceiver(secret = "callback-secret-of-the-tests"): Promise<CallbackReceiver> {
  const heard: Heard[] = [];
  const refused: string[] = [];
  const planned = new Map<Signal, Reply[]>();
  const waiting = new Set<() => void>();
  const holders = new Map<string, string>();
  const receiver: CallbackReceiver = {
    url: "",
    secret,
    heard,
    refused,
    job: terms,
    plan: (signal, ...replies) => void planned.set(signal, [...(planned.get(signal) ?? []), ...replies]),
    async heardAtLeast(count, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const wanted = (): Heard[] => heard.filter((each) => signal === undefined || each.signal === signal);
      const look = (): void => void (wanted().length >= count && resolve());
      const limit = setTimeout(
        () => reject(new Error(`heard ${wanted().length} of ${count} ${signal ?? "callbacks"}; ${refused.join("; ")}`)),
        patienceMs,
      );
      waiting.add(look);
      look();
      await promise.finally(() => {
        waiting.delete(look);
        clearTimeout(limit);
      });
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const problem = problemWith(secret, request.headers, body, heard);
      if (typeof problem === "string") {
        refused.push(problem);
        return send(
          response,
          problem === "replayed" ? refusal(409, "already_used", problem) : refusal(401, "bad_signature", problem),
        );
      }
      heard.push({ ...problem, headers: request.headers, bytes: body.length });
      const reply = planned.get(problem.signal)?.shift();
      if (reply === "cut") request.socket.destroy();
      else if (reply === "stop") send(response, stop("The job is over."));
      else send(response, reply ?? answer(receiver, holders, problem));
      for (const look of waiting) look();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/provisioning`,
  });
}

function problemWith(
  secret: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  heard: readonly Heard[],
): string | Callback {
  const timestamp = String(headers["x-headroom-timestamp"]);
  const signature = createHmac("sha256", secret).update(`v1:${timestamp}:`).update(body).digest("hex");
  if (headers["x-headroom-signature"] !== `v1=${signature}`) return "wrong signature";
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < windowSeconds)) return "too old";
  if (body.length > maxBytes) return `${body.length} bytes`;
  const parsed = callbackSchema.safeParse(JSON.parse(body.toString()));
  if (!parsed.success) return parsed.error.message;
  return heard.some(({ id }) => id === parsed.data.id) ? "replayed" : parsed.data;
}

/** One run has the job, until the job ends. */
function answer(receiver: CallbackReceiver, holders: Map<string, string>, callback: Callback): Reply {
  const job = `${callback.job_id}/${callback.task}/${callback.attempt}`;
  const run = `${callback.run_id}/${callback.run_attempt}`;
  if (callback.signal === "claim" && !holders.has(job)) holders.set(job, run);
  if (holders.get(job) !== run) return stop("Another run has the job.");
  if (callback.signal === "succeeded" || callback.signal === "failed") {
    holders.set(job, "over");
    return { status: 200, body: { go_on: false, outcome: "accepted", why: "Noted." } };
  }
  return { status: 200, body: { go_on: true, outcome: "accepted", why: "Go on.", job: receiver.job } };
}

/** Headroom's answer to a callback with a valid signature and bad content. */
export const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  body: { status, code, message, details: code, hint: "Nothing was changed.", go_on: false },
});

const stop = (why: string): Reply => ({ status: 200, body: { go_on: false, outcome: "stop", why } });

function send(response: ServerResponse, reply: Reply): void {
  if (typeof reply === "string") return;
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
}
