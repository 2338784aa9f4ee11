/**
 * Names that a listener answers to. A web page can point its own name at this machine (DNS rebinding), and then has the same origin as what
 * answers here. So what is only for this machine answers only to this machine's names.
 */
import { describe, expect, test } from "vitest";
import { startMetricsServer } from "../../../src/cli/relay/metrics-server.ts";
import { loopbackHosts, publicHosts } from "../../../src/web/hosts.ts";
import { createTestDatabase } from "../../helpers/database.ts";
import { forgedHosts, ownHosts, rawRequest } from "../../helpers/raw-http.ts";
import { setStage } from "../sandbox/harness.ts";
import { startTestGateway } from "./harness.ts";

const db = await createTestDatabase();

async function expectLoopbackOnly(url: string, path: string): Promise<void> {
  for (const [target, host] of forgedHosts(url, path)) {
    const { status, body } = await rawRequest(url, target, [`host: ${host}`]);
    expect([target, host, status]).toEqual([target, host, 421]);
    expect(body).toContain("127.0.0.1");
  }
  for (const [target, host] of ownHosts(url, path)) {
    expect([target, host, (await rawRequest(url, target, [`host: ${host}`])).status]).toEqual([target, host, 200]);
  }
}

describe("what is only for this machine answers only to its names", () => {
  test("the server", async () => {
    await using gateway = await startTestGateway(db, { dependencies: { hosts: loopbackHosts, sandbox: true } });
    await expectLoopbackOnly(gateway.url, "/auth/sign-in");
    const twice = await rawRequest(gateway.url, "/healthz", ["host: 127.0.0.1", "host: evil.example"]);
    expect(twice.status).toBeGreaterThanOrEqual(400);
    for (const path of ["/", "/rest/v1/capacity_requests", "/nowhere", "/metrics", "/events", "/auth/persona"]) {
      for (const method of ["GET", "POST", "OPTIONS"]) {
        const headers = ["host: evil.example", "content-length: 0", `apikey: ${gateway.keys.serviceKey}`];
        expect((await rawRequest(gateway.url, path, headers, method)).status).toBe(421);
      }
    }
  });

  test("the sandbox", async () => {
    await using stage = await setStage();
    await expectLoopbackOnly(stage.sandbox.url, "/slack");
    for (const path of ["/_live", "/_control/messages", "/oidc/authorize", "/nowhere"]) {
      expect((await rawRequest(stage.sandbox.url, path, ["host: evil.example"])).status).toBe(421);
    }
    const posted = ["host: evil.example", "content-length: 0", "sec-fetch-site: same-origin"];
    expect((await rawRequest(stage.sandbox.url, "/_control/reset", posted, "POST")).status).toBe(421);
  });

  test("a relay's metrics", async () => {
    const metrics = await startMetricsServer({
      host: "127.0.0.1",
      port: 0,
      metrics: () => Promise.resolve("outbox_pending_depth 1\n"),
      problem: () => Promise.resolve(null),
    });
    await expectLoopbackOnly(metrics.url, "/metrics");
    // A target that is not a path matches nothing, and ends nothing.
    for (const target of ["//", "*", "http://", "//["]) {
      expect((await rawRequest(metrics.url, target, ["host: 127.0.0.1"])).status).toBeGreaterThanOrEqual(400);
    }
    expect((await rawRequest(metrics.url, "/healthz", ["host: 127.0.0.1"])).status).toBe(200);
    await metrics.close();
  });

  test("but metrics on a public address answer to any name", async () => {
    const metrics = await startMetricsServer({
      host: "0.0.0.0",
      port: 0,
      metrics: () => Promise.resolve(""),
      problem: () => Promise.resolve(null),
    });
    const reached = metrics.url.replace("0.0.0.0", "127.0.0.1");
    expect((await rawRequest(reached, "/metrics", ["host: relay.example.com"])).status).toBe(200);
    await metrics.close();
  });
});

describe("a server with a public address", () => {
  test("answers to it, to this machine's names, and to names that no name server can point here", async () => {
    await using gateway = await startTestGateway(db, {
      dependencies: { hosts: publicHosts("https://capacity.example.com", ["headroom.prod.svc.cluster.local"]) },
    });
    const statusOf = async (target: string, host: string): Promise<number> =>
      (await rawRequest(gateway.url, target, [`host: ${host}`])).status;
    for (const host of [
      "capacity.example.com",
      "CAPACITY.example.com:443",
      "127.0.0.1:8400",
      "localhost",
      "10.1.2.3:8400",
      "[2001:db8::1]:8400",
      "headroom:8400",
      "headroom_upstream",
      "headroom.prod.svc.cluster.local:8400",
    ]) {
      expect([host, await statusOf("/healthz", host)]).toEqual([host, 200]);
    }
    for (const host of [
      "evil.example",
      "capacity.example.com.evil.example",
      "example.com",
      "www.capacity.example.com",
    ]) {
      expect([host, await statusOf("/healthz", host)]).toEqual([host, 421]);
    }
    expect(await statusOf("http://evil.example/healthz", "capacity.example.com")).toBe(421);
    expect(await statusOf("http://capacity.example.com/healthz", "capacity.example.com")).toBe(200);
  });

  test("without one answers to any name, since only its operator knows its names", async () => {
    await using gateway = await startTestGateway(db);
    expect((await rawRequest(gateway.url, "/healthz", ["host: anything.example"])).status).toBe(200);
  });
});
