-- Makes the job of a request that was just confirmed, and begins it if its turn has come. Whoever follows the request hears why it has not.
create or replace function provisioning.create_job(p_request_id text) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_held text;
begin
  insert into provisioning.jobs (id, request_id, workspace_id, customer_key, region, most_attempts)
  select gen_random_uuid(), r.id, r.workspace_id, capacity.customer_key_of(r.id), r.region, coalesce(s.most_attempts, 3)
    from capacity.requests r left join provisioning.settings s on s.workspace_id = r.workspace_id
   where r.id = p_request_id
  returning * into v_job;
  perform provisioning.lock_turn(v_job.workspace_id, v_job.customer_key);
  v_job := provisioning.record(v_job, 'CREATED', provisioning.system_actor(v_job.id, 'system'));
  perform provisioning.start_next(v_job);
  v_held := provisioning.held_words(v_job.id);
  if v_held is not null then
    perform provisioning.tell(v_job, v_held, p_asks => provisioning.held_by(v_job.id) = 'not_connected');
  end if;
end
$$;
comment on function provisioning.create_job(text) is 'Makes the job of a confirmed request and begins it when it may.';
