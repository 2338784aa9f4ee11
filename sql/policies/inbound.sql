-- What was received is closed to everybody except operators and auditors of the installation.
alter table inbound.receipts enable row level security;
drop policy if exists all_workspaces on inbound.receipts;
create policy all_workspaces on inbound.receipts for select to headroom_control, headroom_auditor using (true);
