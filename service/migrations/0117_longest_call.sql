-- How long the call may last, by the agent that it began with: one that it was handed to changes nothing of that. Null of what was begun before.
alter table voice_sessions add column max_call_seconds integer;
