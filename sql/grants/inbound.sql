-- Who may do what in the schema `inbound`, all of it: first everything is taken away, then exactly this is given. Nobody but the owner
-- writes a table: the definer functions are the only way in. Functions that are not named here are internal and run only inside those.
select headroom.close_schema('inbound');

-- What was received is read by control and auditors.
grant usage on schema inbound to headroom_control, headroom_auditor;
grant select on all tables in schema inbound to headroom_control, headroom_auditor;
