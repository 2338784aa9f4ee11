-- run as: migrator
-- The exposed API (functions, security-invoker views, and the enum types in their signatures) lives in public and belongs to
-- headroom_owner too. It is the topmost layer; its rights come before the layers whose tables use those types.
grant usage, create on schema public to headroom_owner;
grant usage on schema public to anon, authenticated, service_role;
