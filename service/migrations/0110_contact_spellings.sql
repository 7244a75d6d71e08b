-- What 0108 does for tasks, for the contacts of campaigns: behind this file each who may be called yet has the number without the prefix of
-- its country (migration-steps.ts). By the other spelling the calls of a day were counted apart. Where a campaign has both spellings of a
-- number, the contact with the prefix is cancelled: the person is called once, by the other one.
select 1;
