-- Makes the job of a request that was just confirmed, and begins it if its turn has come. If not, those who follow the request are told
-- why.
--
-- Requests older than the table of customers get their customer here. p_adopted: the request was confirmed before there were jobs.
create or replace function provisioning.create_job(p_request_id text, p_adopted boolean default false) returns void
language plpgsql volatile set search_path = pg_catalog, pg_temp
as $$
declare
  v_job provisioning.jobs;
  v_held text;
  v_asks text;
begin
  if capacity.customer_key_of(p_request_id) is null then
    perform capacity.record_customer(d.request_id, r.workspace_id, null, d.customer_ref)
       from capacity.personal_data d join capacity.requests r on r.id = d.request_id where d.request_id = p_request_id;
  end if;
  insert into provisioning.jobs (id, request_id, workspace_id, customer_key, region, most_attempts, adopted)
  select gen_random_uuid(), r.id, r.workspace_id, capacity.customer_key_of(r.id), r.region, coalesce(s.most_attempts, 3), p_adopted
    from capacity.requests r left join provisioning.settings s on s.workspace_id = r.workspace_id
   where r.id = p_request_id
  returning * into v_job;
  perform provisioning.lock_turn(v_job.workspace_id, v_job.customer_key);
  v_job := provisioning.record(v_job, 'CREATED', provisioning.system_actor(v_job.id, 'system'));
  perform provisioning.start_next(v_job);
  select j.* into v_job from provisioning.jobs j where j.id = v_job.id;
  v_asks := provisioning.asks_for(v_job);
  if v_asks is not null then
    update provisioning.jobs j set asked_for = v_asks, asked_since = clock_timestamp() where j.id = v_job.id;
  end if;
  v_held := provisioning.held_words(v_job.id);
  if v_held is not null then
    perform provisioning.tell(v_job, v_held, p_asks => v_asks is not null);
  end if;
end
$$;
comment on function provisioning.create_job(text, boolean) is 'Makes the job of a confirmed request and begins it when it may.';
