/**
 * Plausible bugs of the workflow script, and where each must show.
 *
 * Does not own: playing them (faults.test.ts).
 */
import type { lives } from "./fault-matrix.ts";
import { hour } from "./spoiled.ts";

/** A plausible bug of the script, and the faults under which one life must show it. */
export interface ScriptBug {
  readonly name: string;
  readonly find: string;
  readonly replace: string;
  /** The invariant that the bug breaks. */
  readonly invariant: string;
  /** Default: the run whose heartbeats are spoiled. */
  readonly life?: (typeof lives)[number]["name"];
  readonly faults: readonly string[];
}

export const scriptBugs: readonly ScriptBug[] = [
  {
    name: "whatever is 3xx or 4xx is final",
    invariant: "a run comes to what it was",
    find: "if (code !== undefined) return { problem, code };",
    replace:
      'if (code !== undefined || (response.status >= 300 && response.status <= 499 && response.status !== 429)) return { problem, code: code ?? "http" };',
    life: "a run that succeeds",
    faults: ["408", "425", "403 of a proxy", "a redirect"],
  },
  {
    name: "a redirect is followed",
    invariant: "a redirect is not followed",
    find: 'redirect: "manual"',
    replace: 'redirect: "follow"',
    life: "a run that succeeds",
    faults: ["a redirect"],
  },
  {
    name: "whatever comes with a 200 is an answer",
    invariant: "a run comes to what it was",
    find: "if (isAnswer(response.status, data, message.signal)) return { answer: data };",
    replace: 'if (response.status === 200) return { answer: data ?? { go_on: false, outcome: "accepted" } };',
    life: "a run that fails, and its cleanup",
    faults: ["an HTML body", "an empty body", "other JSON"],
  },
  {
    name: "a success that is not heard becomes a failure",
    invariant: "a run comes to what it was",
    find: "Headroom asks GitHub how this run ended`);\n    return 0;",
    replace: "Headroom asks GitHub how this run ended`);\n    return 1;",
    life: "a run whose success is never heard",
    faults: ["500"],
  },
  {
    name: "a failure is reported as a success",
    invariant: "a run comes to what it was",
    find: 'const signal = result === "success" ? "succeeded" : "failed";',
    replace: 'const signal = result === "cancelled" ? "failed" : "succeeded";',
    life: "a run that fails, and its cleanup",
    faults: ["500"],
  },
  {
    name: "the heartbeats die when one is not heard",
    invariant: "heartbeats go on",
    find: "else complain(`${error.message}; the work goes on`);",
    replace: 'else if (name === "heartbeats") throw error;',
    faults: [],
  },
  {
    name: "what was received before is a refusal",
    invariant: "a run comes to what it was",
    find: ' || code === "already_used"',
    replace: "",
    life: "a run whose callbacks are said twice on the way",
    faults: ["500"],
  },
  {
    name: "who is asked to wait for longer than there is time gives up",
    invariant: "a run comes to what it was",
    find: "if (leftMs <= 0)",
    replace: "if (leftMs <= 0 || heard.afterMs > leftMs)",
    life: "a run that succeeds",
    faults: [hour],
  },
];
