/**
 * What people do in Linear: comment on an issue, move it to another state. The page and the tests use this.
 */
import { HeadroomError } from "../../db/errors.ts";
import type { SendResult } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import { webhookOf } from "./outgoing.ts";
import type { Comment, Issue, LinearState, LinearUser, WorkflowState } from "./state.ts";

export class LinearUserActions {
  readonly #world: World;
  readonly #state: LinearState;

  constructor(world: World, state: LinearState) {
    this.#world = world;
    this.#state = state;
  }

  /** Oldest first. */
  issues(): readonly Issue[] {
    return [...this.#state.issues.values()];
  }

  states(): readonly WorkflowState[] {
    return this.#state.states;
  }

  stateOf(issue: Issue): WorkflowState | undefined {
    return this.#state.stateOf(issue);
  }

  comments(issue: string): readonly Comment[] {
    return this.#state.commentsOf(this.#issue(issue).id);
  }

  /** `issue` is an id or an identifier, `person` the member id of one of the sample people. */
  async comment(given: {
    readonly person: string;
    readonly issue: string;
    readonly body: string;
  }): Promise<SendResult> {
    const issue = this.#issue(given.issue);
    const user = this.#person(given.person);
    const comment = this.#state.addComment({
      id: undefined,
      issueId: issue.id,
      body: given.body,
      user,
      parentId: undefined,
    });
    return this.#world.webhooks.send(webhookOf(this.#world, this.#state, { action: "create", issue, comment }, user));
  }

  /** `state` is an id or a name. */
  async move(given: { readonly person: string; readonly issue: string; readonly state: string }): Promise<SendResult> {
    const issue = this.#issue(given.issue);
    const user = this.#person(given.person);
    const state = this.#state.states.find(({ id, name }) => id === given.state || name === given.state);
    if (state === undefined) throw missing(`There is no state ${given.state}.`);
    const updatedFrom = { stateId: issue.stateId, updatedAt: issue.updatedAt };
    issue.stateId = state.id;
    issue.updatedAt = this.#state.now();
    this.#world.changed();
    const change = { action: "update", issue, updatedFrom } as const;
    return this.#world.webhooks.send(webhookOf(this.#world, this.#state, change, user));
  }

  #issue(idOrIdentifier: string): Issue {
    const issue = this.#state.findIssue(idOrIdentifier);
    if (issue === undefined) throw missing(`There is no issue ${idOrIdentifier}.`);
    return issue;
  }

  #person(memberId: string): LinearUser {
    const found = this.#state.people.find(({ person }) => person.memberId === memberId);
    if (found === undefined) throw missing(`Nobody here is ${memberId}.`);
    return { id: found.id, name: found.name, email: found.email };
  }
}

function missing(message: string): HeadroomError {
  return new HeadroomError("not_found", message, { hint: "Reload to see what is there.", httpStatus: 404 });
}
