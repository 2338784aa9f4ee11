/**
 * A rail of the capability `lookup`, and its sandbox: a mailbox that cannot deduplicate but can be searched. It exists so that the suite's
 * cases for such rails are themselves tested.
 */
import { once, EventEmitter } from "node:events";
import type { ConformancePlan, RailHarness, SandboxFault } from "../../../../src/contract/conformance/suite.ts";
import type { Rail, RailMessage, RailOutcome } from "../../../../src/contract/rail.ts";
import { messageOf } from "../messages.ts";

function countOf(list: readonly string[], message: RailMessage): number {
  return list.filter((id) => id === message.outboxId).length;
}

export function openMailboxSandbox(): RailHarness {
  const mails: string[] = [];
  const calls: string[] = [];
  const events = new EventEmitter().setMaxListeners(0);
  let fault: SandboxFault | null = null;
  const takeFault = (): SandboxFault | null => {
    const current = fault;
    fault = null;
    return current;
  };
  const deliver = async (message: RailMessage, current: SandboxFault | null): Promise<RailOutcome> => {
    if (current === "close_before_read") return { kind: "unknown", code: "hung_up", reason: "The mailbox hung up." };
    if (current === "refuse") return { kind: "rejected", code: "refused", reason: "The mailbox refused." };
    if (current === "fail") return { kind: "retry", code: "failed", reason: "The mailbox failed." };
    mails.push(message.outboxId);
    if (current === "drop_after_accept") return { kind: "unknown", code: "hung_up", reason: "The mailbox hung up." };
    if (current === "answer_late" || current === "hang") await once(events, "released");
    return { kind: "delivered" };
  };
  const rail: Rail = {
    name: "mailbox",
    capability: "lookup",
    timeoutMs: 1_000,
    codes: ["refused", "failed", "hung_up", "closed", "timed_out", "aborted"],
    async send(message, { signal }) {
      if (signal.aborted) return { kind: "retry", code: "aborted", reason: "The time was up." };
      const current = takeFault();
      if (current === "unreachable") return { kind: "retry", code: "closed", reason: "The mailbox is closed." };
      calls.push(message.outboxId);
      events.emit("called");
      const aborted = once(signal, "abort").then((): RailOutcome => ({
        kind: "unknown",
        code: "timed_out",
        reason: "No answer came in time.",
      }));
      return await Promise.race([deliver(message, current), aborted]);
    },
    lookup(message) {
      if (takeFault() === "unreachable")
        return { kind: "unavailable", code: "closed", reason: "The mailbox is closed." };
      return mails.includes(message.outboxId) ? { kind: "found", reference: message.outboxId } : { kind: "absent" };
    },
  };
  return {
    rail,
    throttleAfterMs: 0,
    secrets: [],
    message: () => messageOf(),
    invalidMessages: () => [],
    next: (next) => void (fault = next),
    async received(message) {
      while (!calls.includes(message.outboxId)) await once(events, "called");
    },
    release: () => void events.emit("released"),
    calls: (message) => countOf(calls, message),
    effects: (message) => countOf(mails, message),
    close() {},
  };
}

export const mailboxPlan: ConformancePlan = {
  capability: "lookup",
  open: openMailboxSandbox,
  notApplicable: {
    throttle: "a mailbox has no rate limit",
    refuse_echoing: "the rail sends no secret",
    fail_after_accept: "a mailbox that fails has taken nothing",
    close_mid_answer: "an answer has one part",
    garbage: "an answer has one form",
  },
};
