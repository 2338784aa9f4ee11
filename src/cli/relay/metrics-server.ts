/**
 * /metrics, /healthz and /readyz over plain HTTP, for monitoring a relay.
 *
 * healthz: the process answers. readyz: it is also delivering, that is, started, not stopping, and its database answers.
 */
import { prometheusContentType } from "prom-client";
import { openListener } from "../../web/listener.ts";
import { hostsFor } from "../../web/hosts.ts";
import { parseUrl } from "../../db/parse-url.ts";

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: () => Promise<string>;
  /** Null if ready, otherwise what is missing. */
  readonly problem: () => Promise<string | null>;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port } = options;
  const listener = await openListener({
    host,
    port,
    hosts: hostsFor(host),
    purpose: "metrics",
    portOption: "--metrics-port",
    fetch: (request) => serve(request, options),
  });
  return { url: listener.url, close: () => listener.close() };
}

async function serve({ method, url }: Request, options: MetricsServerOptions): Promise<Response> {
  if (method !== "GET" && method !== "HEAD") return answer(405, "GET only\n");
  try {
    switch (parseUrl(url)?.pathname) {
      case "/metrics":
        return answer(200, await options.metrics(), prometheusContentType);
      case "/healthz":
        return answer(200, "ok\n");
      case "/readyz": {
        const problem = await options.problem();
        return answer(problem === null ? 200 : 503, `${problem ?? "ok"}\n`);
      }
      default:
        return answer(404, "There are /metrics, /healthz and /readyz here.\n");
    }
  } catch {
    // The failure may name hosts and users; it is in the log.
    return answer(503, "not available\n");
  }
}

function answer(status: number, body: string, type = "text/plain; charset=utf-8"): Response {
  return new Response(body, { status, headers: { "content-type": type, "cache-control": "no-store" } });
}
