-- Whether a call that lost its model was handed to its tenant's fallback number, as the number was then; null where that is not known.
alter table call_directory add column is_at_fallback boolean;
