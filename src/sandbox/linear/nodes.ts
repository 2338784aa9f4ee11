/**
 * How the stand-in's things look through GraphQL, and which fields Linear's types have.
 *
 * A field that Linear has and the stand-in does not keep is null; a field that Linear does not have is refused.
 */
import type { Args, Node } from "./graphql-run.ts";
import type { Attachment, Comment, Issue, LinearState, LinearUser, WorkflowState } from "./state.ts";
import type { LinearTeam } from "../sample-data.ts";

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const types: Readonly<Record<string, ReadonlySet<string>>> = {
  Issue:
    words(`addedToCycleAt addedToProjectAt addedToTeamAt archivedAt asksExternalUserRequester asksRequester assignee
    attachments autoArchivedAt autoClosedAt boardOrder botActor branchName canceledAt children comments completedAt createdAt
    creator customerTicketCount cycle delegate description dueDate estimate externalUserCreator favorite history id identifier
    inheritsSharedAccess integrationSourceType labelIds labels lastAppliedTemplate number parent previousIdentifiers priority
    priorityLabel prioritySortOrder project projectMilestone reactionData reactions recurringIssueTemplate relations sharedAccess
    slaBreachesAt slaHighRiskAt slaMediumRiskAt slaStartedAt slaType snoozedBy snoozedUntilAt sortOrder sourceComment startedAt
    startedTriageAt state subIssueSortOrder subscribers syncedWith team title trashed triagedAt updatedAt url`),
  Comment:
    words(`agentSession archivedAt body bodyData botActor children createdAt documentContent documentContentId editedAt
    externalThread externalUser id initiative initiativeId initiativeUpdate initiativeUpdateId issue issueId parent parentId
    project projectId projectUpdate projectUpdateId quotedText reactionData reactions resolvedAt resolvingComment
    resolvingCommentId resolvingUser syncedWith updatedAt url user`),
  WorkflowState: words(
    `archivedAt color createdAt description id inheritedFrom issues name position team type updatedAt`,
  ),
  User: words(`active admin app archivedAt avatarBackgroundColor avatarUrl calendarHash canAccessAnyPublicTeam createdAt
    createdIssueCount description disableReason displayName email gitHubUserId guest id initials inviteHash isAssignable isMe
    isMentionable lastSeen name organization owner statusEmoji statusLabel statusUntilAt supportsAgentSessions teams timezone
    title updatedAt url`),
  Attachment:
    words(`archivedAt bodyData createdAt creator externalUserCreator groupBySource id issue metadata originalIssue
    source sourceType subtitle title updatedAt url`),
  IssuePayload: words("issue lastSyncId success"),
  CommentPayload: words("comment lastSyncId success"),
  AttachmentPayload: words("attachment lastSyncId success"),
  PageInfo: words("endCursor hasNextPage hasPreviousPage startCursor"),
};

/** Nodes are made when they are asked for, so that two things may refer to each other. */
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
    return node("User", {
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
    });
  }

  team(): Node {
    const { states } = this.#state;
    return node("Team", {
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
          "WorkflowState",
          states.map((state) => this.workflowState(state)),
          args,
        ),
      issues: (args: Args) =>
        this.connection(
          "Issue",
          [...this.#state.issues.values()].toReversed().map((issue) => this.issue(issue)),
          args,
        ),
      defaultIssueState: () => (states[0] === undefined ? null : this.workflowState(states[0])),
    });
  }

  workflowState(state: WorkflowState): Node {
    return node("WorkflowState", { ...state, createdAt: epoch, updatedAt: epoch, team: () => this.team() });
  }

  issue(issue: Issue): Node {
    const state = this.#state.stateOf(issue);
    return node("Issue", {
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
      sharedAccess: node("IssueSharedAccess", {
        isShared: false,
        viewerHasOnlySharedAccess: false,
        sharedWithCount: 0,
        sharedWithUsers: [],
        disallowedIssueFields: [],
      }),
      completedAt: state?.type === "completed" ? issue.updatedAt : null,
      canceledAt: state?.type === "canceled" ? issue.updatedAt : null,
      creator: () => this.user(issue.creator),
      state: () => (state === undefined ? null : this.workflowState(state)),
      team: () => this.team(),
      comments: (args: Args) =>
        this.connection(
          "Comment",
          this.#state.commentsOf(issue.id).map((each) => this.comment(each)),
          args,
        ),
      attachments: (args: Args) => {
        const own = [...this.#state.attachments.values()].filter(({ issueId }) => issueId === issue.id);
        return this.connection(
          "Attachment",
          own.map((each) => this.attachment(each)),
          args,
        );
      },
    });
  }

  comment(comment: Comment): Node {
    const issue = this.#state.issues.get(comment.issueId);
    return node("Comment", {
      ...comment,
      updatedAt: comment.createdAt,
      reactions: [],
      reactionData: {},
      url: `${issue?.url ?? ""}#comment-${comment.id.slice(0, 8)}`,
      user: () => this.user(comment.user),
      issue: () => (issue === undefined ? null : this.issue(issue)),
    });
  }

  attachment(attachment: Attachment): Node {
    const issue = this.#state.issues.get(attachment.issueId);
    return node("Attachment", {
      ...attachment,
      updatedAt: attachment.createdAt,
      groupBySource: false,
      issue: () => (issue === undefined ? null : this.issue(issue)),
    });
  }

  /** Pages by `first` and `after`, as Relay's connections do; the cursor is the id. */
  connection(type: string, all: readonly Node[], args: Args): Node {
    const first = typeof args["first"] === "number" ? Math.min(args["first"], 250) : 50;
    const start =
      typeof args["after"] === "string" ? all.findIndex((each) => each.fields["id"] === args["after"]) + 1 : 0;
    const nodes = all.slice(start, start + first);
    return node(`${type}Connection`, {
      nodes,
      pageInfo: node("PageInfo", {
        startCursor: nodes[0]?.fields["id"],
        endCursor: nodes.at(-1)?.fields["id"],
        hasNextPage: start + nodes.length < all.length,
        hasPreviousPage: start > 0,
      }),
    });
  }
}

const epoch = "2026-01-01T00:00:00.000Z";

export function node(type: string, fields: Node["fields"]): Node {
  return { type, fields };
}
