/**
 * The sandbox's Stripe as a process: what it is asked to do, and its answers.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import type { Acts } from "./stripe-child.ts";

export interface StripeProcess {
  readonly url: string;
  ask<Act extends keyof Acts>(act: Act, ...args: Parameters<Acts[Act]>): Promise<Awaited<ReturnType<Acts[Act]>>>;
  close(): Promise<void>;
}

const readySchema = z.object({ ready: z.string() });
const answerSchema = z.object({ id: z.number(), value: z.unknown().optional(), failed: z.string().optional() });

export async function startStripe(
  codeDir: string,
  config: { readonly headroomUrl: string; readonly webhookSecret: string },
): Promise<StripeProcess> {
  const program = join(codeDir, "test", "chaos", "payments", "stripe-child.ts");
  // A session of its own, among which the system shares out the processor: Stripe is not slow because our side is busy.
  const child = fork(program, [JSON.stringify(config)], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: true,
  });
  const gone = once(child, "exit");
  const first: unknown[] = await Promise.race([once(child, "message"), gone]);
  const ready = readySchema.safeParse(first[0]).data;
  if (ready === undefined) throw new Error("The stand-in for Stripe ended before it was ready");
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let next = 1;
  child.on("message", (message) => {
    const { id, value, failed } = answerSchema.parse(message);
    const waits = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) waits?.resolve(value);
    else waits?.reject(new Error(`Stripe: ${failed}`));
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error("The stand-in for Stripe is gone"));
  });
  return {
    url: ready.ready,
    ask(act, ...args) {
      const id = next++;
      const waits = Promise.withResolvers<unknown>();
      waiting.set(id, waits);
      child.send({ id, act, args });
      // The child answers with what the act returns: both sides are compiled against one list.
      return waits.promise as ReturnType<StripeProcess["ask"]> as never;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGKILL");
      await gone;
    },
  };
}
