/**
 * One call of a rail under a hard time limit.
 *
 * Owns: the limit, the abort signal, and turning whatever a rail does (throw, hang, answer nonsense) into a value. Does not
 * own: what the value means.
 */
import type { Rail, RailContext } from "../../contract/rail.ts";

/** How a call ended, before the rail's answer is read. */
export type CallEnd<T> =
  | { readonly kind: "answered"; readonly value: T }
  | { readonly kind: "threw"; readonly error: unknown }
  /** The time ran out, or the relay gave up its lease; nobody knows what the rail had done by then. */
  | { readonly kind: "abandoned"; readonly why: "timeout" | "stopped" };

/** How long a rail may take to honour the abort before its answer is no longer waited for. */
export const abortGraceMs = 250;

/**
 * How long one row may keep its rail busy: an uncertain row of a rail that can look up is asked about, then sent. A call
 * that ignores the abort is given up a moment after its time.
 */
export function longestSendMs(rail: Rail): number {
  const callMs = rail.timeoutMs + abortGraceMs;
  return rail.capability === "lookup" ? 2 * callMs : callMs;
}

class Context implements RailContext {
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  /** Made on first use, so that a rail that never waits does not pay for it. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== undefined && !this.#controller.signal.aborted) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/** Calls under way, so that a stopping relay can abandon them. */
export class Calls {
  readonly #abandons = new Set<(why: "timeout" | "stopped") => void>();
  #over = false;

  get underWay(): number {
    return this.#abandons.size;
  }

  /** True once everything was abandoned: no new call may begin then. */
  get over(): boolean {
    return this.#over;
  }

  abandonAll(): void {
    this.#over = true;
    for (const abandon of this.#abandons) abandon("stopped");
  }

  /** Runs the call; returns its end synchronously if the rail answers synchronously. */
  run<T>(timeoutMs: number, work: (context: RailContext) => T | Promise<T>): CallEnd<T> | Promise<CallEnd<T>> {
    const context = new Context();
    let answering: Promise<T>;
    try {
      const answer = work(context);
      if (!isPromise(answer)) return { kind: "answered", value: answer };
      answering = answer;
    } catch (error) {
      return { kind: "threw", error };
    }
    return this.#await(timeoutMs, context, answering);
  }

  #await<T>(timeoutMs: number, context: Context, answering: Promise<T>): Promise<CallEnd<T>> {
    return new Promise((resolve) => {
      let abandoned: CallEnd<T> | undefined;
      let grace: NodeJS.Timeout | undefined;
      const abandon = (why: "timeout" | "stopped"): void => {
        abandoned ??= { kind: "abandoned", why };
        context.abort(
          new DOMException(
            why === "timeout" ? `No answer within ${timeoutMs} ms.` : "The relay is stopping.",
            "TimeoutError",
          ),
        );
        grace ??= setTimeout(() => finish({ kind: "abandoned", why }), abortGraceMs);
      };
      const timer = setTimeout(abandon, timeoutMs, "timeout");
      const finish = (end: CallEnd<T>): void => {
        clearTimeout(timer);
        clearTimeout(grace);
        this.#abandons.delete(abandon);
        resolve(end);
      };
      this.#abandons.add(abandon);
      // Wrapped in our own promise, because a rail may return something that only looks like one.
      Promise.resolve(answering).then(
        (value) => finish({ kind: "answered", value }),
        // A rail that honours the abort by throwing has no failure of its own to report.
        (error: unknown) => finish(abandoned ?? { kind: "threw", error }),
      );
    });
  }
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}
