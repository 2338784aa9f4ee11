/** Operators are told that a receiver does not answer, and that it answers again: only those whose messages wait for it. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { unique, type Stream } from "../../outbox/harness.ts";
import { oneOf, rowsOf } from "../harness.ts";
import { startTroubled } from "./troubled.ts";

describe.each(POSTGRES_VERSIONS)("circuits on PostgreSQL %i", async (version) => {
  const troubled = await startTroubled(version);
  const { db, engine } = troubled;

  /** A receiver that has failed often enough to open the circuit, with rows of these workspaces waiting for it. */
  async function opened(destination: string, ordered = true, tenants: readonly string[] = ["acme"]): Promise<Stream> {
    const stream = await engine.stream({ ordered });
    await rowsOf(db, "select outbox.limit_destination($1, p_failure_threshold => 2)", [destination]);
    for (const tenant of tenants)
      for (let each = 0; each < 2; each += 1) await troubled.enqueue(stream, { tenant, destination });
    await troubled.end(stream, "retry");
    return stream;
  }
  /** The receiver answers again. */
  async function answers(destination: string, stream: Stream): Promise<void> {
    await troubled.letPass(destination, stream);
    await troubled.end(stream, "delivered");
  }

  test.each([
    ["with order", true],
    ["without order", false],
  ])("a receiver of rows %s that does not answer is reported once, and so is its recovery", async (_title, ordered) => {
    const name = `slack:${unique("C")}`;
    const stream = await opened(name, ordered);
    await troubled.release();
    const words = `Slack (${name.slice(6)})`;
    expect(await troubled.told("circuit_open")).toEqual([
      {
        to: "otto",
        title: `${words} does not answer`,
        body: expect.stringContaining(`• ${words}, last error http_503`) as string,
      },
    ]);
    // Probes that fail reopen it, which is not news.
    for (let each = 0; each < 3; each += 1) {
      await troubled.letPass(name, stream);
      await troubled.end(stream, "retry");
      await troubled.tenMinutesPass();
      await troubled.release();
    }
    expect(await troubled.told("circuit_open")).toHaveLength(1);
    await answers(name, stream);
    await troubled.release();
    expect(await troubled.titles("circuit_closed")).toEqual([`otto: ${words} answers again`]);
    await troubled.release();
    expect(await troubled.told("circuit_closed")).toHaveLength(1);
  });

  test("several within ten minutes are one message, and one that recovers before it was reported is not mentioned", async () => {
    const names = [unique("slack:C"), unique("slack:C"), unique("slack:C"), unique("slack:C")] as const;
    const streams: Stream[] = [];
    for (const name of names) {
      streams.push(await opened(name));
      await troubled.release();
    }
    const [, , , last] = streams;
    if (last === undefined) throw new Error("There are four.");
    await answers(names[3], last);
    await troubled.release();
    expect(await troubled.told("circuit_open")).toHaveLength(1);
    await troubled.tenMinutesPass();
    await troubled.release();
    expect((await troubled.titles("circuit_open"))[1]).toBe("otto: 2 receivers do not answer");
    expect(await troubled.told("circuit_closed")).toEqual([]);
  });

  test("a circuit that an operator closes is reported as closed", async () => {
    const name = unique("slack:C");
    await opened(name);
    await troubled.release();
    await rowsOf(engine.control, "select outbox.clear_destination($1)", [name]);
    await rowsOf(engine.control, "select outbox.clear_destination($1)", [name]);
    await troubled.release();
    expect(await troubled.titles("circuit_closed")).toEqual([`otto: Slack (${name.slice(6)}) answers again`]);
  });

  test("when workspaces share a receiver, those whose messages wait are told, and nothing about each other", async () => {
    const name = unique("shared");
    const earlier = await engine.stream();
    await troubled.enqueue(earlier, { tenant: "globex", destination: name });
    await troubled.end(earlier, "delivered");
    await opened(name);
    await troubled.release();
    expect(await troubled.titles("circuit_open")).toEqual([`otto: ${name.replace("s", "S")} does not answer`]);
    expect(await troubled.told("circuit_open", "globex")).toEqual([]);
    const both = unique("both");
    await opened(both, true, ["acme", "globex"]);
    await troubled.tenMinutesPass();
    await troubled.release();
    expect(await troubled.titles("circuit_open", "globex")).toEqual([
      `glen: ${both.replace("b", "B")} does not answer`,
    ]);
    const [told] = await troubled.told("circuit_open", "globex");
    expect(told?.body).not.toMatch(/acme|otto/i);
  });

  test("an endpoint is reported by its name, to its own workspace", async () => {
    const { id } = await oneOf<{ id: string }>(
      db,
      `insert into webhooks.endpoints (name, tenant_id, url, topics) values ($1, 'acme', 'https://a.example/', '{*}') returning id`,
      [unique("hook").toLowerCase()],
    );
    await opened(`endpoint:${id}`);
    await troubled.release();
    expect((await troubled.titles("circuit_open"))[0]).toMatch(/^otto: The webhook endpoint hook-\S+ does not answer$/);
    expect(await oneOf(db, "select capacity.destination_words('globex', $1) as words", [`endpoint:${id}`])).toEqual({
      words: "a webhook endpoint",
    });
  });
});
