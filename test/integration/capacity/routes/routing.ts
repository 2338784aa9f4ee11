/**
 * Where events go, in tests: endpoints of Acme, of the installation and of the relays' file; and the computation that the routes replaced,
 * kept as the reference.
 *
 * Does not own: what is asserted.
 */
import { disableEndpoint, enableEndpoint, rotateEndpointSecret } from "../../../../src/webhooks/endpoints.ts";
import type { EmbeddedVersion } from "../../../../src/db/embedded.ts";
import type { TestClient } from "../../../helpers/database.ts";
import type { EventType } from "../reduce/model.ts";
import { oneOf, rowsOf, startWorkflow, type Workflow } from "../harness.ts";

export const secretKey = "the key of these tests, which has more than 32 bytes";

/** Every endpoint and subscription, matched at the moment of the event. */
const reference = `
  select w.id as workspace, t.event_type::text as event,
         coalesce((select array_agg('event:' || n.name order by n.name)
            from (select 'file:' || s.endpoint from capacity.subscriptions s
                   where s.workspace_id = w.id and s.enabled and (s.event_types is null or t.event_type = any (s.event_types))
                  union all
                  select e.id::text from webhooks.endpoints e
                   where e.enabled and (e.tenant_id is null or e.tenant_id = w.id)
                     and webhooks.topic_matches(e.topics, 'capacity', 'capacity.request.' || lower(t.event_type::text))) n(name)), '{}') as names
    from directory.workspaces w cross join unnest(enum_range(null::public.capacity_request_event_type)) t(event_type)
   where w.id in ('acme', 'globex') order by 1, 2`;

const answered = `
  select r.workspace_id as workspace, t.event_type::text as event,
         array(select f.effect from unnest(capacity.effects_of(
                 capacity.context_of(r, row('user', 'nobody', 'test')::capacity.actor, t.event_type, null), r.state, '[]'))
                 with ordinality f(effect, n)
                where f.effect like 'event:%' order by f.n) as names
    from capacity.requests r cross join unnest(enum_range(null::public.capacity_request_event_type)) t(event_type)
   where r.id = any ($1) order by 1, 2`;

export interface Heard {
  readonly workspace: "acme" | "globex";
  readonly event: EventType;
  readonly names: readonly string[];
}

export class Routing {
  readonly workflow: Workflow;
  #requests: readonly string[] = [];

  constructor(workflow: Workflow) {
    this.workflow = workflow;
  }

  /** A request of each workspace, whose next event is asked about. */
  async begin(): Promise<void> {
    const acme = await this.workflow.create();
    const globex = await this.workflow.create({ workspace: "globex", owner: "glen" });
    this.#requests = [acme.id, globex.id];
  }

  /** Where each workspace's next event of every type would go. */
  answered(): Promise<Heard[]> {
    return rowsOf<Heard>(this.workflow.superuser, answered, [this.#requests]);
  }

  wanted(): Promise<Heard[]> {
    return rowsOf<Heard>(this.workflow.superuser, reference);
  }

  /** The events that one endpoint receives, by workspace. */
  async heardBy(effect: string): Promise<{ acme: string[]; globex: string[] }> {
    const heard = (await this.answered()).filter(({ names }) => names.includes(effect));
    const of = (name: string): string[] =>
      heard.filter(({ workspace }) => workspace === name).map(({ event }) => event);
    return { acme: of("acme"), globex: of("globex") };
  }

  control(): Promise<TestClient> {
    return this.workflow.db.as("headroom_control").connect();
  }

  /** Removes the endpoints and subscriptions that are called `subject`. */
  async clear(): Promise<void> {
    await rowsOf(this.workflow.superuser, "delete from webhooks.endpoints where name = 'subject'");
    await rowsOf(this.workflow.superuser, "delete from capacity.subscriptions where endpoint = 'subject'");
  }
}

/** Call it while tests are being collected. */
export async function startRouting(version: EmbeddedVersion): Promise<Routing> {
  return new Routing(await startWorkflow(version));
}

/** An endpoint and everything that can be done with it. */
export class Endpoint {
  readonly #client: TestClient;
  readonly #name: string;
  readonly #owner: { readonly workspaceId?: string };

  constructor(client: TestClient, name: string, workspaceId?: string) {
    this.#client = client;
    this.#name = name;
    this.#owner = workspaceId === undefined ? {} : { workspaceId };
  }

  /** In the connection's transaction, if there is one: the library's own function would end it. */
  async put(topics: readonly string[]): Promise<void> {
    const changes = JSON.stringify({ url: "https://hooks.example/x", topics });
    await rowsOf(this.#client, "select set_config('headroom.secret_key', $1, false)", [secretKey]);
    await rowsOf(this.#client, "select webhooks.put_endpoint($1, $2, p_tenant_id => $3)", [
      this.#name,
      changes,
      this.#owner.workspaceId ?? null,
    ]);
  }

  async disable(): Promise<void> {
    await disableEndpoint(this.#client, this.#name, this.#owner);
  }

  async enable(): Promise<void> {
    await enableEndpoint(this.#client, this.#name, this.#owner);
  }

  async rotate(): Promise<void> {
    await rotateEndpointSecret(this.#client, this.#name, { key: secretKey, ...this.#owner });
  }

  async remove(): Promise<void> {
    await rowsOf(this.#client, "select webhooks.remove_endpoint($1, $2)", [
      this.#name,
      this.#owner.workspaceId ?? null,
    ]);
  }

  /** What a relay does when the receiver answered 410; returns whether it did. */
  async gone(relay: TestClient): Promise<boolean> {
    const { id, version } = await this.row();
    const { gone } = await oneOf<{ gone: boolean }>(relay, "select webhooks.endpoint_gone($1, $2) as gone", [
      id,
      version,
    ]);
    return gone;
  }

  /** As this connection sees it. */
  row(): Promise<{ readonly id: string; readonly version: number; readonly enabled: boolean }> {
    return oneOf(
      this.#client,
      "select id, version, enabled from webhooks.endpoints where name = $1 and tenant_id is not distinct from $2",
      [this.#name, this.#owner.workspaceId ?? null],
    );
  }
}
