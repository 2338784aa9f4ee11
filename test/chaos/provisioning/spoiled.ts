/**
 * The ways in which a proxy can spoil a call between workflow script, server and GitHub, and the server behind a redirect.
 *
 * Does not own: which calls are spoiled, nor what must follow (fault-matrix.ts).
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { FaultInput } from "../../../src/sandbox/core/faults.ts";

export interface Fault {
  readonly name: string;
  readonly input: Omit<FaultInput, "provider" | "method" | "channel">;
}

const html = "<!doctype html><title>Please wait</title>";

const status = (code: number, accepts = false): Fault => ({
  name: `${code}${accepts ? " after it was done" : ""}`,
  input: { kind: "answer", status: code, text: html, accepts },
});

const body = (name: string, text: string, accepts: boolean): Fault => ({
  name: `${name}${accepts ? " after it was done" : ""}`,
  input: { kind: "answer", text, accepts },
});

/** It takes all of the script's patience. */
export const hour = "429, for an hour";

/** The script's calls and the relay's have less time than this. */
const lateMs = 2_600;

/** `elsewhere`: the target of a redirect. */
export function faultsOf(elsewhere: string): readonly Fault[] {
  return [
    ...[408, 425, 429, 500, 502, 503, 504].map((code) => status(code)),
    ...[500, 502, 504].map((code) => status(code, true)),
    {
      name: hour,
      input: { kind: "answer", status: 429, retryAfterSeconds: 3_600 },
    },
    { name: "403 of a proxy", input: { kind: "answer", status: 403, text: html } },
    { name: "a reset", input: { kind: "dropBeforeAccept" } },
    { name: "a reset after it was done", input: { kind: "dropAfterAccept" } },
    { name: "a cut answer", input: { kind: "cutAnswer" } },
    { name: "a redirect", input: { kind: "answer", status: 307, location: elsewhere } },
    body("an empty body", "", false),
    body("an empty body", "", true),
    body("an HTML body", html, false),
    body("an HTML body", html, true),
    body("other JSON", JSON.stringify({ ok: true, go_on: true }), false),
    { name: "a late answer", input: { kind: "late", ms: lateMs } },
  ];
}

/** The server behind a redirect, which must never be called. */
export interface Elsewhere extends AsyncDisposable {
  readonly url: string;
  readonly heard: readonly string[];
}

export async function startElsewhere(): Promise<Elsewhere> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    // An answer that would be accepted if it came from Headroom.
    const said = { go_on: false, outcome: "accepted", why: "That is what I say." };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/taken`,
    heard,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
