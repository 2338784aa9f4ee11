/**
 * The state of the stand-in's Linear workspace: one team, its workflow states, issues, comments and attachments.
 *
 * Owns: the state and its bounds. Does not own: GraphQL (routes.ts) or what people do (user-actions.ts).
 */
import type { Person } from "../sample-data.ts";
import { z } from "zod";
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";

export interface WorkflowState {
  readonly id: string;
  readonly name: string;
  readonly type: "triage" | "backlog" | "unstarted" | "started" | "completed" | "canceled";
  readonly position: number;
  readonly color: string;
}

export interface LinearUser {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

export interface Issue {
  readonly id: string;
  readonly number: number;
  readonly identifier: string;
  readonly url: string;
  readonly creator: LinearUser;
  readonly createdAt: string;
  title: string;
  description: string | undefined;
  stateId: string;
  priority: number;
  updatedAt: string;
}

export interface Comment {
  readonly id: string;
  readonly issueId: string;
  readonly user: LinearUser;
  readonly createdAt: string;
  readonly parentId: string | undefined;
  body: string;
}

export interface Attachment {
  readonly id: string;
  readonly issueId: string;
  readonly url: string;
  readonly createdAt: string;
  title: string;
  subtitle: string | undefined;
  metadata: Readonly<Record<string, unknown>>;
}

const maxIssues = 5_000;
const maxComments = 50_000;

const savedSchema = z.object({
  issues: listOf<Issue>(),
  comments: listOf<Comment>(),
  attachments: listOf<Attachment>(),
});

export class LinearState implements Saveable {
  readonly #world: World;
  readonly states: readonly WorkflowState[];
  /** The holder of the API key. */
  readonly apiUser: LinearUser;
  readonly people: readonly (LinearUser & { readonly person: Person })[];
  readonly organization = { id: "0d2f7a7e-8c1b-4a57-9d0e-5b0d5a4f0001", name: "Headroom sandbox", urlKey: "sandbox" };
  issues = new Map<string, Issue>();
  comments = new Map<string, Comment>();
  attachments = new Map<string, Attachment>();

  constructor(world: World) {
    this.#world = world;
    this.states = [
      stateOf(1, "Backlog", "backlog", "#bec2c8"),
      stateOf(2, "Todo", "unstarted", "#8a8f98"),
      stateOf(3, "In Review", "started", "#d9a200"),
      stateOf(4, "Provisioning", "started", "#2f6feb"),
      stateOf(5, "Done", "completed", "#3a7d44"),
      stateOf(6, "Canceled", "canceled", "#95a2b3"),
    ];
    this.apiUser = { id: userId(0), name: "Headroom", email: "headroom@headroom.example" };
    this.people = world.sampleData.people.map((person, index) => ({
      id: userId(index + 1),
      name: person.name,
      email: person.email,
      person,
    }));
  }

  reset(): void {
    this.issues.clear();
    this.comments.clear();
    this.attachments.clear();
  }

  save(): z.input<typeof savedSchema> {
    return {
      issues: [...this.issues.values()],
      comments: [...this.comments.values()],
      attachments: [...this.attachments.values()],
    };
  }

  load(saved: unknown): void {
    const { issues, comments, attachments } = savedSchema.parse(saved);
    this.issues = new Map(issues.map((issue) => [issue.id, issue]));
    this.comments = new Map(comments.map((comment) => [comment.id, comment]));
    this.attachments = new Map(attachments.map((attachment) => [attachment.id, attachment]));
  }

  now(): string {
    return new Date(this.#world.now()).toISOString();
  }

  /** By id or by identifier, such as CAP-1. */
  findIssue(idOrIdentifier: string): Issue | undefined {
    const found = this.issues.get(idOrIdentifier);
    if (found !== undefined) return found;
    for (const issue of this.issues.values()) if (issue.identifier === idOrIdentifier) return issue;
    return undefined;
  }

  stateOf(issue: Issue): WorkflowState | undefined {
    return this.states.find(({ id }) => id === issue.stateId);
  }

  addIssue(given: {
    id: string | undefined;
    title: string;
    description: string | undefined;
    stateId: string | undefined;
    priority: number | undefined;
  }): Issue {
    const number = this.#world.ids.number("linear-issue");
    const identifier = `${this.#world.sampleData.linearTeam.key}-${number}`;
    const at = this.now();
    const issue: Issue = {
      id: given.id ?? this.#world.ids.uuid("issue"),
      number,
      identifier,
      url: `${this.#world.url()}/linear/issue/${identifier}`,
      creator: this.apiUser,
      createdAt: at,
      updatedAt: at,
      title: given.title,
      description: given.description,
      stateId: given.stateId ?? this.states[0]?.id ?? "",
      priority: given.priority ?? 0,
    };
    this.issues.set(issue.id, issue);
    dropOldest(this.issues, maxIssues);
    this.#world.changed();
    return issue;
  }

  addComment(given: {
    id: string | undefined;
    issueId: string;
    body: string;
    user: LinearUser;
    parentId: string | undefined;
  }): Comment {
    const comment: Comment = { ...given, id: given.id ?? this.#world.ids.uuid("comment"), createdAt: this.now() };
    this.comments.set(comment.id, comment);
    dropOldest(this.comments, maxComments);
    this.#world.changed();
    return comment;
  }

  commentsOf(issueId: string): Comment[] {
    return [...this.comments.values()].filter((comment) => comment.issueId === issueId);
  }

  /** One for each URL of an issue: a second one replaces the first. */
  putAttachment(given: Omit<Attachment, "id" | "createdAt"> & { id: string | undefined }): Attachment {
    for (const existing of this.attachments.values()) {
      if (existing.issueId !== given.issueId || existing.url !== given.url) continue;
      existing.title = given.title;
      existing.subtitle = given.subtitle;
      existing.metadata = given.metadata;
      return existing;
    }
    const attachment = { ...given, id: given.id ?? this.#world.ids.uuid("attachment"), createdAt: this.now() };
    this.attachments.set(attachment.id, attachment);
    dropOldest(this.attachments, maxComments);
    return attachment;
  }
}

function stateOf(position: number, name: string, type: WorkflowState["type"], color: string): WorkflowState {
  return { id: `5a7e0000-0000-4000-8000-00000000000${position}`, name, type, position, color };
}

function userId(index: number): string {
  return `05e70000-0000-4000-8000-${String(index).padStart(12, "0")}`;
}

function dropOldest(map: Map<string, unknown>, limit: number): void {
  const oldest = map.size > limit ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
