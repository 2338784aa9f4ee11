/**
 * /metrics, /healthz and /readyz over plain HTTP, for whoever watches a relay.
 *
 * healthz: the process answers. readyz: it is also delivering, that is, started, not stopping, and its database answers.
 */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { HeadroomError, nodeCodeOf } from "../../db/errors.ts";
import { hostsFor, isAdmitted } from "../../web/hosts.ts";

export interface MetricsServerOptions {
  readonly host: string;
  readonly port: number;
  readonly metrics: () => Promise<string>;
  /** Null when ready, else what is missing. */
  readonly problem: () => Promise<string | null>;
}

export interface MetricsServer {
  readonly url: string;
  close(): Promise<void>;
}

export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const hosts = hostsFor(options.host);
  const server = createServer((request, response) => {
    const target = request.url ?? "/";
    if (!isAdmitted(hosts, target, request.headers.host)) {
      return answer(response, 421, `This relay does not answer to the name by which it was called. ${hosts.hint}\n`);
    }
    const path = URL.parse(target, "http://relay")?.pathname ?? "";
    if (request.method !== "GET" && request.method !== "HEAD") return answer(response, 405, "GET only\n");
    void serve(path, response, options);
  });
  server.listen(options.port, options.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    throw new HeadroomError("port_in_use", `Port ${options.port} on ${options.host} cannot be used for metrics.`, {
      detail: nodeCodeOf(cause),
      hint: "Choose another with --metrics-port; 0 takes any free one.",
      cause,
    });
  }
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(path: string, response: ServerResponse, options: MetricsServerOptions): Promise<void> {
  try {
    if (path === "/metrics") {
      answer(response, 200, await options.metrics(), "text/plain; version=0.0.4; charset=utf-8");
    } else if (path === "/healthz") {
      answer(response, 200, "ok\n");
    } else if (path === "/readyz") {
      const problem = await options.problem();
      answer(response, problem === null ? 200 : 503, `${problem ?? "ok"}\n`);
    } else {
      answer(response, 404, "There are /metrics, /healthz and /readyz here.\n");
    }
  } catch {
    // What failed may name hosts and users; the log has it.
    answer(response, 503, "not available\n");
  }
}

function answer(response: ServerResponse, status: number, body: string, type = "text/plain; charset=utf-8"): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(body);
}
