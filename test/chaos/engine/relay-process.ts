/**
 * A relay process as the run sees it: its output, and the ways to hurt it.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import {
  relayEventSchema,
  type Instruction,
  type RelayConfig,
  type RelayCounts,
  type RelayEvent,
} from "./relay-protocol.ts";

export interface RelayEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RelayProcessOptions {
  readonly codeDir: string;
  readonly config: RelayConfig;
  readonly onEvent: (process: RelayProcess, event: RelayEvent) => void;
}

const maxStderrChars = 4_000;

export class RelayProcess {
  readonly name: string;
  readonly pid: number;
  /** Resolves when the process has ended and all its output has been read. */
  readonly ended: Promise<RelayEnd>;
  relayId: number | undefined;
  counts: RelayCounts | undefined;
  ready = false;
  gone = false;
  /** An actor is using it; others leave it alone. */
  busy = false;
  /** It was killed or asked to end, so its end is no surprise. */
  endWanted = false;
  /** The outcome of the last trap. */
  trap: "none" | "set" | "sprung" = "none";
  stderr = "";
  /** The last error of its settler. */
  lastSettleFailure = "";
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;

  constructor(options: RelayProcessOptions) {
    const { config } = options;
    this.name = config.name;
    const program = join(options.codeDir, "test", "chaos", "engine", "relay-child.ts");
    this.#child = spawn(process.execPath, [program, JSON.stringify(config)], {
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdin.on("error", () => undefined);
    this.pid = this.#child.pid ?? 0;
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr = (this.stderr + text).slice(-maxStderrChars);
    });
    const lines = createInterface({ input: this.#child.stdout });
    lines.on("line", (line) => {
      const event = relayEventSchema.parse(JSON.parse(line));
      this.#hear(event);
      options.onEvent(this, event);
    });
    this.ended = new Promise((fulfil) => {
      this.#child.once("error", () => this.#end(fulfil, { code: null, signal: null }));
      this.#child.once("close", (code, signal) => this.#end(fulfil, { code, signal }));
    });
  }

  #hear(event: RelayEvent): void {
    if (event.kind === "ready") {
      this.ready = true;
      this.relayId = event.relayId;
    } else if (event.kind === "disarmed") {
      this.trap = "none";
    } else if (event.kind === "counts" || event.kind === "trapped") {
      this.counts = event.counts;
      if (event.kind === "trapped") this.trap = "sprung";
    }
  }

  #end(fulfil: (end: RelayEnd) => void, end: RelayEnd): void {
    this.gone = true;
    this.ready = false;
    fulfil(end);
  }

  /** Up, unused, and not stopping. */
  get available(): boolean {
    return this.ready && !this.gone && !this.busy && !this.endWanted;
  }

  instruct(instruction: Instruction): void {
    if (instruction.kind === "trap") this.trap = "set";
    this.#child.stdin.write(`${JSON.stringify(instruction)}\n`);
  }

  signal(signal: "SIGKILL" | "SIGSTOP" | "SIGCONT" | "SIGTERM"): void {
    if (this.gone) return;
    if (signal === "SIGKILL" || signal === "SIGTERM") this.endWanted = true;
    this.#child.kill(signal);
  }
}
