-- How an answer to the caller came about, in ms since the session's start; null of all other turns.
alter table transcript_turns add column timeline jsonb;
