-- A rule returns its refusal, so that it can be asked before anybody acts; headroom.refuse() raises it.
create type headroom.refusal as (code text, reason text, facts text, hint text);
