/**
 * Sends a stand-in's signed webhooks to Headroom, as the provider does, and remembers the result of each attempt.
 *
 * Owns: the address, the time limit, repeats and the bounded list. Does not own: signatures; each provider has its own scheme.
 */
import { HeadroomError } from "../../db/errors.ts";
import { pause } from "../../db/wait/pause.ts";
import type { Provider } from "./faults.ts";

export interface OutgoingWebhook {
  readonly provider: Provider;
  /** What it is about, for people: `/capacity create`, `checkout.session.completed`. */
  readonly title: string;
  /** Below Headroom's address, e.g. `/webhooks/slack`. */
  readonly path: string;
  readonly body: string;
  /** Made for each attempt, because most schemes sign the time. */
  readonly headers: (tryNumber: number) => Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** The delays after each failed attempt. Default: no further attempt. */
  readonly retryAfterMs?: readonly number[];
}

export type SendResult =
  | { readonly kind: "answered"; readonly status: number; readonly body: string; readonly contentType: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "unreachable"; readonly reason: string };

export interface SentWebhook {
  readonly id: number;
  readonly provider: Provider;
  readonly title: string;
  readonly at: string;
  readonly tries: SendResult[];
}

const maxRemembered = 500;
const maxAnswerChars = 100_000;

export class WebhookSender {
  readonly #closing: AbortSignal;
  readonly #now: () => number;
  readonly #changed: () => void;
  #headroomUrl: string | undefined;
  #sent: SentWebhook[] = [];
  #inProgress = new Set<Promise<unknown>>();
  #nextId = 1;

  constructor(closing: AbortSignal, now: () => number, changed: () => void) {
    this.#closing = closing;
    this.#now = now;
    this.#changed = changed;
  }

  connect(headroomUrl: string): void {
    this.#headroomUrl = headroomUrl.replace(/\/$/, "");
  }

  get headroomUrl(): string | undefined {
    return this.#headroomUrl;
  }

  /** Newest first. */
  list(provider?: Provider): readonly SentWebhook[] {
    return this.#sent.filter((sent) => provider === undefined || sent.provider === provider).toReversed();
  }

  clear(): void {
    this.#sent = [];
  }

  /** Sends once and returns the result; further attempts, if the provider makes any, follow in the background. */
  async send(webhook: OutgoingWebhook): Promise<SendResult> {
    const base = this.#headroomUrl;
    if (base === undefined) {
      throw new HeadroomError("not_configured", "The sandbox does not know where Headroom is.", {
        detail: `${webhook.title} was not sent.`,
        hint: "Start Headroom and call connect({ headroomUrl }) first; `headroom up` does both.",
        httpStatus: 503,
      });
    }
    const sent: SentWebhook = {
      id: this.#nextId++,
      provider: webhook.provider,
      title: webhook.title,
      at: new Date(this.#now()).toISOString(),
      tries: [],
    };
    this.#sent.push(sent);
    if (this.#sent.length > maxRemembered) this.#sent.shift();
    const first = await this.#once(base, webhook, sent, 0);
    if (!wasAccepted(first)) this.#follow(this.#repeat(base, webhook, sent));
    return first;
  }

  /** Sends without waiting for the answer, as providers do when they report what has already happened. */
  dispatch(webhook: OutgoingWebhook): void {
    if (this.#headroomUrl === undefined) return;
    this.#follow(this.send(webhook));
  }

  /** Resolves when nothing is in progress any more. */
  async done(): Promise<void> {
    while (this.#inProgress.size > 0) await Promise.allSettled(this.#inProgress);
  }

  #follow(work: Promise<unknown>): void {
    const followed = work.catch(() => undefined).finally(() => this.#inProgress.delete(followed));
    this.#inProgress.add(followed);
  }

  async #once(base: string, webhook: OutgoingWebhook, sent: SentWebhook, tryNumber: number): Promise<SendResult> {
    const result = await this.#post(`${base}${webhook.path}`, webhook, tryNumber);
    sent.tries.push(result);
    this.#changed();
    return result;
  }

  async #repeat(base: string, webhook: OutgoingWebhook, sent: SentWebhook): Promise<void> {
    for (const [index, delayMs] of (webhook.retryAfterMs ?? []).entries()) {
      await pause(delayMs, this.#closing);
      if (this.#closing.aborted) return;
      if (wasAccepted(await this.#once(base, webhook, sent, index + 1))) return;
    }
  }

  async #post(url: string, webhook: OutgoingWebhook, tryNumber: number): Promise<SendResult> {
    const limit = AbortSignal.timeout(webhook.timeoutMs);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: webhook.headers(tryNumber),
        body: webhook.body,
        redirect: "manual",
        signal: AbortSignal.any([limit, this.#closing]),
      });
      const body = (await response.text()).slice(0, maxAnswerChars);
      return {
        kind: "answered",
        status: response.status,
        body,
        contentType: response.headers.get("content-type") ?? "",
      };
    } catch (cause) {
      if (limit.aborted) return { kind: "timeout" };
      return { kind: "unreachable", reason: cause instanceof Error ? cause.message : "no connection" };
    }
  }
}

export function wasAccepted(result: SendResult): boolean {
  return result.kind === "answered" && result.status >= 200 && result.status < 300;
}
