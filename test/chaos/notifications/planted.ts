/**
 * Plausible bugs about notifications, each as the smallest change to the real code that causes it, with the scene
 * that reveals it. The unchanged code must pass the same scenes.
 */
import { Findings } from "../kit/findings.ts";
import { plantedInCode, type CodeBug } from "../kit/planted.ts";
import { judge } from "./oracle.ts";
import { comeToRest } from "./rest.ts";
import { scenes } from "./scenes.ts";
import { NotificationsStage } from "./stage.ts";

const sql = (path: string): string => `sql/functions/notify/${path}.sql`;

export const plantedBugs: readonly CodeBug<keyof typeof scenes>[] = [
  {
    name: "a repeated call tells it again",
    scene: "one thing by four callers",
    caughtAs: "each person and key is one notification",
    afterMigration: "drop index notify.notifications_key",
    patches: [
      {
        file: sql("tell/tell"),
        find: "  on conflict (workspace_id, recipient_kind, recipient, idempotency_key, (cause is null)) do nothing\n  returning * into v_told;",
        replace: "  returning * into v_told;",
      },
    ],
  },
  {
    name: "a merged message tells the first thing alone",
    scene: "a burst about one thing",
    caughtAs: "nothing is lost",
    patches: [
      {
        file: sql("release/send_message"),
        find: "v_sent := notify.send(v_fit[:v_fitting], p_channel);",
        replace: "v_sent := notify.send(v_fit[1:1], p_channel);",
      },
    ],
  },
  {
    name: "a merged message is noted for the first thing alone",
    scene: "a burst about one thing",
    patches: [
      {
        file: sql("release/send_message"),
        find: "array(select n.id from unnest(v_fit[:v_fitting]) n)",
        replace: "array(select n.id from unnest(v_fit[1:1]) n)",
      },
    ],
  },
  {
    name: "what is held is noted as carried and not enqueued",
    scene: "a burst about one thing",
    caughtAs: "nothing is lost",
    patches: [
      {
        file: sql("release/send_message"),
        find: "v_sent := notify.send(v_fit[:v_fitting], p_channel);",
        replace: "select gen_random_uuid() as delivery_id, null::text as problem into v_sent;",
      },
    ],
  },
  {
    name: "what has expired is sent",
    scene: "held for too long",
    caughtAs: "nothing is sent after it expired",
    patches: [
      {
        file: sql("release/send_message"),
        find: "where n.expires_at > v_now and n.erased_at",
        replace: "where n.erased_at",
      },
      {
        file: sql("release/send_message"),
        find: "if cardinality(v_fit) < cardinality(p_told) then",
        replace: "if false then",
      },
      // The engine checks as well.
      { file: sql("release/send"), find: "p_expires_at => v_expires", replace: "p_expires_at => null" },
    ],
  },
  {
    name: "a suppression is ignored",
    scene: "a mail to an address that bounced",
    caughtAs: "nothing goes to an address that is suppressed",
    patches: [
      {
        file: sql("addresses/reach"),
        find: "problem := case when notify.is_suppressed(p_to.workspace_id, mark) then 'suppressed' end;",
        replace: "problem := null;",
      },
    ],
  },
  {
    name: "a suppression knows an address in one spelling only",
    scene: "a mail to an address that bounced",
    caughtAs: "nothing goes to an address that is suppressed",
    patches: [
      {
        file: sql("addresses/address_mark"),
        find: "coalesce(headroom.canonical_address(p_address), p_address)",
        replace: "p_address",
      },
    ],
  },
  {
    name: "a channel that fails takes the others along",
    scene: "a mail that comes too late",
    patches: [
      {
        file: sql("outcome/follow_endings"),
        find: "where p.delivery_id = v_ending.id and p.state = 'carried';",
        replace:
          "where p.notification_id in (select o.notification_id from notify.parts o where o.delivery_id = v_ending.id) and p.state = 'carried';",
      },
    ],
  },
  {
    name: "a mail whose answer was lost is taken for one that was not sent",
    scene: "a mail whose answer is lost",
    patches: [
      {
        file: "src/rails/email/smtp.ts",
        find: "this.#contentGone ? afterContent(error) : beforeContent(error)",
        replace: "beforeContent(error)",
      },
    ],
  },
  {
    name: "nobody learns what Postal says later",
    scene: "a mail that comes back",
    patches: [
      {
        file: sql("outcome/record_outcome"),
        find: "coalesce(array_position(v_order, v_delivery.outcome), 0) < array_position(v_order, p_outcome)",
        replace: "v_delivery.outcome is null",
      },
    ],
  },
];

const restMs = 15_000;

export const planted = plantedInCode(plantedBugs, async (code, scene) => {
  const findings = new Findings();
  const stage = await NotificationsStage.open({ ...code, relays: 2 });
  try {
    await stage.startRelay();
    const told = await scenes[scene](stage);
    await comeToRest(stage, undefined, AbortSignal.timeout(restMs));
    await judge(stage, told, findings);
  } finally {
    await stage.close();
  }
  return findings.list;
});
