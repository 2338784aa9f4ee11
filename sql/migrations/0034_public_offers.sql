-- A price may depend on how long the capacity is wanted, so a preview takes that too.
drop function if exists public.preview_capacity_request(text, text, text, text, integer, text, numeric, text, text, jsonb, text);
