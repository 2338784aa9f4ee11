/**
 * The part of Linear's schema that the stand-in implements: what Headroom's rail and Linear's own SDK request.
 *
 * Owns: which fields and arguments there are. Names and types are Linear's. A field is nullable here even where Linear promises a value,
 * because a field that the stand-in does not keep is null. Enumerations are strings and filters are scalars: the stand-in reads only one
 * filter, that of workflow states by their team.
 */

const entryPoints = `
scalar DateTime
scalar JSONObject
scalar TimelessDate
scalar AttachmentFilter
scalar CommentFilter
scalar IssueFilter
scalar IssueSortInput
scalar TeamFilter
scalar UserFilter
scalar UserSortInput
scalar WorkflowStateFilter

enum PaginationOrderBy { createdAt, updatedAt }

interface Node { id: ID! }

type Query {
  viewer: User!
  organization: Organization!
  issue(id: String!): Issue!
  comment(id: String, hash: String): Comment!
  attachment(id: String!): Attachment!
  team(id: String!): Team!
  workflowState(id: String!): WorkflowState!
  teams(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: TeamFilter): TeamConnection!
  users(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: UserFilter, includeDisabled: Boolean, sort: [UserSortInput!]): UserConnection!
  issues(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: IssueFilter, sort: [IssueSortInput!]): IssueConnection!
  workflowStates(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: WorkflowStateFilter): WorkflowStateConnection!
}

type Mutation {
  issueCreate(input: IssueCreateInput!): IssuePayload!
  issueUpdate(id: String!, input: IssueUpdateInput!): IssuePayload!
  commentCreate(input: CommentCreateInput!): CommentPayload!
  attachmentCreate(input: AttachmentCreateInput!): AttachmentPayload!
}

input IssueCreateInput {
  id: String, teamId: String!, title: String, description: String, stateId: String, priority: Int, assigneeId: String, labelIds: [String!]
}

input IssueUpdateInput { title: String, description: String, stateId: String, priority: Int, assigneeId: String, labelIds: [String!] }

input CommentCreateInput { id: String, issueId: String, body: String, parentId: String, doNotSubscribeToIssue: Boolean }

input AttachmentCreateInput {
  id: String, issueId: String!, url: String!, title: String!, subtitle: String, metadata: JSONObject, iconUrl: String
}
`;

const entities = `
type Issue implements Node {
  addedToCycleAt: DateTime, addedToProjectAt: DateTime, addedToTeamAt: DateTime, archivedAt: DateTime
  asksExternalUserRequester: ExternalUser, asksRequester: User, assignee: User
  attachments(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: AttachmentFilter): AttachmentConnection
  autoArchivedAt: DateTime, autoClosedAt: DateTime, boardOrder: Float, botActor: ActorBot, branchName: String, canceledAt: DateTime
  children(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: IssueFilter): IssueConnection
  comments(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: CommentFilter): CommentConnection
  completedAt: DateTime, createdAt: DateTime, creator: User, customerTicketCount: Int, cycle: Cycle, delegate: User, description: String
  dueDate: TimelessDate, estimate: Float, externalUserCreator: ExternalUser, favorite: Favorite
  history(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy): IssueHistoryConnection
  id: ID!, identifier: String, inheritsSharedAccess: Boolean, integrationSourceType: String, labelIds: [String]
  labels(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy): IssueLabelConnection
  lastAppliedTemplate: Template, number: Float, parent: Issue, previousIdentifiers: [String], priority: Float, priorityLabel: String
  prioritySortOrder: Float, project: Project, projectMilestone: ProjectMilestone, reactionData: JSONObject, reactions: [Reaction]
  recurringIssueTemplate: Template
  relations(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy): IssueRelationConnection
  sharedAccess: IssueSharedAccess, slaBreachesAt: DateTime, slaHighRiskAt: DateTime, slaMediumRiskAt: DateTime, slaStartedAt: DateTime
  slaType: String, snoozedBy: User, snoozedUntilAt: DateTime, sortOrder: Float, sourceComment: Comment, startedAt: DateTime
  startedTriageAt: DateTime, state: WorkflowState, subIssueSortOrder: Float
  subscribers(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: UserFilter): UserConnection
  syncedWith: [ExternalEntityInfo], team: Team, title: String, trashed: Boolean, triagedAt: DateTime, updatedAt: DateTime, url: String
}

type Comment implements Node {
  agentSession: AgentSession, archivedAt: DateTime, body: String, bodyData: String, botActor: ActorBot
  children(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: CommentFilter): CommentConnection
  createdAt: DateTime, documentContent: DocumentContent, documentContentId: String, editedAt: DateTime
  externalThread: SyncedExternalThread, externalUser: ExternalUser, id: ID!, initiative: Initiative, initiativeId: String
  initiativeUpdate: InitiativeUpdate, initiativeUpdateId: String, issue: Issue, issueId: String, parent: Comment, parentId: String
  project: Project, projectId: String, projectUpdate: ProjectUpdate, projectUpdateId: String, quotedText: String, reactionData: JSONObject
  reactions: [Reaction], resolvedAt: DateTime, resolvingComment: Comment, resolvingCommentId: String, resolvingUser: User
  syncedWith: [ExternalEntityInfo], updatedAt: DateTime, url: String, user: User
}

type Attachment implements Node {
  archivedAt: DateTime, bodyData: String, createdAt: DateTime, creator: User, externalUserCreator: ExternalUser, groupBySource: Boolean
  id: ID!, issue: Issue, metadata: JSONObject, originalIssue: Issue, source: JSONObject, sourceType: String, subtitle: String
  title: String, updatedAt: DateTime, url: String
}

type WorkflowState implements Node {
  archivedAt: DateTime, color: String, createdAt: DateTime, description: String, id: ID!, inheritedFrom: WorkflowState
  issues(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: IssueFilter): IssueConnection
  name: String, position: Float, team: Team, type: String, updatedAt: DateTime
}

type User implements Node {
  active: Boolean, admin: Boolean, app: Boolean, archivedAt: DateTime, avatarBackgroundColor: String, avatarUrl: String
  calendarHash: String, canAccessAnyPublicTeam: Boolean, createdAt: DateTime, createdIssueCount: Int, description: String
  disableReason: String, displayName: String, email: String, gitHubUserId: String, guest: Boolean, id: ID!, initials: String
  inviteHash: String, isAssignable: Boolean, isMe: Boolean, isMentionable: Boolean, lastSeen: DateTime, name: String
  organization: Organization, owner: Boolean, statusEmoji: String, statusLabel: String, statusUntilAt: DateTime
  supportsAgentSessions: Boolean
  teams(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: TeamFilter): TeamConnection
  timezone: String, title: String, updatedAt: DateTime, url: String
}

type Team implements Node {
  activeCycle: Cycle, aiDiscussionSummariesEnabled: Boolean, aiThreadSummariesEnabled: Boolean, allMembersCanJoin: Boolean
  archivedAt: DateTime, autoArchivePeriod: Float, autoCloseChildIssues: Boolean, autoCloseParentIssues: Boolean, autoClosePeriod: Float
  autoCloseStateId: String, color: String, createdAt: DateTime, cycleCalenderUrl: String, cycleCooldownTime: Float, cycleDuration: Float
  cycleIssueAutoAssignCompleted: Boolean, cycleIssueAutoAssignStarted: Boolean, cycleLockToActive: Boolean, cycleStartDay: Float
  cyclesEnabled: Boolean, defaultIssueEstimate: Float, defaultIssueState: WorkflowState, defaultProjectTemplate: Template
  defaultTemplateForMembers: Template, defaultTemplateForMembersId: String, defaultTemplateForNonMembers: Template
  defaultTemplateForNonMembersId: String, description: String, displayName: String, draftWorkflowState: WorkflowState
  groupIssueHistory: Boolean, icon: String, id: ID!, inheritIssueEstimation: Boolean, inheritWorkflowStatuses: Boolean
  initiativesEnabled: Boolean, integrationsSettings: IntegrationsSettings, inviteHash: String, issueCount: Int
  issueEstimationAllowZero: Boolean, issueEstimationExtended: Boolean, issueEstimationType: String, issueOrderingNoPriorityFirst: Boolean
  issueSortOrderDefaultToBottom: Boolean
  issues(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: IssueFilter, includeSubTeams: Boolean): IssueConnection
  key: String, ledInitiativeCount: Int, markedAsDuplicateWorkflowState: WorkflowState, mergeWorkflowState: WorkflowState
  mergeableWorkflowState: WorkflowState, name: String, parent: Team, private: Boolean, requirePriorityToLeaveTriage: Boolean
  retiredAt: DateTime, reviewWorkflowState: WorkflowState, scimGroupName: String, scimManaged: Boolean, securitySettings: JSONObject
  setIssueSortOrderOnStateChange: String, slackIssueComments: Boolean, slackIssueStatuses: Boolean, slackNewIssue: Boolean
  startWorkflowState: WorkflowState
  states(after: String, before: String, first: Int, last: Int, includeArchived: Boolean, orderBy: PaginationOrderBy, filter: WorkflowStateFilter): WorkflowStateConnection
  timezone: String, triageEnabled: Boolean, triageIssueState: WorkflowState, triageResponsibility: TriageResponsibility
  upcomingCycleCount: Float, updatedAt: DateTime, viewerCanJoin: Boolean, viewerCanLeave: Boolean, viewerMembership: TeamMembership
  visibility: String
}

type Organization implements Node {
  aiDiscussionSummariesEnabled: Boolean, aiThreadSummariesEnabled: Boolean, allowMembersToInvite: Boolean, allowedAuthServices: [String]
  allowedFileUploadContentTypes: [String], archivedAt: DateTime, authSettings: JSONObject, createdAt: DateTime, createdIssueCount: Int
  customerCount: Int, customersConfiguration: JSONObject, customersEnabled: Boolean, defaultFeedSummarySchedule: String
  defaultHomeView: String, defaultHomeViewTargetId: String, deletionRequestedAt: DateTime, feedEnabled: Boolean
  fiscalYearStartMonth: Float, gitBranchFormat: String, gitLinkbackDescriptionsEnabled: Boolean, gitLinkbackMessagesEnabled: Boolean
  gitPublicLinkbackMessagesEnabled: Boolean, hideNonPrimaryOrganizations: Boolean, hipaaComplianceEnabled: Boolean, id: ID!
  initiativeUpdateReminderFrequencyInWeeks: Float, initiativeUpdateRemindersDay: String, initiativeUpdateRemindersHour: Float
  logoUrl: String, name: String, periodUploadVolume: Float, previousUrlKeys: [String], projectStatuses: [ProjectStatus]
  projectUpdateReminderFrequencyInWeeks: Float, projectUpdateRemindersDay: String, projectUpdateRemindersHour: Float
  projectUpdatesReminderFrequency: String, pullRequestIssueMode: String, pullRequestTourEnabled: Boolean, releaseChannel: String
  releasesEnabled: Boolean, restrictLabelManagementToAdmins: Boolean, restrictTeamCreationToAdmins: Boolean, roadmapEnabled: Boolean
  samlEnabled: Boolean, scimEnabled: Boolean, securitySettings: JSONObject, slaDayCount: String
  slackProjectChannelIntegration: Integration, slackProjectChannelPrefix: String, subscription: PaidSubscription
  suggestedBranchNameEnabled: Boolean, trialEndsAt: DateTime, trialStartsAt: DateTime, updatedAt: DateTime, urlKey: String, userCount: Int
}
`;

const connections = `
type TeamConnection { nodes: [Team!]!, pageInfo: PageInfo! }
type UserConnection { nodes: [User!]!, pageInfo: PageInfo! }
type IssueConnection { nodes: [Issue!]!, pageInfo: PageInfo! }
type WorkflowStateConnection { nodes: [WorkflowState!]!, pageInfo: PageInfo! }
type CommentConnection { nodes: [Comment!]!, pageInfo: PageInfo! }
type AttachmentConnection { nodes: [Attachment!]!, pageInfo: PageInfo! }
type IssueLabelConnection { nodes: [IssueLabel!]!, pageInfo: PageInfo! }
type IssueHistoryConnection { nodes: [IssueHistory!]!, pageInfo: PageInfo! }
type IssueRelationConnection { nodes: [IssueRelation!]!, pageInfo: PageInfo! }
`;

/** Types that the entities refer to. The SDK requests most of these in every query; the stand-in has none of them. */
const details = `
type ProjectStatus implements Node {
  archivedAt: DateTime, color: String, createdAt: DateTime, description: String, id: ID!, indefinite: Boolean, name: String
  position: Float, type: String, updatedAt: DateTime
}

type PaidSubscription implements Node {
  archivedAt: DateTime, cancelAt: DateTime, canceledAt: DateTime, collectionMethod: String, createdAt: DateTime, creator: User, id: ID!
  nextBillingAt: DateTime, pendingChangeType: String, seats: Float, seatsMaximum: Float, seatsMinimum: Float, type: String
  updatedAt: DateTime
}

type Reaction implements Node {
  archivedAt: DateTime, comment: Comment, createdAt: DateTime, emoji: String, externalUser: ExternalUser, id: ID!
  initiativeUpdate: InitiativeUpdate, issue: Issue, projectUpdate: ProjectUpdate, updatedAt: DateTime, user: User
}

type IssueSharedAccess {
  disallowedIssueFields: [String], isShared: Boolean, sharedWithCount: Int, sharedWithUsers: [User], viewerHasOnlySharedAccess: Boolean
}

type ActorBot {
  avatarUrl: String, id: ID, name: String, subType: String, type: String, userDisplayName: String
}

type ExternalEntityInfo {
  id: String, metadata: ExternalEntityInfoMetadata, service: String
}

type ExternalEntityInfoGithubMetadata {
  number: Float, owner: String, repo: String
}

type ExternalEntityInfoJiraMetadata {
  issueKey: String, issueTypeId: String, projectId: String
}

type ExternalEntitySlackMetadata {
  channelId: String, channelName: String, isFromSlack: Boolean, messageUrl: String
}

type DocumentContent implements Node {
  aiPromptRules: AiPromptRules, archivedAt: DateTime, content: String, contentState: String, createdAt: DateTime, document: Document
  id: ID!, initiative: Initiative, issue: Issue, project: Project, projectMilestone: ProjectMilestone, restoredAt: DateTime
  updatedAt: DateTime, welcomeMessage: WelcomeMessage
}

type AiPromptRules implements Node {
  archivedAt: DateTime, createdAt: DateTime, id: ID!, updatedAt: DateTime, updatedBy: User
}

type WelcomeMessage implements Node {
  archivedAt: DateTime, createdAt: DateTime, enabled: Boolean, id: ID!, title: String, updatedAt: DateTime, updatedBy: User
}

type SyncedExternalThread {
  displayName: String, id: ID!, isConnected: Boolean, isPersonalIntegrationConnected: Boolean, isPersonalIntegrationRequired: Boolean
  name: String, subType: String, type: String, url: String
}

type PageInfo {
  endCursor: String, hasNextPage: Boolean!, hasPreviousPage: Boolean!, startCursor: String
}

type IssuePayload {
  issue: Issue, lastSyncId: Float!, success: Boolean!
}

type CommentPayload {
  comment: Comment, lastSyncId: Float!, success: Boolean!
}

type AttachmentPayload {
  attachment: Attachment, lastSyncId: Float!, success: Boolean!
}

type IssueLabel implements Node {
  color: String, id: ID!, name: String
}

type IssueHistory implements Node {
  createdAt: DateTime, id: ID!
}

type IssueRelation implements Node {
  id: ID!, type: String
}

union ExternalEntityInfoMetadata = ExternalEntityInfoGithubMetadata | ExternalEntityInfoJiraMetadata | ExternalEntitySlackMetadata

type Integration implements Node { id: ID! }
type ExternalUser implements Node { id: ID! }
type InitiativeUpdate implements Node { id: ID! }
type ProjectUpdate implements Node { id: ID! }
type Cycle implements Node { id: ID! }
type Template implements Node { id: ID! }
type ProjectMilestone implements Node { id: ID! }
type Project implements Node { id: ID! }
type Favorite implements Node { id: ID! }
type AgentSession implements Node { id: ID! }
type Document implements Node { id: ID! }
type Initiative implements Node { id: ID! }
type IntegrationsSettings implements Node { id: ID! }
type TriageResponsibility implements Node { id: ID! }
type TeamMembership implements Node { id: ID! }
`;

export const linearSdl = [entryPoints, entities, connections, details].join("\n");
