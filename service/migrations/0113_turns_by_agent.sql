-- Which of the agents that had the call has said it, by its name at that time; null of whom else, and of what was said before this was kept.
alter table transcript_turns add column agent_name text;
