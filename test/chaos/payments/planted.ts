/**
 * Plausible bugs about money, each as the smallest change to the real code that causes it, and the scene in which the
 * ordinary oracle must find it. The unchanged code plays the same scenes, and must pass.
 */
import { plantedInCode, type CodeBug } from "../kit/planted.ts";
import { Findings } from "../kit/findings.ts";
import { Random } from "../kit/random.ts";
import { judge } from "./oracle.ts";
import { Outside } from "./outside.ts";
import { comeToRest } from "./rest.ts";
import { scenes } from "./scenes.ts";
import { PaymentsStage } from "./stage.ts";

const sql = (path: string): string => `sql/functions/${path}.sql`;

export const plantedBugs: readonly CodeBug<keyof typeof scenes>[] = [
  {
    name: "a second charge is kept",
    scene: "two tabs",
    patches: [
      {
        file: sql("billing/refunds/settle"),
        find: "if v_payment.refund_reason is null then",
        replace: "if coalesce(v_payment.refund_reason, 'duplicate') = 'duplicate' then",
      },
    ],
  },
  {
    name: "a forgotten refund: what failed is not paid back",
    scene: "a job that fails for good",
    caughtAs: "what bought nothing went back in full",
    patches: [
      {
        file: sql("billing/subscriptions/follow_end"),
        find: "    perform billing.owe(v_payment.id, v_reason);",
        replace: "    continue when v_reason = 'failed';\n    perform billing.owe(v_payment.id, v_reason);",
      },
    ],
  },
  {
    name: "a refund without a reason: what runs is paid back",
    scene: "a job that succeeds",
    patches: [
      {
        file: sql("billing/subscriptions/follow_end"),
        find: "if p_change ->> 'state_after' = 'COMPLETED' then",
        replace: "if p_change ->> 'state_after' = 'NEVER' then",
      },
    ],
  },
  {
    name: "a refund of another payment",
    scene: "one runs and one fails",
    patches: [
      {
        file: sql("billing/refunds/send_refund"),
        find: "'destination', p_payment.payment_intent,",
        replace: "'destination', (select min(o.payment_intent) from billing.payments o),",
      },
    ],
  },
  {
    name: "a refund is made twice: its lost answer is not looked up, and it has a new key",
    scene: "a part is refunded and the answer lost",
    patches: [
      {
        file: "src/rails/stripe/refund.ts",
        find: '  if (found.kind === "found") return foundAs(found.object);',
        replace: '  if (found.kind === "found") return { kind: "absent" };',
      },
      {
        file: "src/rails/stripe/refund.ts",
        find: "const options = { idempotencyKey: keyOf(message) };",
        replace: "const options = { idempotencyKey: `${keyOf(message)}:${message.tryNo}` };",
      },
    ],
  },
  {
    name: "a webhook is taken twice",
    scene: "an event comes twice",
    patches: [
      { file: sql("public/receive/handle_stripe_webhook"), find: "  if not found then", replace: "  if false then" },
      {
        file: sql("billing/payments/take_session"),
        find: "  if v_payment.id is not null then",
        replace: "  if false then",
      },
    ],
    afterMigration: `alter table billing.payments drop constraint payments_session_id_key, drop constraint payments_checkout_id_key,
      drop constraint payments_payment_intent_key`,
  },
  {
    name: "a payment counts that was made after the offer had ended",
    scene: "paid after the deadline, before the sweep",
    patches: [
      { file: sql("billing/payments/judge_payment"), find: "when not p_in_time then 'late' end;", replace: "end;" },
    ],
  },
  {
    name: "the books forget what was learnt by asking",
    scene: "a refund of which no event tells",
    patches: [
      {
        file: sql("billing/refunds/move_refund"),
        find: "  if v_state = 'succeeded' then",
        replace: "  if v_state = 'succeeded' and p_event_id not like 'look:%' then",
      },
    ],
  },
  {
    name: "a payment is believed before the money has arrived",
    scene: "a debit that fails",
    patches: [
      {
        file: sql("billing/receive/apply_session"),
        find: "coalesce(p_session ->> 'payment_status' in ('paid', 'no_payment_required'), false)",
        replace: "coalesce(p_session ->> 'status' = 'complete', false)",
      },
    ],
  },
  {
    name: "a subscription goes on at Stripe after its request has failed",
    scene: "a subscription whose job fails for good",
    patches: [
      {
        // Skipping it once is not enough: the sweep tries again.
        file: sql("billing/subscriptions/cancel_at_stripe"),
        find: "if p_stripe_id is null then",
        replace: "if true then",
      },
    ],
  },
  {
    name: "a row is not asked for the grant of its rail",
    scene: "strangers try everything",
    patches: [
      {
        file: sql("outbox/enqueue/add_row"),
        find: "and (not r.guarded or not p_checked",
        replace: "and (true or not p_checked",
      },
    ],
  },
  {
    name: "answers by any rail are believed to be Stripe's",
    scene: "strangers try everything",
    patches: [
      { file: sql("billing/sweep/keep_answers"), find: "   where c.rail = 'stripe'\n", replace: "   where true\n" },
      {
        file: sql("billing/sweep/keep_answers"),
        find: "or c.stream = 'payments' and exists (select from billing.refunds f where f.outbox_id = c.outbox_id))",
        replace: "or c.stream = 'payments')",
      },
    ],
  },
  {
    name: "a turn is an advisory lock",
    scene: "strangers try everything",
    patches: [
      {
        file: sql("headroom/turns/try_turn"),
        find: "  return found or not exists (select from headroom.turns t where t.name = p_name) and headroom.make_turn(p_name);",
        replace: "  return pg_try_advisory_xact_lock(hashtextextended(p_name, 0));",
      },
    ],
  },
  {
    name: "of a repeated key the payload alone is compared",
    scene: "strangers try everything",
    patches: [
      {
        file: sql("outbox/enqueue/existing_row"),
        find: "  elsif p_terms is not null and",
        replace: "  elsif false and",
      },
    ],
  },
  {
    name: "everybody may write the stream of refunds",
    scene: "strangers try everything",
    patches: [
      {
        file: "sql/registrations/billing.sql",
        find: `"carries_money": true, "max_tries": 8, "writers": []}`,
        replace: `"carries_money": true, "max_tries": 8}`,
      },
    ],
  },
];

const restMs = 15_000;

export const planted = plantedInCode(plantedBugs, async (code, scene) => {
  const findings = new Findings();
  const stage = await PaymentsStage.open(code);
  try {
    await stage.startRelay();
    await scenes[scene](stage, findings);
    const outside = new Outside(stage, new Random(1), () => undefined);
    await comeToRest(stage, outside, AbortSignal.timeout(restMs), () => undefined);
    await judge(stage, findings);
  } finally {
    await stage.close();
  }
  return findings.list;
});
