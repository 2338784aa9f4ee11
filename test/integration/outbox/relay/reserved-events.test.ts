/** Receivers trust our signature, so no application can have an event signed that only Headroom may send. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { startScriptedServer, type ScriptedServer } from "../../rails/scripted-server.ts";
import { loopbackRules } from "../../rails/webhook/webhook-harness.ts";
import { createWebhookRail } from "../../../../src/rails/webhook/rail.ts";
import { createStage } from "./stage.ts";

describe.each(POSTGRES_VERSIONS)("events in Headroom's name on PostgreSQL %i", async (version) => {
  const stage = await createStage({ version });
  let server: ScriptedServer;
  beforeAll(async () => {
    server = await startScriptedServer();
  });
  afterAll(() => server.close());

  const webhook = () =>
    createWebhookRail({
      ...loopbackRules,
      endpoint: () => Promise.resolve({ url: server.url, secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"] }),
    });
  const enqueue = async (
    stream: string,
    payload: object,
    captures: object | null = null,
    binds: object[] | null = null,
  ) => {
    const [row] = await stage.query<{ id: string }>(
      `select outbox_id as id from outbox.enqueue($1, 'k', gen_random_uuid()::text, 'x', 'webhook', $2, p_captures => $3, p_binds => $4)`,
      [
        stream,
        JSON.stringify(payload),
        captures === null ? null : JSON.stringify(captures),
        binds === null ? null : JSON.stringify(binds),
      ],
    );
    return row!.id;
  };

  test.each([
    ["a type of the workflow", { type: "capacity.request.provisioning_complete" }],
    ["a type of the installation", { type: "Headroom.ping" }],
    ["our source", { type: "order.paid", source: "/headroom/acme" }],
    ["a whole envelope", { specversion: "1.0", id: "1", source: "/headroom/acme", type: "capacity.request.cancelled" }],
  ])("%s is not signed for others", async (_title, payload) => {
    const rail = webhook();
    await stage.declare(rail);
    const stream = await stage.stream();
    const before = server.requests.length;
    const id = await enqueue(stream, payload);
    await stage.run({ rails: [rail], streams: [stream] });
    expect(await stage.untilState(id, "FAILED")).toMatchObject([{}, { error_code: "payload_invalid" }]);
    expect(server.requests).toHaveLength(before);
    rail.close();
  });

  test("nor is one whose type was filled in from an answer", async () => {
    const rail = webhook();
    await stage.declare(rail);
    const stream = await stage.stream();
    server.script.push({
      status: 200,
      headers: { "content-type": "application/json" },
      body: '{"kind": "capacity.request.provisioning_complete"}',
    });
    const asked = await enqueue(stream, { type: "order.paid" }, { kind: ["kind"] });
    const filled = await enqueue(stream, { type: "order.paid" }, null, [{ path: ["type"], capture: "kind" }]);
    await stage.run({ rails: [rail], streams: [stream] });
    await stage.untilState(asked, "DISPATCHED");
    expect(await stage.untilState(filled, "FAILED")).toMatchObject([{}, { error_code: "payload_invalid" }]);
    rail.close();
  });
});
