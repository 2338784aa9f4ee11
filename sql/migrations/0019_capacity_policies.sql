-- Who has to approve what.

-- A rule applies when all of its conditions hold; a condition that is null holds always. A request without an estimate of its
-- cost counts as costing anything: it meets every minimum and no maximum.
create table capacity.policies (
  workspace_id text not null references directory.workspaces,
  id text not null check (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  kind text not null check (kind in ('escalation', 'auto_approval', 'review_route')),
  rank integer not null default 100,
  enabled boolean not null default true,
  description text check (length(description) <= 500),
  sizes text[] check (cardinality(sizes) between 1 and 100),
  regions text[] check (cardinality(regions) between 1 and 100),
  min_monthly_cost_usd numeric check (min_monthly_cost_usd >= 0),
  max_monthly_cost_usd numeric check (max_monthly_cost_usd >= 0),
  max_quantity integer check (max_quantity > 0),
  step text not null check (step in ('commercial', 'technical', 'both')),
  approver_role text check (approver_role in ('commercial', 'vp', 'admin')),
  approver_id text,
  group_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, approver_id) references directory.members,
  foreign key (workspace_id, group_id) references directory.groups,
  -- An escalation names the authority that counts; a route names who reviews; an automatic approval names nobody.
  check (case kind
           when 'escalation' then step = 'commercial' and num_nonnulls(approver_role, approver_id) = 1 and group_id is null
           when 'auto_approval' then num_nonnulls(approver_role, approver_id, group_id) = 0
           else case step when 'commercial' then approver_id is not null and approver_role is null and group_id is null
                          when 'technical' then group_id is not null and approver_id is null and approver_role is null
                          else false end
         end)
);
create index policies_approver on capacity.policies (workspace_id, approver_id) where approver_id is not null;
create index policies_group on capacity.policies (workspace_id, group_id) where group_id is not null;
comment on table capacity.policies
  is 'Approval rules, snapshotted into a request when it is submitted. Of several that apply, the lowest rank decides.';
