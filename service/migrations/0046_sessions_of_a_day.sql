create index voice_sessions_of_day on voice_sessions (tenant_id, created_at)
  include (id, call_sid, started_at, ended_at, cost_usd, end_reason) where started_at is not null;
