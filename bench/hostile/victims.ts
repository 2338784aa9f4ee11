/** Two or more members who request a list repeatedly, and how long they waited. */
import { Agent, request } from "node:http";
import { nowMs } from "../measure.ts";

const EVERY_MS = 25;

export interface Waited {
  readonly tookMs: readonly number[];
  /** Requests that were not answered with a list. */
  readonly refused: number;
}

/** Requests at a fixed rate, independent of earlier requests: waits are measured from when a request was due. */
export class Victims {
  readonly #server: URL;
  readonly #headers: readonly Readonly<Record<string, string>>[];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #tookMs: number[] = [];
  #refused = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(server: URL, headers: readonly Readonly<Record<string, string>>[]) {
    this.#server = server;
    this.#headers = headers;
  }

  start(): void {
    let turn = 0;
    let dueAt = nowMs();
    this.#timer = setInterval(() => {
      for (; dueAt <= nowMs(); dueAt += EVERY_MS) this.#ask(dueAt, this.#headers[turn++ % this.#headers.length] ?? {});
    }, EVERY_MS / 5);
  }

  #ask(dueAt: number, headers: Readonly<Record<string, string>>): void {
    const { hostname, port } = this.#server;
    const path = "/rest/v1/capacity_requests?order=created_at.desc&limit=5";
    const sent = request({ agent: this.#agent, hostname, port, path, headers });
    sent.on("error", () => (this.#refused += 1));
    sent.on("response", (response) => {
      if (response.statusCode !== 200) this.#refused += 1;
      response.resume().on("end", () => this.#tookMs.push(nowMs() - dueAt));
    });
    sent.end();
  }

  /** The waits since the last call. */
  take(): Waited {
    const taken = { tookMs: this.#tookMs, refused: this.#refused };
    this.#tookMs = [];
    this.#refused = 0;
    return taken;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }
}
