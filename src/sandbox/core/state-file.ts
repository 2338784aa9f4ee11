/**
 * Keeps the stand-ins' state in a file, so that the next start finds the messages, mails and issues that Headroom also remembers.
 *
 * Owns: the file, when it is written, and that half a file is never read. Does not own: what each part has to save.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";
import { nodeCodeOf } from "../../db/errors.ts";

/** A part of the sandbox whose state is kept from one start to the next. */
export interface Saveable {
  save(): unknown;
  /** Takes the value of `save`, read back from JSON; throws if it is anything else. */
  load(saved: unknown): void;
}

export type Log = (event: string, fields: Readonly<Record<string, unknown>>) => void;

/** Raised when the file's format changes; older files are then ignored. */
const version = 2;
const fileSchema = z.object({ version: z.literal(version), parts: z.record(z.string(), z.unknown()) });
/** Changes come in bursts: one write for all within this time. */
const gatherMs = 200;

export class StateFile {
  readonly #path: string;
  readonly #parts: Readonly<Record<string, Saveable>>;
  readonly #log: Log | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, parts: Readonly<Record<string, Saveable>>, log: Log | undefined) {
    this.#path = path;
    this.#parts = parts;
    this.#log = log;
  }

  /** Loads the file. If it is missing or cannot be read, the sandbox starts empty. */
  async read(): Promise<void> {
    try {
      const { parts } = fileSchema.parse(JSON.parse(await readFile(this.#path, "utf8")));
      for (const [name, part] of Object.entries(this.#parts)) part.load(parts[name]);
    } catch (cause) {
      if (nodeCodeOf(cause) === "ENOENT") return;
      this.#log?.("sandbox_state_unreadable", { path: this.#path });
    }
  }

  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#write());
    }, gatherMs);
  }

  /** Writes the changes, and resolves when they are in the file. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#writing;
    await this.#write();
  }

  async #write(): Promise<void> {
    const parts = Object.fromEntries(Object.entries(this.#parts).map(([name, part]) => [name, part.save()]));
    const draft = `${this.#path}.${process.pid}`;
    try {
      await writeFile(draft, JSON.stringify({ version, parts }), { mode: 0o600 });
      await rename(draft, this.#path);
    } catch (cause) {
      this.#log?.("sandbox_state_not_written", { path: this.#path, reason: nodeCodeOf(cause) });
    }
  }
}

/** A list of objects that `save` wrote. The file's version identifies their format, so we check only that they are objects. */
export function listOf<Item>(): z.ZodType<Item[]> {
  return z.array(z.custom<Item>((value) => typeof value === "object" && value !== null));
}
