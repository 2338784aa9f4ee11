/**
 * The rail `webhook`: posts a message to its endpoint, signed by Standard Webhooks.
 *
 * Owns: turning a message into a request and an answer into an outcome. Does not own: where endpoints are stored (a
 * resolver is injected), order, retries and rate limits (the engine's), or which addresses may be reached (ssrf.ts).
 */
import { parseToPassOn } from "../../db/values/exact-json.ts";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import { asksForQuiet, outcomeOfCode } from "../exchange-codes.ts";
import { exchange, openConnections } from "../exchange.ts";
import type { Connections, ExchangeAnswer } from "../exchange.ts";
import type { Rail, RailContext, RailMessage, RailOutcome, Validation, PauseRequest } from "../../contract/rail.ts";
import { excerptOf, reasonOf } from "../reason.ts";
import { parseRetryAfter } from "../retry-after.ts";
import { contentTypeOf, isEnvelope, isObject, speaksAsHeadroom, validateEnvelope } from "./cloudevents.ts";
import { codeOfStatus, webhookCodes } from "./codes.ts";
import type { WebhookCodeName } from "./codes.ts";
import { parseWebhookEndpoint } from "./config.ts";
import type { DisabledEndpoint, WebhookEndpoint } from "./config.ts";
import { createSigner, secretPrefix } from "./sign.ts";
import type { Signer } from "./sign.ts";
import { checkUrl, createAddressPolicy, guardedDialling } from "./ssrf.ts";
import type { Resolve, UrlRules } from "./ssrf.ts";

export type { DisabledEndpoint, WebhookEndpoint } from "./config.ts";

export interface WebhookRailOptions {
  /** Finds where a message goes; null when its endpoint does not exist (any more). May be slow, may throw. */
  readonly endpoint: (message: RailMessage, signal: AbortSignal) => Promise<WebhookEndpoint | DisabledEndpoint | null>;
  /**
   * Called when a receiver says that it is permanently gone (410), before the row is given up. Its errors are ignored, since
   * the next row gets the same answer. Default: nothing.
   */
  readonly gone?: (endpoint: WebhookEndpoint, message: RailMessage) => Promise<void>;
  /** As rows name it. Default: `webhook`. */
  readonly name?: string;
  /** Hard limit of one call. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Calls under way at once. Default: the relay's own limit. */
  readonly concurrency?: number;
  /** How long receivers are known to remember a webhook-id. Default: forever. */
  readonly dedupWindowMs?: number;
  /** Allows http URLs, for a sandbox or a trusted network. Default: false. */
  readonly allowHttp?: boolean;
  /** Ranges of addresses that may be reached although they are not public, e.g. `127.0.0.1/32`. Default: none. */
  readonly allowPrivate?: readonly string[];
  /** Certificate authorities to trust, as PEM. Default: the platform's. */
  readonly ca?: string | readonly string[];
  /** How much of an answer's body is read, in bytes. Default: 65,536. */
  readonly maxResponseBytes?: number;
  /** Resolves host names. Default: the system's resolver. */
  readonly resolve?: Resolve;
  /** The clock of `webhook-timestamp`, which receivers compare with theirs. Default: the machine's. */
  readonly now?: () => Date;
}

const defaults = {
  name: "webhook",
  timeoutMs: 15_000,
  allowHttp: false,
  allowPrivate: [],
  maxResponseBytes: 65_536,
  now: () => new Date(),
} satisfies Partial<WebhookRailOptions>;

export interface WebhookRail extends Rail {
  /** Closes connections that are kept open for reuse. */
  close(): void;
}

export function createWebhookRail(options: WebhookRailOptions): WebhookRail {
  const settings = { ...defaults, ...options };
  const reach: Reach = {
    allowed: reachOf(settings, { allowHttp: settings.allowHttp, policy: createAddressPolicy(settings.allowPrivate) }),
    publicOnly: reachOf(settings, { allowHttp: false, policy: createAddressPolicy([]) }),
  };
  return {
    name: settings.name,
    capability: "idempotent",
    sends: "text",
    timeoutMs: settings.timeoutMs,
    ...(settings.concurrency === undefined ? {} : { concurrency: settings.concurrency }),
    ...(settings.dedupWindowMs === undefined ? {} : { dedupWindowMs: settings.dedupWindowMs }),
    codes: Object.keys(webhookCodes),
    validate: validateWebhook,
    send: (message, context) => send(message, context, settings, reach),
    close() {
      reach.allowed.connections.close();
      reach.publicOnly.connections.close();
    },
  };
}

/** The rules for reaching endpoints. They have separate connections, since a connection that is kept open is reused without an address check. */
interface Way {
  readonly connections: Connections;
  readonly prepare: (endpoint: WebhookEndpoint) => Prepared | RailOutcome;
}

interface Reach {
  readonly allowed: Way;
  readonly publicOnly: Way;
}

function reachOf({ resolve, ca }: WebhookRailOptions, rules: UrlRules): Way {
  return {
    connections: openConnections({ rules: guardedDialling(rules.policy, resolve), ca }),
    prepare: endpointPreparer(rules),
  };
}

/**
 * An envelope of CloudEvents must be complete; any other object is sent as it is. Receivers trust the signature, so others' rows must not
 * speak in Headroom's name. This is checked here, since binds may have filled it in.
 */
function validateWebhook(message: RailMessage): Validation {
  if (!isObject(message.payload)) return { ok: false, reason: "the payload of a webhook must be a JSON object" };
  if (message.ours !== true && speaksAsHeadroom(message.payload)) {
    return { ok: false, reason: "types of capacity and headroom, and the source /headroom, are Headroom's own" };
  }
  return isEnvelope(message.payload) ? validateEnvelope(message.payload) : { ok: true };
}

type Settings = WebhookRailOptions & Required<Pick<WebhookRailOptions, keyof typeof defaults>>;

async function send(
  message: RailMessage,
  { signal }: RailContext,
  settings: Settings,
  reach: Reach,
): Promise<RailOutcome> {
  const found = await findEndpoint(message, signal, settings);
  if (found === null) return outcomeOf("unknown_endpoint");
  if ("kind" in found) return found;
  if ("disabled" in found) return outcomeOf("endpoint_disabled", found.reason);
  const { connections, prepare } = found.publicOnly === true ? reach.publicOnly : reach.allowed;
  const prepared = prepare(found);
  if ("kind" in prepared) return prepared;
  const signed = prepared.sign(message.outboxId, settings.now(), message.body);
  const headers = { ...prepared.headers, "content-type": contentTypeOf(message.payload), ...signed };
  const { maxResponseBytes } = settings;
  const result = await exchange(
    { url: prepared.url, headers, body: Buffer.from(message.body), maxResponseBytes },
    connections,
    signal,
  );
  if (result.kind !== "answer") return outcomeOf(result.code);
  if (result.status === 410) await settings.gone?.(found, message).catch(() => undefined);
  return outcomeOfAnswer(result, [...prepared.secrets, ...signed["webhook-signature"].split(" ")], settings.now());
}

async function findEndpoint(
  message: RailMessage,
  signal: AbortSignal,
  settings: Settings,
): Promise<WebhookEndpoint | DisabledEndpoint | RailOutcome | null> {
  if (signal.aborted) return outcomeOf("aborted_before_send");
  try {
    const found = await withTimeout(settings.endpoint(message, signal), signal);
    return found.kind === "done" ? found.value : outcomeOf("aborted_before_send");
  } catch {
    // Its error may quote a connection string or a secret, so it is not repeated.
    return outcomeOf("endpoint_unavailable");
  }
}

interface Prepared {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly sign: Signer;
  /** What no reason may quote. */
  readonly secrets: readonly string[];
}

/** Each endpoint is checked once and remembered for as long as the resolver returns the same object. */
function endpointPreparer(rules: UrlRules): (endpoint: WebhookEndpoint) => Prepared | RailOutcome {
  const known = new WeakMap<WebhookEndpoint, Prepared>();
  return (settings) => {
    const remembered = known.get(settings);
    if (remembered !== undefined) return remembered;
    const parsed = parseWebhookEndpoint(settings);
    if (!parsed.ok) return outcomeOf("endpoint_invalid", parsed.reason);
    const { url: text, secrets, headers = {} } = parsed.endpoint;
    const checked = checkUrl(text, rules);
    if (!checked.ok) return outcomeOf(checked.code, checked.reason);
    const lowerCased = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    const prepared: Prepared = {
      url: checked.url,
      headers: { accept: "*/*", "user-agent": "Headroom", ...Object.fromEntries(lowerCased) },
      sign: createSigner(secrets),
      secrets: [
        ...secrets.flatMap((secret) => [secret, secret.slice(secretPrefix.length)]),
        ...Object.values(headers).flatMap(partsOf),
      ],
    };
    known.set(settings, prepared);
    return prepared;
  };
}

/** Of `Bearer abc`, the whole text and the last word are secret. */
function partsOf(value: string): string[] {
  return [value, ...value.split(/[\s,;=]+/)];
}

function outcomeOfAnswer(answer: ExchangeAnswer, secrets: readonly string[], now: Date): RailOutcome {
  const code = codeOfStatus(answer.status);
  if (code === null) return delivered(answer);
  const excerpt = excerptOf(answer.body.toString("utf8"), secrets);
  const detail = `HTTP ${answer.status}${excerpt === "" ? "" : `: ${excerpt}`}`;
  const afterMs = parseRetryAfter(answer.headers["retry-after"], answer.headers.date, now);
  const pauseRequest = {
    ...(afterMs === undefined ? {} : { afterMs }),
    throttled: asksForQuiet(answer.status, afterMs),
  };
  const outcome = outcomeOf(code, detail, pauseRequest);
  return outcome.kind === "rejected" && code === "http_410" ? { ...outcome, gone: true } : outcome;
}

/** Any 2xx is a delivery; the body is read only for captures, and only if it is complete and JSON. */
function delivered(answer: ExchangeAnswer): RailOutcome {
  const base = { kind: "delivered", code: String(answer.status) } as const;
  if (answer.truncated || !/^application\/([\w.+-]+\+)?json\b/i.test(answer.headers["content-type"] ?? "")) return base;
  const response = parseToPassOn(answer.body.toString("utf8"));
  return response === undefined ? base : { ...base, response };
}

function outcomeOf(
  code: WebhookCodeName,
  detail?: string,
  pauseRequest?: PauseRequest,
): Exclude<RailOutcome, { kind: "delivered" }> {
  const { outcome, meaning } = webhookCodes[code];
  return outcomeOfCode(
    outcome,
    code,
    reasonOf(detail === undefined ? meaning : `${meaning} (${detail})`),
    pauseRequest,
  );
}
