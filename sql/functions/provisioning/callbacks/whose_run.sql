-- Which run a callback comes from, in the words of callback_rules(). Before the claim it is compared with the run that our dispatch
-- started: a run of the same workflow that somebody else started signs with the same secret.
create or replace function provisioning.whose_run(p_attempt provisioning.attempts, p_run_id bigint, p_run_attempt integer) returns text
language sql stable set search_path = pg_catalog, pg_temp
as $$
  select case
           when p_attempt.run_id <> p_run_id then 'other'
           when p_attempt.run_attempt <> p_run_attempt then 'rerun'
           when p_attempt.run_id is not null then 'own'
           when p_attempt.status <> 'dispatched' or k.ids is null then 'none'
           when p_run_id = any (k.ids) then 'own'
           else 'other' end
    from (select coalesce(array_agg(d.run_id) filter (where d.answered), array_agg(d.run_id)) as ids
            from provisioning.dispatched_runs d
           where d.job_id = p_attempt.job_id and d.task = p_attempt.task and d.number = p_attempt.number) k;
$$;
comment on function provisioning.whose_run(provisioning.attempts, bigint, integer) is 'Which run a callback comes from.';
