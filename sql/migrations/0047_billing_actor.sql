-- That somebody is named is asked in other layers too.
drop function if exists billing.check_actor(text);
