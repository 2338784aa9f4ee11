/**
 * The way from a stand-in to Headroom: signed webhooks, sent as the provider sends them, and what came of each.
 *
 * Owns: the address, the time limit, repeats and the bounded record. Does not own: signatures; each provider has its own scheme.
 */
import { HeadroomError } from "../../db/errors.ts";
import { pause } from "../../db/pause.ts";
import type { Provider } from "./faults.ts";

export interface Parcel {
  readonly provider: Provider;
  /** What it tells, for people: `/capacity create`, `checkout.session.completed`. */
  readonly title: string;
  /** Below Headroom's address, e.g. `/webhooks/slack`. */
  readonly path: string;
  readonly body: string;
  /** Made for each try, since most schemes sign the time. */
  readonly headers: (tryNumber: number) => Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** How long after a failed try the next one follows. Default: no further try. */
  readonly retryAfterMs?: readonly number[];
}

export type Arrival =
  | { readonly kind: "answered"; readonly status: number; readonly body: string; readonly contentType: string }
  | { readonly kind: "timeout" }
  | { readonly kind: "unreachable"; readonly reason: string };

export interface Delivery {
  readonly id: number;
  readonly provider: Provider;
  readonly title: string;
  readonly at: string;
  readonly tries: Arrival[];
}

const maxDeliveries = 500;
const maxAnswerChars = 100_000;

export class Courier {
  readonly #closing: AbortSignal;
  readonly #now: () => number;
  readonly #changed: () => void;
  #headroomUrl: string | undefined;
  #deliveries: Delivery[] = [];
  #underWay = new Set<Promise<unknown>>();
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
  list(provider?: Provider): readonly Delivery[] {
    return this.#deliveries.filter((delivery) => provider === undefined || delivery.provider === provider).toReversed();
  }

  clear(): void {
    this.#deliveries = [];
  }

  /** Sends once and tells what came back; further tries, where the provider makes any, follow by themselves. */
  async send(parcel: Parcel): Promise<Arrival> {
    const base = this.#headroomUrl;
    if (base === undefined) {
      throw new HeadroomError("not_configured", "The sandbox does not know where Headroom is.", {
        detail: `${parcel.title} was not sent.`,
        hint: "Start Headroom and call connect({ headroomUrl }) first; `headroom up` does both.",
        httpStatus: 503,
      });
    }
    const delivery: Delivery = {
      id: this.#nextId++,
      provider: parcel.provider,
      title: parcel.title,
      at: new Date(this.#now()).toISOString(),
      tries: [],
    };
    this.#deliveries.push(delivery);
    if (this.#deliveries.length > maxDeliveries) this.#deliveries.shift();
    const first = await this.#once(base, parcel, delivery, 0);
    if (!arrived(first)) this.#follow(this.#repeat(base, parcel, delivery));
    return first;
  }

  /** Sends without waiting for the answer, as providers do that tell of something which has happened already. */
  dispatch(parcel: Parcel): void {
    if (this.#headroomUrl === undefined) return;
    this.#follow(this.send(parcel));
  }

  /** Resolves when nothing is under way any more. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  #follow(work: Promise<unknown>): void {
    const followed = work.catch(() => undefined).finally(() => this.#underWay.delete(followed));
    this.#underWay.add(followed);
  }

  async #once(base: string, parcel: Parcel, delivery: Delivery, tryNumber: number): Promise<Arrival> {
    const arrival = await this.#post(`${base}${parcel.path}`, parcel, tryNumber);
    delivery.tries.push(arrival);
    this.#changed();
    return arrival;
  }

  async #repeat(base: string, parcel: Parcel, delivery: Delivery): Promise<void> {
    for (const [index, delayMs] of (parcel.retryAfterMs ?? []).entries()) {
      await pause(delayMs, this.#closing);
      if (this.#closing.aborted) return;
      if (arrived(await this.#once(base, parcel, delivery, index + 1))) return;
    }
  }

  async #post(url: string, parcel: Parcel, tryNumber: number): Promise<Arrival> {
    const limit = AbortSignal.timeout(parcel.timeoutMs);
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: parcel.headers(tryNumber),
        body: parcel.body,
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

export function arrived(arrival: Arrival): boolean {
  return arrival.kind === "answered" && arrival.status >= 200 && arrival.status < 300;
}
