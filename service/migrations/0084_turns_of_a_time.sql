-- When a turn's session was made, so that a search sorts the turns in which something was said without reading the session of each.
-- Null for turns from before: theirs is read. By a trigger, so that the release before this one writes it too.
alter table transcript_turns add column session_created_at timestamptz(3);

create function note_session_created_at() returns trigger language plpgsql as $$
begin
  select created_at into new.session_created_at from voice_sessions
   where voice_sessions.tenant_id = new.tenant_id and voice_sessions.id = new.session_id;
  return new;
end $$;

create trigger transcript_turns_session_created_at before insert on transcript_turns
  for each row execute function note_session_created_at();
