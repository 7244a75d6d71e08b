-- Beside clips_newest, which the release before still asks.
create index clips_newest_used on clips (tenant_id, coalesce(used_at, created_at) desc, clip_key desc);
