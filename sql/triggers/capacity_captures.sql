-- What Slack and Linear call a request is kept under the request too. The condition keeps the captures of other streams free of it.
create or replace trigger keep_capture after insert or update on outbox.captures
  for each row when (new.name in ('slack_thread_ts', 'linear_issue_id')) execute function capacity.keep_capture();
