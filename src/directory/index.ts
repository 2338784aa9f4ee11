/**
 * Who is who: workspaces, members and their groups, the accounts with which they sign in, and API keys.
 *
 * Thin wrappers over the schema `directory`, which decides everything. Does not own: who may decide a request (capacity).
 */
export {
  listGroups,
  listMembers,
  memberRoles,
  putGroup,
  putMember,
  removeGroup,
  removeMember,
  type Group,
  type GroupChanges,
  type ListedMember,
  type Member,
  type MemberChanges,
  type MemberRole,
  type Removed,
} from "./members.ts";
export { listWorkspaces, putWorkspace, type Workspace, type WorkspaceChanges } from "./workspaces.ts";
export {
  listIdentities,
  listIdentityDomains,
  putIdentity,
  putIdentityDomain,
  removeIdentity,
  removeIdentityDomain,
  type Account,
  type Identity,
  type IdentityDomain,
} from "./identities.ts";
export { listApiKeys, registerApiKey, revokeApiKey, type ApiKey, type KeyHolder } from "./api-keys.ts";
