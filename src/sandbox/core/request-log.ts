/**
 * The calls that the stand-ins received: a bounded log for tests, for the control API and for the overview page.
 *
 * Owns: the log, and that no credential is in it. Does not own: what a call did.
 */
import type { CallFacts, FaultKind, Provider } from "./faults.ts";
import { deferred } from "../../db/wait/deferred.ts";

export interface LoggedRequest extends CallFacts {
  readonly id: number;
  readonly at: string;
  readonly path: string;
  /** As parsed; credentials are replaced, very long ones are cut. */
  readonly body: unknown;
  readonly fault: FaultKind | undefined;
  /** Whether the call took effect; undefined while it is in progress. */
  effect: boolean | undefined;
  /** The HTTP status of the answer; undefined until there is one, and forever if the connection was cut. */
  status: number | undefined;
}

export interface RequestFilter {
  readonly provider?: Provider | undefined;
  readonly method?: string | undefined;
  readonly channel?: string | undefined;
}

interface Waiter {
  readonly wanted: (request: LoggedRequest) => boolean;
  readonly found: (request: LoggedRequest) => void;
}

const secretName = /token|secret|password|authorization|api_?key|client_assertion|^code_verifier$/i;
const maxBodyChars = 32_000;

export class RequestLog {
  readonly #limit: number;
  readonly #now: () => number;
  #entries: LoggedRequest[] = [];
  #waiters = new Set<Waiter>();
  #nextId = 1;

  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  record(call: CallFacts & { path: string; body: unknown }, fault: FaultKind | undefined): LoggedRequest {
    const entry: LoggedRequest = {
      id: this.#nextId++,
      at: new Date(this.#now()).toISOString(),
      provider: call.provider,
      method: call.method,
      channel: call.channel,
      path: call.path,
      body: withoutSecrets(call.body),
      fault,
      effect: undefined,
      status: undefined,
    };
    this.#entries.push(entry);
    // Dropped in batches: shifting one entry for each call would move the whole list each time.
    if (this.#entries.length > this.#limit * 1.25) this.#entries = this.#entries.slice(-this.#limit);
    for (const waiter of this.#waiters) {
      if (!waiter.wanted(entry)) continue;
      this.#waiters.delete(waiter);
      waiter.found(entry);
    }
    return entry;
  }

  /** Oldest first. */
  list(filter: RequestFilter = {}): readonly LoggedRequest[] {
    return this.#entries.filter(
      (entry) =>
        (filter.provider === undefined || entry.provider === filter.provider) &&
        (filter.method === undefined || entry.method === filter.method) &&
        (filter.channel === undefined || entry.channel === filter.channel),
    );
  }

  /** The first call that matches, whether it has already arrived or is still to come. Rejects when the signal aborts. */
  async waitFor(wanted: (request: LoggedRequest) => boolean, signal?: AbortSignal): Promise<LoggedRequest> {
    const present = this.#entries.find(wanted);
    if (present !== undefined) return present;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = deferred<LoggedRequest>();
    const waiter: Waiter = { wanted, found: resolve };
    const abort = (): void => reject(signal?.reason);
    this.#waiters.add(waiter);
    signal?.addEventListener("abort", abort);
    try {
      return await promise;
    } finally {
      this.#waiters.delete(waiter);
      signal?.removeEventListener("abort", abort);
    }
  }

  clear(): void {
    this.#entries = [];
  }
}

/** A copy without credentials. Confirmation tokens in a mail are what the mailbox page is for; those stay. */
export function withoutSecrets(body: unknown): unknown {
  const text = JSON.stringify(body, (name, value: unknown) =>
    typeof value === "string" && secretName.test(name) ? "(withheld)" : value,
  );
  if (text === undefined) return undefined;
  return text.length > maxBodyChars ? `${text.slice(0, maxBodyChars)}…` : JSON.parse(text);
}
