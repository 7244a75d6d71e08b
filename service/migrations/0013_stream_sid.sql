-- Live calls, found by their stream and listed by their tenant, whichever node has them. Only those that are not over: few.
create index voice_sessions_live on voice_sessions (tenant_id, stream_sid) where ended_at is null;
