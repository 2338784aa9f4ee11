-- What was received is closed to everybody but those who operate and audit the installation.
alter table inbound.deliveries enable row level security;
drop policy if exists all_workspaces on inbound.deliveries;
create policy all_workspaces on inbound.deliveries for select to headroom_control, headroom_auditor using (true);
