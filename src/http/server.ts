/**
 * Runs the application behind a listener, and shuts both down cleanly.
 *
 * Owns: draining, background work included. Does not own: the socket (src/web/listener.ts), nor what is answered (app.ts).
 */
import { withTimeout } from "../db/wait/with-timeout.ts";
import { openListener, type Listener, type ListenerOptions } from "../web/listener.ts";
import type { App } from "./app.ts";

export interface ServerOptions extends Pick<
  ListenerOptions,
  "host" | "port" | "headersTimeoutMs" | "requestTimeoutMs" | "answerTimeoutMs" | "keepAliveTimeoutMs"
> {
  readonly app: App;
  /** When aborted, the server drains. */
  readonly signal?: AbortSignal | undefined;
  /** How long requests in progress may take when the server stops. Default: 10,000. */
  readonly drainMs?: number | undefined;
}

export interface RunningServer {
  readonly url: string;
  readonly port: number;
  /** Takes no new connections, lets requests in progress and background work finish within the time limit, and closes. */
  stop(): Promise<void>;
}

const defaults = { drainMs: 10_000 } as const;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { app, signal, drainMs = defaults.drainMs, ...listening } = options;
  const listener = await openListener({
    ...listening,
    portOption: "--port",
    fetch: (request, { incoming, outgoing }) =>
      app.fetch(request, {
        address: incoming.socket.remoteAddress,
        whenSent: (work) => void (outgoing.closed ? work() : outgoing.once("close", work)),
        cut: () => void incoming.socket.destroy(),
      }),
  });
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    app.drain();
    return (stopping ??= endWithin(listener, app, drainMs));
  };
  if (signal !== undefined) {
    const onAbort = (): void => void stop();
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  }
  return { url: listener.url, port: listener.port, stop };
}

/** Connections are drained first, because a request in progress may leave background work. */
async function endWithin(listener: Listener, app: App, drainMs: number): Promise<void> {
  const until = performance.now() + drainMs;
  await listener.close(drainMs);
  await withTimeout(app.backgroundWorkDone(), Math.max(0, until - performance.now()));
}
