-- What calls of a day have cost whose sessions were erased: their logs alone know it.
create index call_logs_erased_of_day on call_logs (tenant_id, created_at) include (answered_at, call_sid, cost_usd)
  where voice_session_id is null and cost_usd is not null;
