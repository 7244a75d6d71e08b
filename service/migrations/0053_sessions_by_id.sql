-- Where sessions that a search names by their ids stand in the order of lists, told without reading them.
create index voice_sessions_by_id on voice_sessions (tenant_id, id) include (created_at);
