/** Raw HTTP: sends exactly the bytes of the test, including a forged Host and an absolute target. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends one request to the given address, whatever Host it names, and reads until the server closes. */
export async function rawRequest(
  url: string,
  target: string,
  headers: readonly string[],
  method = "GET",
): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/^\[(.*)\]$/, "$1"));
  socket.setTimeout(10_000, () => socket.destroy(new Error("No answer.")));
  socket.write([`${method} ${target} HTTP/1.1`, ...headers, "connection: close", "", ""].join("\r\n"));
  const answer = await text(socket);
  const [head = "", ...rest] = answer.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body: rest.join("\r\n\r\n") };
}

/** The requests that another site's page can cause by pointing its name at this machine, and other ways to send another name. */
export function forgedHosts(url: string, path: string): readonly (readonly [target: string, host: string])[] {
  const { port } = new URL(url);
  const own = `127.0.0.1:${port}`;
  const names = [
    "evil.example",
    `evil.example:${port}`,
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "localhostevil",
    "10.0.0.1",
    "0.0.0.0",
    "[::2]",
    "128.0.0.1",
  ];
  return [
    ...names.map((name) => [path, name] as const),
    [`http://evil.example${path}`, own],
    [`http://evil.example:${port}${path}`, own],
    [`https://evil.example${path}`, own],
    [`http://${own}${path}`, "evil.example"],
  ];
}

export function ownHosts(url: string, path: string): readonly (readonly [target: string, host: string])[] {
  const { port } = new URL(url);
  const names = [`127.0.0.1:${port}`, `localhost:${port}`, "LocalHost", "localhost.", "127.8.9.10:1", `[::1]:${port}`];
  return [
    ...[...names, `app.localhost:${port}`].map((name) => [path, name] as const),
    [`http://localhost:${port}${path}`, `127.0.0.1:${port}`],
  ];
}
