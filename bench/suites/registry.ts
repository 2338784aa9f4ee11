/**
 * Every suite by name. Modules are loaded on demand: a suite's process loads only what it measures.
 * A new suite is one line here and one file next to this one.
 */
import type { Suite } from "./suite.ts";

const SUITES: Readonly<Record<string, () => Promise<Suite>>> = {
  drain: async () => (await import("./drain.ts")).drainSuite,
  ordered: async () => (await import("./ordered.ts")).orderedSuite,
  "ordered-hard": async () => (await import("./ordered-hard.ts")).orderedHardSuite,
  wake: async () => (await import("./wake.ts")).wakeSuite,
  slice: async () => (await import("./slice.ts")).sliceSuite,
  "enqueue-sql": async () => (await import("./enqueue-sql.ts")).enqueueSqlSuite,
  "enqueue-node": async () => (await import("./enqueue-node.ts")).enqueueNodeSuite,
  apply: async () => (await import("./apply.ts")).applySuite,
  rpc: async () => (await import("./rpc.ts")).rpcSuite,
  hostile: async () => (await import("./hostile.ts")).hostileSuite,
  stalls: async () => (await import("./stalls.ts")).stallsSuite,
  archive: async () => (await import("./archive.ts")).archiveSuite,
  "held-open": async () => (await import("./held-open.ts")).heldOpenSuite,
  memory: async () => (await import("./memory.ts")).memorySuite,
  notifications: async () => (await import("./notifications.ts")).notificationsSuite,
};

export function loadSuite(name: string): Promise<Suite> {
  const load = SUITES[name];
  if (!load) throw new Error(`there is no suite "${name}"`);
  return load();
}
