-- What the tenant's other calls had taken of its day when the call began, so that it goes on with that wherever it goes on.
alter table voice_sessions add column day_spent jsonb;

-- When a call last had the clip, to the day; null until it was a day old. Those used longest ago go first.
alter table clips add column used_at timestamptz(3);

-- The session of one of its calls was erased: what its tenant has said of it goes as soon as it is called no more.
alter table campaign_contacts add column forget_metadata boolean not null default false;
create function forget_contact() returns trigger language plpgsql as $$
begin
  new.metadata := '{}';
  return new;
end $$;
create trigger campaign_contacts_forgotten before update on campaign_contacts for each row
  when (new.forget_metadata and new.status not in ('pending', 'dialing')) execute function forget_contact();
