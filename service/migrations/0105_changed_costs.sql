-- What a call costs is counted again also when nothing else of it changes: it is counted from the log.
create or replace trigger call_logs_changed
  after update of status, answered_at, ended_at, duration_seconds, escalated, voice_session_id, agent_key, agent_version_id,
                  version_number, cost_usd on call_logs
  for each row
  when ((old.status, old.answered_at, old.ended_at, old.duration_seconds, old.escalated, old.voice_session_id, old.agent_key,
         old.agent_version_id, old.version_number, old.cost_usd)
        is distinct from
        (new.status, new.answered_at, new.ended_at, new.duration_seconds, new.escalated, new.voice_session_id, new.agent_key,
         new.agent_version_id, new.version_number, new.cost_usd))
  execute function note_call_change();
