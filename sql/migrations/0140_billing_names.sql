-- Functions that are now named by what they do. Only functions called them.
drop function if exists billing.put_aside(text, text, text, text);
drop function if exists billing.put_sighting_aside(billing.sightings, text);
drop function if exists billing.refuse_play_money(jsonb, text, timestamptz);
drop function if exists billing.unborn_subscription(jsonb, timestamptz);
