-- Sealed secrets are closed to everybody except their owner, even if a grant is made by mistake.
alter table headroom.boxes enable row level security;
alter table headroom.sealing_key enable row level security;
