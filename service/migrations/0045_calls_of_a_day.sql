-- By itself, so that nothing else is locked while it is made: what the calls of a day have taken is summed from this and the next.
create index call_logs_of_day on call_logs (tenant_id, created_at) include (call_sid, answered_at, ended_at)
  where direction <> 'browser' and answered_at is not null;
