/**
 * The queries and mutations that the stand-in's Linear answers, with Linear's refusals. Their types are in sdl.ts.
 */
import { GraphQLError } from "graphql";
import { z } from "zod";
import type { World } from "../core/world.ts";
import { Nodes, type Args, type Node } from "./nodes.ts";
import { echo } from "./outgoing.ts";
import type { Issue, LinearState } from "./state.ts";

const uuid = z.uuid({ version: "v4" });
const maxText = 100_000;
const issueFields = {
  title: z.string().min(1).max(256),
  description: z.string().max(maxText).nullish(),
  stateId: z.string().nullish(),
  priority: z.int().min(0).max(4).nullish(),
  assigneeId: z.string().nullish(),
  labelIds: z.array(z.string()).nullish(),
};
const issueCreateInput = z.object({ ...issueFields, id: uuid.nullish(), teamId: z.string() });
const issueUpdateInput = z.object(issueFields).partial();
const commentCreateInput = z.object({
  id: uuid.nullish(),
  issueId: z.string(),
  body: z.string().min(1).max(maxText),
  parentId: z.string().nullish(),
  doNotSubscribeToIssue: z.boolean().nullish(),
});
const attachmentCreateInput = z.object({
  id: uuid.nullish(),
  issueId: z.string(),
  url: z.string().min(1),
  title: z.string().min(1),
  subtitle: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  iconUrl: z.string().nullish(),
});
const stateFilter = z
  .looseObject({ team: z.looseObject({ id: z.looseObject({ eq: z.string() }) }).optional() })
  .nullish();

type Resolvers = Readonly<Record<string, (args: Args) => Node>>;

/** By the name of the field in Query or Mutation. */
export function linearResolvers(world: World, state: LinearState): Resolvers {
  const nodes = new Nodes(state, world.sampleData.linearTeam, world.url);
  return {
    ...queries(world, state, nodes),
    issueCreate: (args) => issueCreate(world, state, nodes, args),
    issueUpdate: (args) => issueUpdate(world, state, nodes, args),
    commentCreate: (args) => commentCreate(world, state, nodes, args),
    attachmentCreate: (args) => attachmentCreate(state, nodes, args),
  };
}

function queries(world: World, state: LinearState, nodes: Nodes): Resolvers {
  return {
    viewer: () => nodes.user(state.apiUser),
    organization: () => state.organization,
    issue: ({ id }) => nodes.issue(found(state.findIssue(String(id)), "Issue")),
    comment: ({ id }) => nodes.comment(found(state.comments.get(String(id)), "Comment")),
    attachment: ({ id }) => nodes.attachment(found(state.attachments.get(String(id)), "Attachment")),
    team: ({ id }) => {
      const { linearTeam } = world.sampleData;
      found(
        [linearTeam.id, linearTeam.key].find((each) => each === id),
        "Team",
      );
      return nodes.team();
    },
    teams: (args) => nodes.connection([nodes.team()], args),
    users: (args) =>
      nodes.connection(
        [state.apiUser, ...state.people].map((each) => nodes.user(each)),
        args,
      ),
    issues: (args) =>
      nodes.connection(
        [...state.issues.values()].toReversed().map((each) => nodes.issue(each)),
        args,
      ),
    workflowState: ({ id }) =>
      nodes.workflowState(
        found(
          state.states.find((each) => each.id === id),
          "WorkflowState",
        ),
      ),
    workflowStates: (args) => {
      const wanted = stateFilter.safeParse(args["filter"]).data?.team?.id.eq;
      const own = wanted === undefined || wanted === world.sampleData.linearTeam.id ? state.states : [];
      return nodes.connection(
        own.map((each) => nodes.workflowState(each)),
        args,
      );
    },
  };
}

function issueCreate(world: World, state: LinearState, nodes: Nodes, args: Args): Node {
  const input = inputOf(issueCreateInput, args);
  const { linearTeam } = world.sampleData;
  found(
    [linearTeam.id].find((id) => id === input.teamId),
    "Team",
  );
  mustBeNew(state.issues, input.id);
  const issue = state.addIssue({
    id: input.id ?? undefined,
    title: input.title,
    description: input.description ?? undefined,
    stateId: stateOf(state, input.stateId),
    priority: input.priority ?? undefined,
  });
  echo(world, state, { action: "create", issue });
  return { success: true, lastSyncId: 1, issue: nodes.issue(issue) };
}

function issueUpdate(world: World, state: LinearState, nodes: Nodes, args: Args): Node {
  const issue: Issue = found(state.findIssue(String(args["id"])), "Issue");
  const input = inputOf(issueUpdateInput, args);
  const stateId = stateOf(state, input.stateId);
  const before = { stateId: issue.stateId, updatedAt: issue.updatedAt };
  if (input.title !== undefined) issue.title = input.title;
  if (input.description !== undefined) issue.description = input.description ?? undefined;
  if (stateId !== undefined) issue.stateId = stateId;
  if (typeof input.priority === "number") issue.priority = input.priority;
  issue.updatedAt = state.now();
  echo(world, state, { action: "update", issue, updatedFrom: before });
  return { success: true, lastSyncId: 1, issue: nodes.issue(issue) };
}

function commentCreate(world: World, state: LinearState, nodes: Nodes, args: Args): Node {
  const input = inputOf(commentCreateInput, args);
  const issue = found(state.findIssue(input.issueId), "Issue");
  mustBeNew(state.comments, input.id);
  const comment = state.addComment({
    id: input.id ?? undefined,
    issueId: issue.id,
    body: input.body,
    user: state.apiUser,
    parentId: input.parentId ?? undefined,
  });
  echo(world, state, { action: "create", issue, comment });
  return { success: true, lastSyncId: 1, comment: nodes.comment(comment) };
}

function attachmentCreate(state: LinearState, nodes: Nodes, args: Args): Node {
  const input = inputOf(attachmentCreateInput, args);
  const issue = found(state.findIssue(input.issueId), "Issue");
  const attachment = state.putAttachment({
    id: input.id ?? undefined,
    issueId: issue.id,
    url: input.url,
    title: input.title,
    subtitle: input.subtitle ?? undefined,
    metadata: input.metadata ?? {},
  });
  return { success: true, lastSyncId: 1, attachment: nodes.attachment(attachment) };
}

/** Checks that GraphQL's types do not express: lengths, ranges and the form of ids. */
function inputOf<Shape extends z.ZodType>(schema: Shape, args: Args): z.output<Shape> {
  const parsed = schema.safeParse(args["input"]);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue?.path.map(String).join(".") ?? "";
  throw inputError("Argument Validation Error", `${where}: ${issue?.message ?? "is not valid"}`);
}

function stateOf(state: LinearState, id: string | null | undefined): string | undefined {
  if (id === null || id === undefined) return undefined;
  return found(
    state.states.find((each) => each.id === id),
    "WorkflowState",
  ).id;
}

function mustBeNew(existing: ReadonlyMap<string, unknown>, id: string | null | undefined): void {
  if (typeof id === "string" && existing.has(id)) {
    throw inputError("Duplicate entity", `An entity with the id ${id} exists already.`);
  }
}

function found<Entity>(entity: Entity | undefined, type: string): Entity {
  if (entity === undefined) throw inputError(`Entity not found: ${type}`, `Could not find referenced ${type}.`);
  return entity;
}

export function inputError(message: string, userPresentableMessage: string): GraphQLError {
  return new GraphQLError(message, {
    extensions: {
      type: "invalid input",
      code: "INPUT_ERROR",
      statusCode: 400,
      userError: true,
      userPresentableMessage,
    },
  });
}
