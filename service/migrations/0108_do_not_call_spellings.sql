-- An earlier version took numbers with the prefix that their own country dials before them (+4402…), and such an entry holds for nobody
-- who is called without it. Which numbers those are the code knows, by the rule by which it refuses them now: behind this file it lists
-- each without the prefix, too (operators/do-not-call-spellings.ts). An entry with one stays as it is.
select 1;
