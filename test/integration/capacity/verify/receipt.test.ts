/** A receipt proves itself without the database, whatever was changed in it; only those who may have one get it. */
import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkReceipt, type Receipt } from "../../../../src/capacity/index.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { headroom } from "../../cli/harness.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("receipts on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  let id = "";
  let receipt: Receipt;

  const receiptFor = (session: Session, request: string, event: number | null = null): Promise<Receipt> =>
    overHttp(
      workflow.db,
      session,
      async (client) =>
        (await oneOf<{ receipt: Receipt }>(client, "select get_capacity_receipt($1, $2) as receipt", [request, event]))
          .receipt,
    );

  beforeAll(async () => {
    ({ id } = await workflow.create({ customer: { name: 'Инитех — Größe \u{1F4B6} "quoted"' } }));
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    await workflow.apply(id, "TECH_REVIEW_REJECTED", "tess", { payload: { reason: "Кончилось место, \u{1F937}" } });
    receipt = await receiptFor(memberSession("ada"), id);
  });

  test("prove each event, in any session's settings, and contain nothing that can be erased", async () => {
    expect(receipt).toMatchObject({ receipt: 1, request_id: id, head: { seq: 3 } });
    expect(receipt.events.map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect(await checkReceipt(receipt)).toEqual([]);
    expect(JSON.stringify(receipt)).not.toMatch(/Инитех|Кончилось/);
    const hashes = await rowsOf<{ hash: string }>(
      workflow.superuser,
      "select encode(hash, 'hex') as hash from capacity.events where request_id = $1 order by seq",
      [id],
    );
    expect(receipt.events.map(({ hash }) => hash)).toEqual(hashes.map(({ hash }) => hash));
    const elsewhere = await overHttp(workflow.db, service, async (client) => {
      await client.query(
        "set local timezone = 'Asia/Kathmandu'; set local datestyle = 'German'; set local bytea_output = 'escape'",
      );
      await client.query("set local extra_float_digits = -15");
      return (await oneOf<{ receipt: Receipt }>(client, "select get_capacity_receipt($1) as receipt", [id])).receipt;
    });
    expect(elsewhere).toEqual(receipt);
  });

  test("prove one event alone", async () => {
    const one = await receiptFor(memberSession("ada"), id, 2);
    expect(one.events).toEqual([receipt.events[1]]);
    expect(await checkReceipt(one)).toEqual([]);
  });

  const changes: Record<string, (copy: Receipt) => void> = {
    "another state": ({ events }) => void (events[1]!.text = events[1]!.text.replace("cora", "carl")),
    "another hash": ({ events }) => void (events[1]!.hash = events[2]!.hash),
    "an event left out": ({ events }) => void events.splice(1, 1),
    "events in another order": (copy) => void (copy.events = copy.events.toReversed()),
    "another request": (copy) => void (copy.request_id = "CR-2026-000001"),
    "another number": ({ events }) => void (events[1]!.seq = 9),
    "a first event that follows another": ({ events }) => void (events[0]!.previous = events[1]!.hash),
    "a later event that follows none": ({ events }) => void (events[1]!.previous = null),
    "another head": ({ head }) => void (head.hash = "0".repeat(64)),
    "a head that came earlier": ({ head }) => void (head.seq = 1),
    "a text that is not JSON": ({ events }) => void (events[0]!.text = "["),
    "a space": ({ events }) => void (events[0]!.text += " "),
  };
  test.each(Object.keys(changes))("show %s", async (change) => {
    const copy = structuredClone(receipt);
    changes[change]!(copy);
    expect(await checkReceipt(copy)).not.toEqual([]);
  });

  test.each<[string, (whole: Receipt) => unknown]>([
    ["no events", (whole) => ({ ...whole, events: [] })],
    ["a hash before that is no hash", (whole) => ({ ...whole, events: [{ ...whole.events[1]!, previous: "" }] })],
    ["no object", () => null],
  ])("are refused with %s", async (_, changed) => {
    expect(await checkReceipt(changed(receipt))).toEqual(["This is not a receipt."]);
  });

  test("show half a surrogate pair in place of the character that has the same hash", async () => {
    const text = JSON.stringify([id, 1, "\uFFFD"]);
    const hash = createHash("sha256").update(text).digest("hex");
    const made: Receipt = {
      receipt: 1,
      request_id: id,
      head: { seq: 1, hash },
      events: [{ seq: 1, previous: null, text, hash }],
    };
    expect(await checkReceipt(made)).toEqual([]);
    made.events[0]!.text = text.replace("\uFFFD", "\uD800");
    expect(await checkReceipt(made)).toEqual(["This is not a receipt."]);
  });

  test("are for auditors and admins, machines and operators", async () => {
    expect(await codeOf(receiptFor(memberSession("rita"), id))).toBe("not_allowed");
    expect(await codeOf(receiptFor(memberSession("glen", "globex"), id))).toBe("not_found");
    expect(await codeOf(receiptFor(memberSession("otto"), id))).toBe("not_found");
    expect(await codeOf(receiptFor(memberSession("ada"), "CR-2026-999999"))).toBe("not_found");
    expect(await codeOf(receiptFor(memberSession("ada"), id, 4))).toBe("not_found");
    expect(await codeOf(receiptFor(memberSession("ada"), id, 0))).toBe("not_found");
    await expect(receiptFor(anonymous, id)).rejects.toThrow("permission denied");
  });
});

describe("at the command line", async () => {
  const workflow = await startWorkflow(18);
  const folder = await mkdtemp(join(tmpdir(), "headroom-receipt-"));
  afterAll(() => rm(folder, { recursive: true }));
  const control = workflow.db.as("headroom_control");

  const kept = async (name: string, text: string): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, text);
    return file;
  };

  test("a receipt is written with a database, and checked without one", async () => {
    const { id } = await workflow.create({});
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    const written = await headroom(["request", "receipt", id], { env: { DATABASE_URL: control.url } });
    expect(written).toMatchObject({ status: 0, err: "" });
    const whole = await kept("whole.json", written.out);
    const checked = await headroom(["verify", "--receipt", whole], { env: {} });
    expect(checked).toMatchObject({ status: 0, err: "" });
    expect(checked.out).toContain(`${id}: all 2 events fit their hashes. Head: `);
    const one = await headroom(["request", "receipt", id, "--event", "1"], { env: { DATABASE_URL: control.url } });
    const alone = await headroom(["verify", "--receipt", await kept("one.json", one.out)], { env: {} });
    expect(alone).toMatchObject({ status: 0, err: "" });
    expect(alone.out).toContain(`${id}: event 1 of 2 fits its hash: `);
    expect(alone.out).toContain("The receipt does not connect it with the head.");
    // A comparison with heads needs the database.
    const both = await headroom(["verify", "--receipt", whole, "--against", whole], { env: {} });
    expect(both).toMatchObject({ status: 2, out: "" });
    expect(both.err).toContain("cannot be used with option");
    const forged = await kept("forged.json", written.out.replace("COMMERCIAL_APPROVED", "COMMERCIAL_REJECTED"));
    const refused = await headroom(["verify", "--receipt", forged], { env: {} });
    expect(refused).toMatchObject({ status: 1, out: "The hash of event 2 is not that of its text.\n" });
    const json = await headroom(["verify", "--receipt", forged, "--json"], { env: {} });
    expect(JSON.parse(json.out)).toMatchObject({ requestId: id, events: [1, 2], problems: [expect.any(String)] });
  });

  test.each(["--against", "--export-head", "--workspace"])("a receipt is not compared with %s", async (option) => {
    const outcome = await headroom(["verify", "--receipt", "receipt.json", option, "other"], { env: {} });
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain("cannot be used with option");
  });

  test.each([
    ["no file", null, "Cannot read"],
    ["no JSON", "nothing", "is not a receipt"],
    ["another document", '{"receipt": 2}', "is not a receipt"],
    ["no event", '{"receipt": 1, "request_id": "x", "head": {"seq": 1, "hash": ""}, "events": []}', "is not a receipt"],
  ])("a file with %s is refused", async (_, text, message) => {
    const file = text === null ? join(folder, "none.json") : await kept("wrong.json", text);
    const outcome = await headroom(["verify", "--receipt", file], { env: {} });
    expect(outcome).toMatchObject({ status: 2, out: "" });
    expect(outcome.err).toContain(message);
  });
});
