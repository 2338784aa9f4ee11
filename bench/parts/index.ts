/** The parts of a run, in the order in which they run. A new part is one file and one line here. */
import type { Part } from "../model.ts";
import { applyPart } from "./apply.ts";
import { archivePart } from "./archive.ts";
import { backlogPart } from "./backlog.ts";
import { drainPart } from "./drain.ts";
import { enqueuePart } from "./enqueue.ts";
import { heldOpenPart } from "./held-open.ts";
import { hostilePart } from "./hostile.ts";
import { memoryPart } from "./memory.ts";
import { notificationsPart } from "./notifications.ts";
import { orderedPart, runsOfOnePart } from "./ordered.ts";
import { rpcPart } from "./rpc.ts";
import { stallsPart } from "./stalls.ts";
import { wakePart } from "./wake.ts";

export const PARTS: readonly Part[] = [
  drainPart,
  orderedPart,
  runsOfOnePart,
  wakePart,
  enqueuePart,
  applyPart,
  rpcPart,
  backlogPart,
  stallsPart,
  hostilePart,
  archivePart,
  heldOpenPart,
  memoryPart,
  notificationsPart,
];
