/**
 * One call to a stand-in, from its arrival to its answer: logged, then answered by a fault if one is planned, else by the provider.
 *
 * Owns: what a fault does to the effect and to the connection. Does not own: the text of a refusal; each provider has a dialect.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context } from "hono";
import type { CallFacts, FaultInput, FaultPlan } from "./faults.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";
import { deferred } from "../../db/wait/deferred.ts";

export interface SandboxEnv {
  Bindings: HttpBindings;
}
export type SandboxContext = Context<SandboxEnv>;

/** How a provider words its refusals and failures. */
export interface Dialect {
  /** `hadBegun`: the work had started, whether or not it took effect. */
  failed(hadBegun: boolean): Response;
  rateLimited(retryAfterSeconds: number): Response;
  /** Without it, the call fails. */
  locked?(): Response;
  refused(words: string): Response;
}

export interface ProviderCall extends CallFacts {
  readonly body: unknown;
}

export interface Exchange {
  readonly faults: FaultPlan;
  readonly requests: RequestLog;
  /** Aborts when the sandbox closes. */
  readonly closing: AbortSignal;
  /** Notified after each change that a page may show or a file should keep. */
  readonly changed: () => void;
}

export const defaultRetryAfterSeconds = 1;

/** Carries out the call, unless a fault prevents it. `effect` is called at most once. */
export async function answer(
  context: SandboxContext,
  exchange: Exchange,
  call: ProviderCall,
  dialect: Dialect,
  effect: () => Response | Promise<Response>,
): Promise<Response> {
  const fault = exchange.faults.draw(call);
  const entry = exchange.requests.record({ ...call, path: context.req.path }, fault?.kind);
  const done = async (): Promise<Response> => {
    const response = await effect();
    entry.effect = true;
    exchange.changed();
    return response;
  };
  const response =
    fault === undefined ? await done() : await faulty({ context, exchange, call, dialect, fault, entry, done });
  entry.effect ??= false;
  if (response !== RESPONSE_ALREADY_SENT) entry.status = response.status;
  exchange.changed();
  return response;
}

interface FaultyCall {
  readonly context: SandboxContext;
  readonly exchange: Exchange;
  readonly call: ProviderCall;
  readonly dialect: Dialect;
  readonly fault: FaultInput;
  readonly entry: LoggedRequest;
  readonly done: () => Promise<Response>;
}

async function faulty({ context, exchange, call, dialect, fault, done }: FaultyCall): Promise<Response> {
  switch (fault.kind) {
    case "error500":
      return dialect.failed(false);
    case "error500Midway":
      return dialect.failed(true);
    case "rateLimit":
      return dialect.rateLimited(fault.retryAfterSeconds ?? defaultRetryAfterSeconds);
    case "locked":
      return dialect.locked?.() ?? dialect.failed(false);
    case "refuse":
      return dialect.refused("refused on purpose");
    case "refuseEchoing":
      return dialect.refused(`refused on purpose: ${echoOf(context, call)}`);
    case "dropBeforeAccept":
      return cut(context);
    case "hangBeforeAccept":
      await exchange.faults.hold(untilGone(context, exchange));
      return cut(context);
    case "error500AfterAccept":
      await done();
      return dialect.failed(true);
    case "dropAfterAccept":
      await done();
      return cut(context);
    case "hang":
      await done();
      await exchange.faults.hold(untilGone(context, exchange));
      return cut(context);
    case "cutAnswer":
      return cutMidway(context, await done());
    case "answer":
      if (fault.accepts === true) await done();
      return misanswer(fault);
    case "late": {
      const response = await done();
      await exchange.faults.hold(untilGone(context, exchange), fault.ms);
      return response;
    }
    default:
      await done();
      return new Response("<!doctype html><title>Who am I?</title>\u0000", {
        headers: { "content-type": "text/html" },
      });
  }
}

function misanswer({ status = 200, text = "", location, retryAfterSeconds }: FaultInput): Response {
  const headers = new Headers({ "content-type": "text/html" });
  if (location !== undefined) headers.set("location", location);
  if (retryAfterSeconds !== undefined) headers.set("retry-after", String(retryAfterSeconds));
  const isBodiless = status === 204 || status === 304;
  return new Response(isBodiless ? null : text, { status, headers });
}

function echoOf(context: SandboxContext, call: ProviderCall): string {
  return JSON.stringify({ headers: context.req.header(), body: call.body }).slice(0, 20_000);
}

/** Aborts when nobody waits any more: the caller has disconnected, or the sandbox closes. */
function untilGone(context: SandboxContext, exchange: Exchange): AbortSignal {
  const gone = new AbortController();
  context.env.outgoing.once("close", () => gone.abort());
  if (context.env.outgoing.destroyed) gone.abort();
  return AbortSignal.any([gone.signal, exchange.closing]);
}

function cut(context: SandboxContext): Response {
  context.env.incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** Announces the whole answer, sends half of it, and closes the connection. */
async function cutMidway(context: SandboxContext, response: Response): Promise<Response> {
  const { outgoing, incoming } = context.env;
  const bytes = Buffer.from(await response.arrayBuffer());
  outgoing.writeHead(response.status, {
    ...Object.fromEntries(response.headers),
    "content-length": String(Math.max(bytes.length, 2)),
  });
  const half = bytes.subarray(0, Math.floor(bytes.length / 2));
  const { promise, resolve } = deferred<undefined>();
  // The callback comes once the bytes are with the system, so that they arrive before the reset.
  outgoing.flushHeaders();
  outgoing.write(half.length > 0 ? half : " ", () => resolve(undefined));
  await promise;
  incoming.socket.end();
  incoming.socket.destroySoon();
  return RESPONSE_ALREADY_SENT;
}
