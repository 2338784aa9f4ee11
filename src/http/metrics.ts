/**
 * The server's metrics, for Prometheus.
 *
 * Owns: the registry and its series. Labels are the route's pattern, never a path, so their number is bounded.
 */
import { Counter, Gauge, Histogram, Registry } from "prom-client";

export interface HttpMetrics {
  readonly contentType: string;
  started(): void;
  finished(method: string, route: string, status: number, seconds: number): void;
  refused(route: string, reason: "rate" | "credential" | "host"): void;
  text(): Promise<string>;
}

export function createHttpMetrics(): HttpMetrics {
  const registry = new Registry();
  const registers = [registry];
  const durations = new Histogram({
    name: "headroom_http_request_duration_seconds",
    help: "How long requests took, by route and status.",
    labelNames: ["method", "route", "status"] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const underWay = new Gauge({
    name: "headroom_http_requests_in_flight",
    help: "Requests under way.",
    registers,
  });
  const refusals = new Counter({
    name: "headroom_http_refusals_total",
    help: "Requests refused before their handler ran, by route and reason.",
    labelNames: ["route", "reason"] as const,
    registers,
  });
  return {
    contentType: registry.contentType,
    started: () => underWay.inc(),
    finished(method, route, status, seconds) {
      underWay.dec();
      durations.observe({ method, route, status: String(status) }, seconds);
    },
    refused: (route, reason) => refusals.inc({ route, reason }),
    text: () => registry.metrics(),
  };
}
