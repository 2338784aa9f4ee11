/** What Globex's people try with the functions of the self-service wizard: part of the table in hostile-table.ts. */
import type { FunctionRow } from "./hostile-table.ts";

const draft = { p_workspace_id: "globex", p_token: "none" };
const draftTries = { p_workspace_id: ["{workspace}"], p_token: ["{token}", "{event}"] };

export const wizardFunctions: Readonly<Record<string, FunctionRow>> = {
  begin_draft: { call: { p_workspace_id: "globex" }, tries: { p_workspace_id: ["{workspace}"] } },
  describe_draft: { call: draft, tries: draftTries },
  save_draft: {
    call: { ...draft, p_step: "1", p_revision: "0", p_values: "{}" },
    tries: { ...draftTries, p_step: [], p_revision: [], p_values: ['{"email": "{email}"}'] },
  },
  send_draft_link: { call: draft, tries: draftTries },
  submit_draft: {
    call: { ...draft, p_revision: "0", p_seen: "" },
    tries: { ...draftTries, p_revision: [], p_seen: [] },
  },
};
