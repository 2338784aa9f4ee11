/**
 * The rails that a relay knows, by name.
 *
 * Owns: the rules that make a rail safe to run, checked once when it is added, because a rail whose time-out is longer
 * than the lease, or whose capability is wrong, would only be noticed when a delivery goes wrong. Does not own:
 * calling a rail, nor the rows of the database that name one.
 */
import { HeadroomError } from "../db/errors.ts";
import type { Rail } from "./rail.ts";

/** A call must end well inside the lease (90 s by default); engine rule. */
export const maxRailTimeoutMs = 30_000;

const namePattern = /^[a-z][a-z0-9-]{0,62}$/;
const codePattern = /^[a-z][a-z0-9_]{0,62}$/;
const capabilities: readonly unknown[] = ["idempotent", "lookup", "blind"];

export interface RailRegistry {
  /** Adds a rail, or throws a HeadroomError that names the rule that it breaks. */
  add(rail: Rail): void;
  has(name: string): boolean;
  /** The rail of that name, or undefined. */
  find(name: string): Rail | undefined;
  /** The rail of that name; an unknown name is an error that lists the known ones. */
  get(name: string): Rail;
  /** In the order in which they were added. */
  names(): string[];
  all(): Rail[];
}

export function createRailRegistry(rails: Iterable<Rail> = []): RailRegistry {
  const byName = new Map<string, Rail>();
  const registry: RailRegistry = {
    add(rail) {
      checkRail(rail);
      if (byName.has(rail.name)) {
        throw new HeadroomError("rail_duplicate", `A rail named "${rail.name}" is registered already.`, {
          hint: "Give one of the two another name; rows choose their rail by name.",
        });
      }
      byName.set(rail.name, rail);
    },
    has: (name) => byName.has(name),
    find: (name) => byName.get(name),
    get(name) {
      const rail = byName.get(name);
      if (rail !== undefined) return rail;
      const known = [...byName.keys()].join(", ");
      throw new HeadroomError("unknown_rail", `There is no rail named "${name}" here.`, {
        detail: known === "" ? "No rail is registered." : `Registered: ${known}.`,
        hint: "Pass the rail to this relay, or let it serve only streams whose rails it has.",
      });
    },
    names: () => [...byName.keys()],
    all: () => [...byName.values()],
  };
  for (const rail of rails) registry.add(rail);
  return registry;
}

/** Throws a HeadroomError with code `rail_invalid` when the rail breaks a rule. */
export function checkRail(rail: Rail): void {
  const problem = problemOf(rail);
  if (problem === null) return;
  throw new HeadroomError("rail_invalid", problem.message, { hint: problem.hint });
}

interface Problem {
  readonly message: string;
  readonly hint: string;
}

/** Rails may come from plain JavaScript, so the types are not relied on here. */
function problemOf(rail: Rail): Problem | null {
  if (typeof rail !== "object" || rail === null) {
    return { message: "A rail must be an object.", hint: "See the Rail interface." };
  }
  if (typeof rail.name !== "string" || !namePattern.test(rail.name)) {
    return {
      message: `A rail has the bad name ${JSON.stringify(rail.name)}.`,
      hint: "A name starts with a lower-case letter and holds up to 63 lower-case letters, digits and dashes.",
    };
  }
  return (
    capabilityProblem(rail) ??
    timeoutProblem(rail) ??
    concurrencyProblem(rail) ??
    windowProblem(rail) ??
    codesProblem(rail)
  );
}

function capabilityProblem(rail: Rail): Problem | null {
  if (!capabilities.includes(rail.capability)) {
    return {
      message: `Rail "${rail.name}" has the unknown capability ${JSON.stringify(rail.capability)}.`,
      hint: "A capability is idempotent, lookup or blind.",
    };
  }
  if (typeof rail.send !== "function") {
    return { message: `Rail "${rail.name}" has no send function.`, hint: "See the Rail interface." };
  }
  if (rail.validate !== undefined && typeof rail.validate !== "function") {
    return {
      message: `Rail "${rail.name}" has a validate that is not a function.`,
      hint: "Leave it out, or make it a function.",
    };
  }
  if (rail.capability === "lookup" && typeof rail.lookup !== "function") {
    return {
      message: `Rail "${rail.name}" declares the capability lookup, but has no lookup function.`,
      hint: "Add lookup, or declare the capability blind.",
    };
  }
  if (rail.capability !== "lookup" && rail.lookup !== undefined) {
    return {
      message: `Rail "${rail.name}" has a lookup function, but its capability is ${rail.capability}.`,
      hint: "Declare the capability lookup, or remove the function: it would never be called.",
    };
  }
  return null;
}

function timeoutProblem(rail: Rail): Problem | null {
  if (Number.isFinite(rail.timeoutMs) && rail.timeoutMs > 0 && rail.timeoutMs <= maxRailTimeoutMs) return null;
  return {
    message: `Rail "${rail.name}" has a time-out of ${String(rail.timeoutMs)} ms.`,
    hint: `A time-out is more than 0 and at most ${maxRailTimeoutMs} ms, so that a call ends inside its lease.`,
  };
}

function concurrencyProblem(rail: Rail): Problem | null {
  if (rail.concurrency === undefined) return null;
  if (Number.isSafeInteger(rail.concurrency) && rail.concurrency >= 1) return null;
  return {
    message: `Rail "${rail.name}" has a concurrency of ${String(rail.concurrency)}.`,
    hint: "A concurrency is a whole number from 1; leave it out to use the relay's own limit.",
  };
}

function windowProblem(rail: Rail): Problem | null {
  if (rail.dedupWindowMs === undefined) return null;
  if (rail.capability !== "idempotent") {
    return {
      message: `Rail "${rail.name}" has a dedupWindowMs, but its capability is ${rail.capability}.`,
      hint: "Only the receiver of an idempotent rail remembers keys; remove dedupWindowMs or change the capability.",
    };
  }
  if (Number.isFinite(rail.dedupWindowMs) && rail.dedupWindowMs > 0) return null;
  return {
    message: `Rail "${rail.name}" has a dedupWindowMs of ${String(rail.dedupWindowMs)}.`,
    hint: "It is a number of milliseconds above 0; leave it out if the receiver remembers forever.",
  };
}

function codesProblem(rail: Rail): Problem | null {
  if (rail.codes === undefined) return null;
  const hint = "A code starts with a lower-case letter and holds lower-case letters, digits and underscores.";
  if (!Array.isArray(rail.codes)) return { message: `Rail "${rail.name}" has codes that are not a list.`, hint };
  const bad: unknown = rail.codes.find((code: unknown) => typeof code !== "string" || !codePattern.test(code));
  if (bad !== undefined) return { message: `Rail "${rail.name}" declares the bad code ${JSON.stringify(bad)}.`, hint };
  if (new Set(rail.codes).size === rail.codes.length) return null;
  return { message: `Rail "${rail.name}" declares a code twice.`, hint: "List each code once." };
}
