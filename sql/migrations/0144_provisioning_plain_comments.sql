-- Comments of the product's tables in plain words.
comment on column directory.members.signed_out_at is 'Sessions in a browser that began earlier are no longer valid.';
comment on column directory.members.tokens_from
  is 'When the member was last removed or brought back: earlier tokens and sessions are no longer valid.';
comment on column directory.workspaces.acts_per_hour
  is 'How many actions that notify others a member may take in an hour, with their own sign-in; null: any number.';
comment on table notify.people is 'When people want to be notified, by their own clock. People without a row are notified immediately.';
comment on table capacity.acts is 'What members did within the last hour that notified others. See capacity.levels_behind().';
comment on table capacity.circuits_told is 'Open circuits that were reported to operators, who are also notified when they close.';
comment on table capacity.problems_told is 'When a kind of problem was last reported to the operators of a workspace.';
comment on table provisioning.jobs is 'One job for each confirmed request. Kept forever.';
