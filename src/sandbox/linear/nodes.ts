/**
 * How the stand-in's issues, comments and other entities look through GraphQL; their types are in sdl.ts.
 */
import type { Attachment, Comment, Issue, LinearState, LinearUser, WorkflowState } from "./state.ts";
import type { LinearTeam } from "../sample-data.ts";

/** A field is a value, an object, a list of them, or a function of its arguments that returns one of these; a missing field is null. */
export type Node = Readonly<Record<string, unknown>>;
export type Args = Readonly<Record<string, unknown>>;

/** Nested entities are functions that are called on demand, so that two entities may refer to each other. */
export class Nodes {
  readonly #state: LinearState;
  readonly #team: LinearTeam;
  readonly #url: () => string;

  constructor(state: LinearState, team: LinearTeam, url: () => string) {
    this.#state = state;
    this.#team = team;
    this.#url = url;
  }

  user(user: LinearUser): Node {
    return {
      ...user,
      displayName: user.name,
      active: true,
      admin: false,
      app: false,
      guest: false,
      owner: false,
      isMe: user.id === this.#state.apiUser.id,
      isAssignable: true,
      isMentionable: true,
      createdIssueCount: 0,
      initials: user.name.slice(0, 1),
      avatarBackgroundColor: "#5e6ad2",
      createdAt: epoch,
      updatedAt: epoch,
      url: `${this.#url()}/linear/profiles/${user.id}`,
    };
  }

  team(): Node {
    const { states } = this.#state;
    return {
      id: this.#team.id,
      key: this.#team.key,
      name: this.#team.name,
      displayName: this.#team.name,
      private: false,
      createdAt: epoch,
      updatedAt: epoch,
      timezone: "Etc/UTC",
      issueCount: this.#state.issues.size,
      states: (args: Args) =>
        this.connection(
          states.map((state) => this.workflowState(state)),
          args,
        ),
      issues: (args: Args) =>
        this.connection(
          [...this.#state.issues.values()].toReversed().map((issue) => this.issue(issue)),
          args,
        ),
      defaultIssueState: () => (states[0] === undefined ? null : this.workflowState(states[0])),
    };
  }

  workflowState(state: WorkflowState): Node {
    return { ...state, createdAt: epoch, updatedAt: epoch, team: () => this.team() };
  }

  issue(issue: Issue): Node {
    const state = this.#state.stateOf(issue);
    return {
      ...issue,
      priorityLabel: ["No priority", "Urgent", "High", "Medium", "Low"][issue.priority],
      branchName: issue.identifier.toLowerCase(),
      trashed: null,
      labelIds: [],
      previousIdentifiers: [],
      reactions: [],
      reactionData: {},
      customerTicketCount: 0,
      boardOrder: 0,
      sortOrder: 0,
      prioritySortOrder: 0,
      inheritsSharedAccess: false,
      sharedAccess: {
        isShared: false,
        viewerHasOnlySharedAccess: false,
        sharedWithCount: 0,
        sharedWithUsers: [],
        disallowedIssueFields: [],
      },
      completedAt: state?.type === "completed" ? issue.updatedAt : null,
      canceledAt: state?.type === "canceled" ? issue.updatedAt : null,
      creator: () => this.user(issue.creator),
      state: () => (state === undefined ? null : this.workflowState(state)),
      team: () => this.team(),
      comments: (args: Args) =>
        this.connection(
          this.#state.commentsOf(issue.id).map((each) => this.comment(each)),
          args,
        ),
      attachments: (args: Args) => {
        const own = [...this.#state.attachments.values()].filter(({ issueId }) => issueId === issue.id);
        return this.connection(
          own.map((each) => this.attachment(each)),
          args,
        );
      },
    };
  }

  comment(comment: Comment): Node {
    const issue = this.#state.issues.get(comment.issueId);
    return {
      ...comment,
      updatedAt: comment.createdAt,
      reactions: [],
      reactionData: {},
      url: `${issue?.url ?? ""}#comment-${comment.id.slice(0, 8)}`,
      user: () => this.user(comment.user),
      issue: () => (issue === undefined ? null : this.issue(issue)),
    };
  }

  attachment(attachment: Attachment): Node {
    const issue = this.#state.issues.get(attachment.issueId);
    return {
      ...attachment,
      updatedAt: attachment.createdAt,
      groupBySource: false,
      issue: () => (issue === undefined ? null : this.issue(issue)),
    };
  }

  /** Pages by `first` and `after`, as Relay's connections do; the cursor is the id. */
  connection(all: readonly Node[], { first, after }: Args): Node {
    const size = typeof first === "number" ? Math.max(0, Math.min(first, 250)) : 50;
    const start = typeof after === "string" ? all.findIndex((each) => each["id"] === after) + 1 : 0;
    const nodes = all.slice(start, start + size);
    return {
      nodes,
      pageInfo: {
        startCursor: nodes[0]?.["id"],
        endCursor: nodes.at(-1)?.["id"],
        hasNextPage: start + nodes.length < all.length,
        hasPreviousPage: start > 0,
      },
    };
  }
}

const epoch = "2026-01-01T00:00:00.000Z";
