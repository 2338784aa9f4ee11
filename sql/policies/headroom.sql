-- Sealed secrets are closed to everybody but their owner, whatever is granted by mistake.
alter table headroom.boxes enable row level security;
alter table headroom.sealing_key enable row level security;
