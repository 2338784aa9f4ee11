/**
 * What the receiver saw: every raw request in order of arrival, and the first effect of each webhook-id.
 *
 * Owns: counting, deduplication and the check of signatures, written from the specification and not with the library that signs, so that
 * the two check each other.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { FaultKind } from "./receiver-faults.ts";

export interface ReceivedRequest {
  /** Counts raw requests from 1, in order of arrival. */
  readonly seq: number;
  /** Milliseconds since the epoch, with fractions. */
  readonly atMs: number;
  /** Numbers the connections, to show which were reused. */
  readonly connection: number;
  readonly method: string;
  readonly path: string;
  readonly webhookId: string;
  readonly webhookTimestamp: string;
  readonly headers: IncomingHttpHeaders | null;
  /** The raw body as UTF-8; null when it was not read, or not completely. */
  body: string | null;
  signature: "valid" | "invalid" | "unchecked";
  readonly fault: FaultKind;
  /** `first` when this request had the effect, `repeat` when an earlier one with the same webhook-id had it. */
  effect: "first" | "repeat" | "none";
  /** The status of the complete answer; null for none. */
  answered: number | null;
}

export interface Effect {
  readonly webhookId: string;
  /** Of the request that had it. */
  readonly seq: number;
  readonly atMs: number;
  readonly body: string;
}

export interface ReceiverRecord {
  readonly requests: readonly ReceivedRequest[];
  /** In the order in which they took place. */
  readonly effects: readonly Effect[];
}

export interface ReceiverStats {
  readonly requests: number;
  readonly effects: number;
  /** Requests with an id whose effect had taken place before. */
  readonly repeats: number;
  readonly invalidSignatures: number;
  /** Ids that came again with different bytes: the sender broke its promise. */
  readonly changedBodies: number;
  readonly byFault: Readonly<Record<string, number>>;
}

/** One effect for each webhook-id, as in a receiver that follows Standard Webhooks. */
export class RecordBook implements ReceiverRecord {
  readonly requests: ReceivedRequest[] = [];
  readonly effects: Effect[] = [];
  readonly #effectIds = new Set<string>();
  readonly #bodyHashes = new Map<string, string>();
  readonly #changedIds = new Set<string>();
  #lastSeq = 0;

  add(request: Omit<ReceivedRequest, "seq" | "atMs" | "body" | "signature" | "effect" | "answered">): ReceivedRequest {
    this.#lastSeq += 1;
    const entry: ReceivedRequest = {
      ...request,
      seq: this.#lastSeq,
      atMs: performance.timeOrigin + performance.now(),
      body: null,
      signature: "unchecked",
      effect: "none",
      answered: null,
    };
    this.requests.push(entry);
    return entry;
  }

  setBody(entry: ReceivedRequest, body: string): void {
    entry.body = body;
    const hash = createHash("sha256").update(body).digest("base64");
    const known = this.#bodyHashes.get(entry.webhookId);
    if (known === undefined) this.#bodyHashes.set(entry.webhookId, hash);
    else if (known !== hash) this.#changedIds.add(entry.webhookId);
  }

  takeEffect(entry: ReceivedRequest): void {
    const { webhookId, seq, body } = entry;
    if (this.#effectIds.has(webhookId)) {
      entry.effect = "repeat";
      return;
    }
    this.#effectIds.add(webhookId);
    entry.effect = "first";
    this.effects.push({ webhookId, seq, atMs: performance.timeOrigin + performance.now(), body: body ?? "" });
  }

  stats(): ReceiverStats {
    const byFault: Record<string, number> = {};
    for (const { fault } of this.requests) byFault[fault] = (byFault[fault] ?? 0) + 1;
    return {
      requests: this.requests.length,
      effects: this.effects.length,
      repeats: this.requests.filter(({ effect }) => effect === "repeat").length,
      invalidSignatures: this.requests.filter(({ signature }) => signature === "invalid").length,
      changedBodies: this.#changedIds.size,
      byFault,
    };
  }

  clear(): void {
    this.requests.length = 0;
    this.effects.length = 0;
    this.#effectIds.clear();
    this.#bodyHashes.clear();
    this.#changedIds.clear();
  }
}

export interface SignedRequest {
  readonly id: string;
  readonly timestamp: string;
  readonly signatures: string;
  readonly body: Buffer;
}

/** Standard Webhooks, symmetric: any of the signatures may match any of the secrets. */
export function isSigned(request: SignedRequest, secrets: readonly string[], toleranceSeconds: number | null): boolean {
  if (request.id === "" || !/^\d{1,15}$/.test(request.timestamp)) return false;
  const skewSeconds = Math.abs(Date.now() / 1000 - Number(request.timestamp));
  if (toleranceSeconds !== null && skewSeconds > toleranceSeconds) return false;
  const given = request.signatures.split(" ").filter((each) => each.startsWith("v1,"));
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    const mac = createHmac("sha256", key).update(`${request.id}.${request.timestamp}.`).update(request.body).digest();
    return given.some((each) => {
      const bytes = Buffer.from(each.slice(3), "base64");
      return bytes.length === mac.length && timingSafeEqual(bytes, mac);
    });
  });
}
