-- What is made of a conversation once it is over: what it was about, and what its agent version wants taken from it.
alter table voice_sessions
  add column summary           text,
  add column extraction        jsonb,
  add column extraction_status text check (extraction_status in ('pending', 'filled', 'missing')),
  add column extraction_reason text,
  -- Its end is told once the extraction is there, or has been waited for long enough.
  add column completion_held   boolean not null default false;
create index voice_sessions_held on voice_sessions (ended_at) where completion_held;
