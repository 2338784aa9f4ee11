/**
 * Where lives are played: the product's server and its relay in this process, the sandbox's Stripe behind HTTP, and one clock for both, which
 * is moved forward. Nothing runs on its own: the stage decides when events are sent, the relay runs and the sweep runs, so that a seed
 * gives the same life again.
 *
 * Owns: the parts, time, and running all work that is due. Does not own: people's acts (acts.ts), nor the verdict (judge.ts).
 */
import type { Pool } from "pg";
import { HeadroomError } from "../../../../src/db/errors.ts";
import { pause } from "../../../../src/db/wait/pause.ts";
import { valueTypes } from "../../../../src/db/values/values.ts";
import { createApp } from "../../../../src/http/app.ts";
import { createGatewayDatabase } from "../../../../src/http/database/gateway-database.ts";
import { startServer } from "../../../../src/http/server.ts";
import { createDrainer, type Drainer } from "../../../../src/outbox/index.ts";
import { createStripeRail, type StripeRail } from "../../../../src/rails/stripe/rail.ts";
import { defaultSampleData } from "../../../../src/sandbox/sample-data.ts";
import { startSandbox, type Sandbox } from "../../../../src/sandbox/sandbox.ts";
import { startPart } from "../../kit/part-process.ts";
import { ownCodeDir } from "../../kit/patch.ts";
import { secretKey } from "../../kit/secrets.ts";
import { openPool } from "../../kit/stage.ts";
import { webhookSecret } from "../directory.ts";
import { trapSteps } from "../../kit/relay-part.ts";
import { chanceOf } from "./chances.ts";
import { Clock } from "./clock.ts";
import { Fates } from "./fates.ts";
import { sendableQuery } from "./ours.ts";
import { cutOffSweep, dieAtStep } from "./kills.ts";
import type { Life } from "./life.ts";
import type { LifeDatabase } from "./place.ts";
import { requestOfEvent } from "./whose.ts";
import type { Kill, World } from "./world.ts";

const streams = ["billing", "payments", "refunds", "subscriptions"];

/** A life that is being played. */
export interface Scene {
  readonly life: Life;
  readonly id: string;
  readonly token: string;
  /** The acts, with the clock's time in seconds. */
  readonly did: { readonly act: string; readonly at: number }[];
  /** The refunds of operators, by the payment's id at Stripe. */
  readonly sentBack: Map<string, number>;
  /** The outcomes of the next renewals; by default they are paid. */
  readonly willFail: number[];
}

interface Parts {
  readonly database: LifeDatabase;
  readonly pool: Pool;
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly clock: Clock;
  readonly world: World;
}

export const keys = { test: "sk_test_lives", live: "sk_live_lives" } as const;

/** A run of the relay waits at most this long for rows to retry; the next run gets them. */
const turnMs = 400;
const maxRounds = 100;
const trapped = ["checkout.create", "checkout.expire", "refund", "subscription.cancel", "look"] as const;

export class LifeStage {
  readonly sandbox: Sandbox;
  readonly fates = new Fates();
  readonly url: string;
  readonly database: LifeDatabase;
  scenes: Scene[] = [];
  /** Events that could not be explained when they happened. */
  readonly troubles: { readonly life: number; readonly rule: string; readonly what: string }[] = [];
  readonly counts = new Map<string, number>();
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #world: World;
  readonly #beganAtMs: number;
  #relay: { readonly rail: StripeRail; readonly drainer: Drainer; readonly pool: Pool } | undefined;
  #isLive = false;
  #slot = 0;
  /** The part to kill in this moment, if it has work. */
  #willKill: Kill | undefined;

  private constructor({ database, pool, sandbox, url, clock, world }: Parts) {
    this.database = database;
    this.#pool = pool;
    this.sandbox = sandbox;
    this.url = url;
    this.#clock = clock;
    this.#world = world;
    this.#beganAtMs = clock.now();
  }

  static async open(database: LifeDatabase, world: World, undo: AsyncDisposableStack): Promise<LifeStage> {
    const clock = new Clock();
    undo.defer(() => database.drop());
    const pool = openPool(database.url, 2);
    undo.defer(() => pool.end());
    const sandbox = await startSandbox({
      sampleData: defaultSampleData,
      secrets: {
        slackSigningSecret: "slack",
        linearWebhookSecret: "linear",
        githubWebhookSecret: "github",
        stripeWebhookSecret: webhookSecret,
      },
      now: clock.now,
      requestLimit: 200,
    });
    undo.defer(() => sandbox.close());
    const gateway = createGatewayDatabase({ url: database.as("headroom_gateway"), maxConnections: 4, secretKey });
    undo.defer(() => gateway.close());
    const app = createApp({
      database: gateway,
      keys: { jwtSecret: "x".repeat(32), anonKey: "anon", serviceKey: "service" },
      publicUrl: "http://127.0.0.1",
      payments: { checkoutOrigins: [sandbox.url], waitMs: 500 },
      log: () => undefined,
    });
    const server = await startServer({ app, host: "127.0.0.1", port: 0, drainMs: 1_000 });
    undo.defer(() => server.stop());
    sandbox.connect({ headroomUrl: server.url });
    sandbox.stripe.deliver({ held: true });
    sandbox.stripe.lagLists(world.listLagSeconds);
    const stage = new LifeStage({ database, pool, sandbox, url: server.url, clock, world });
    stage.#startRelay();
    undo.defer(() => stage.#stopRelay());
    return stage;
  }

  #startRelay(): void {
    const rail = createStripeRail({ secretKey: this.key, apiUrl: this.sandbox.url, timeoutMs: 5_500 });
    const pool = openPool(this.database.as("headroom_executor"), 3);
    const drainer = createDrainer({ pool, rails: [rail], streams, leaseMarginMs: 500 });
    this.#relay = { rail, drainer, pool };
  }

  async #stopRelay(): Promise<void> {
    await this.#relay?.drainer.close();
    this.#relay?.rail.close();
    await this.#relay?.pool.end();
    this.#relay = undefined;
  }

  /** The product's connection to Stripe. */
  get key(): string {
    return this.#isLive ? keys.live : keys.test;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  /** From now on real money is taken. */
  async #goLive(): Promise<void> {
    this.count("the account goes live");
    this.#isLive = true;
    await this.#stopRelay();
    this.#startRelay();
  }

  // --- lives

  async admit(lives: readonly Life[]): Promise<void> {
    const wanted = lives.map(({ size, number }) => ({
      customer: `customer-${number}`,
      size,
      quantity: 1 + (number % 3),
    }));
    const [row] = await this.rows<{ offers: { id: string; token: string }[] }>("select chaos_offer($1) as offers", [
      JSON.stringify(wanted),
    ]);
    this.scenes = lives.flatMap((life, at) => {
      const offer = row?.offers[at];
      return offer === undefined
        ? []
        : [{ life, ...offer, did: [], sentBack: new Map<string, number>(), willFail: [] }];
    });
  }

  /** The customer goes to pay; a regular refusal is an answer. */
  async begin({ token }: Scene): Promise<{ readonly ok: boolean }> {
    return { ok: await this.tolerantly(() => this.rows("select public.begin_checkout($1)", [token])) };
  }

  sceneOf(request: string | undefined): Scene | undefined {
    return this.scenes.find(({ id }) => id === request);
  }

  count(what: string, by = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + by);
  }

  // --- time

  /** Seconds, as Stripe counts. */
  get now(): number {
    return Math.floor(this.#clock.now() / 1000);
  }

  get slot(): number {
    return this.#slot;
  }

  /** Time passes until this many seconds after the beginning; Stripe's own actions happen on the way. */
  async passTo(seconds: number, slot: number): Promise<void> {
    this.#slot = slot;
    this.#willKill = this.#world.kills.get(slot);
    if (this.#world.goesLiveAt === slot) await this.#goLive();
    const untilMs = this.#beganAtMs + seconds * 1000;
    for (let renewals = 0; ; renewals += 1) {
      const [next] = this.sandbox.stripe
        .subscriptions()
        .filter(({ status, periodEnd }) => status !== "canceled" && periodEnd * 1000 < untilMs)
        .toSorted((a, b) => a.periodEnd - b.periodEnd);
      if (next === undefined || renewals > 10_000) break;
      await this.#pass(Math.max(0, next.periodEnd * 1000 - this.#clock.now()));
      this.#renew(next.id, next.metadata["headroom_request"]);
    }
    await this.#pass(Math.max(0, untilMs - this.#clock.now()));
  }

  async tick(seconds: number): Promise<void> {
    await this.#pass(seconds * 1000);
  }

  #renew(subscription: string, request: string | undefined): void {
    const scene = this.sceneOf(request);
    const fails = scene !== undefined && scene.willFail.shift() !== undefined;
    this.count(`a renewal ${fails ? "fails" : "is paid"}`);
    this.sandbox.stripe.renew(subscription, fails ? "failed" : "succeeded");
    this.collect();
  }

  async #pass(ms: number): Promise<void> {
    if (ms <= 0) return;
    this.#clock.aheadMs += ms;
    await this.rows("select life.pass($1 * interval '1 millisecond')", [ms]);
  }

  // --- letting the product do what is due

  /** Takes over Stripe's new events, so that their fates decide when they arrive. */
  collect(): void {
    for (const held of this.sandbox.stripe.takeHeld()) {
      const scene = this.sceneOf(requestOfEvent(this.sandbox, held.event.object));
      this.fates.take(held, scene?.life, this.#slot);
    }
  }

  /** Due events arrive, and the relay and the sweep run, until nothing is left to do at this moment. */
  async react(): Promise<void> {
    const resting = this.#world.rests.get(this.#slot);
    if (resting !== undefined) this.count(`${resting} rests`);
    for (let round = 0; round < maxRounds; round += 1) {
      this.collect();
      const sent = resting === "the server" ? 0 : await this.#send();
      const claimed = resting === "the relay" ? 0 : await this.drain();
      this.collect();
      if (resting !== "the sweep") await this.sweep();
      if (sent + claimed === 0 && (resting !== undefined || !(await this.#hasWork()))) return;
    }
    this.trouble(-1, "the product comes to rest", `not in moment ${this.#slot}`);
  }

  /** One run of the relay, if it has work; returns how many calls it made. */
  async drain(): Promise<number> {
    const [work] = await this.rows<{ left: boolean }>("select life.hurry() as left");
    if (work?.left !== true) return 0;
    const killed = await this.#killRelay();
    const report = await this.#relay?.drainer.drain({ budgetMs: turnMs });
    return killed + (report?.claimed ?? 0);
  }

  async sweep(): Promise<void> {
    if (this.#willKill === "the sweep") {
      this.#willKill = undefined;
      this.count("killed: the sweep before its commit");
      await cutOffSweep(this.#pool);
    }
    // The duration of provisioning is not the subject here: jobs end when a life says so.
    await this.rows("update provisioning.jobs set next_look_at = 'infinity' where next_look_at < 'infinity'");
    for (let round = 0; round < 20; round += 1) {
      const [swept] = await this.rows<{ failed: unknown[]; more: boolean }>(
        "select t -> 'failed' as failed, (t ->> 'more')::boolean as more from public.run_capacity_request_timers(400) t",
      );
      for (const each of swept?.failed ?? []) this.trouble(-1, "the sweep fails for nobody", JSON.stringify(each));
      if (swept?.more !== true) return;
    }
  }

  /** Violations that are seen while they happen. */
  trouble(life: number, rule: string, what: string): void {
    if (!this.troubles.some((each) => each.life === life && each.rule === rule))
      this.troubles.push({ life, rule, what });
  }

  /** A customer who goes to pay soon has a page, or is told why not. */
  async watch(): Promise<void> {
    if (this.#world.rests.has(this.#slot)) return;
    const waiting = await this.rows<{ request_id: string; number: number }>(
      `select c.request_id, c.number from billing.checkouts c where c.state = 'asked' and c.created_at < life.now() - interval '30 minutes'`,
    );
    for (const { request_id: request, number } of waiting)
      this.trouble(
        this.sceneOf(request)?.life.number ?? -1,
        "who goes to pay has a page soon",
        `page ${number} in moment ${this.#slot}`,
      );
  }

  // --- parts that die

  /** A relay in a separate process dies during a call; its claims are released immediately, because it can no longer send them. */
  async #killRelay(): Promise<number> {
    if (this.#willKill !== "a relay at a step") return 0;
    const waiting = await this.rows<{ operation: string }>(
      `select distinct m.payload ->> 'operation' as operation from outbox.pending p join outbox.payloads m on m.outbox_id = p.outbox_id
        where p.due <= now() and m.payload ->> 'operation' = any ($1) order by 1`,
      [trapped],
    );
    if (waiting.length === 0) return 0;
    this.#willKill = undefined;
    const random = chanceOf(this.#slot, "trap");
    const { operation } = random.pick(waiting);
    const at = random.pick(trapSteps);
    this.count(`killed: a relay at ${at} of ${operation}`);
    const relayId = await dieAtStep({
      connectionString: this.database.as("headroom_executor"),
      stripeUrl: this.sandbox.url,
      stripeKey: this.key,
      trap: { operation, at },
    });
    const past = "update outbox.claims set lease_until = now() - interval '1 second' where relay_id = $1";
    await this.rows(past, [relayId]);
    return 1;
  }

  /** Events arrive; the server may die while the database works on one, or before it has answered. Unanswered events are sent again. */
  async #send(): Promise<number> {
    const type = this.fates.nextType(this.#slot);
    if (this.#willKill !== "the server at an event" || type === undefined) return this.fates.send(this.#slot);
    this.#willKill = undefined;
    const at = chanceOf(this.#slot, "trap").pick(["during", "before the answer"] as const);
    this.count(`killed: the server ${at} ${type}`);
    const server = await startPart(ownCodeDir, "kit/server-child.ts", {
      connectionString: this.database.as("headroom_gateway"),
      secretKey,
      checkoutOrigin: new URL(this.sandbox.url).origin,
      trap: { holds: [`"type": "${type}"`], at },
    });
    try {
      this.sandbox.connect({ headroomUrl: `http://127.0.0.1:${server.ready}` });
      return await this.fates.send(this.#slot);
    } finally {
      this.sandbox.connect({ headroomUrl: this.url });
      await server.kill();
    }
  }

  async #hasWork(): Promise<boolean> {
    const [left] = await this.rows<{ busy: boolean }>(
      `select exists (select from billing.sightings s where s.next_read_at <= life.now()) or exists (${sendableQuery}) as busy`,
    );
    // A destination that failed too often is left alone for a moment.
    if (left?.busy === true) await pause(20);
    return left?.busy === true || this.fates.isDue(this.#slot);
  }

  // --- the database

  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    const { rows } = await this.#pool.query({ text, values: [...values], types: valueTypes });
    return rows as T[];
  }

  /** Runs an act; a regular refusal by the product or Stripe is an answer. False if it was refused. */
  async tolerantly(work: () => unknown): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  if (error instanceof HeadroomError) return error.httpStatus < 500;
  const code = (error as { code?: unknown }).code;
  return typeof code === "string" && code.startsWith("PT4");
}
