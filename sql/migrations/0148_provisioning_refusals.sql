-- Their successors return a refusal instead of raising it.
drop function if exists provisioning.check_person(provisioning.jobs, capacity.actor, text);
drop function if exists provisioning.no_such_job(text);
