import { type RawBuilder, sql } from 'kysely'
import type { TenantId } from '../kernel/ids.ts'
import { WITHOUT_BLANKS } from '../kernel/writing.ts'

/** What is looked for: the `limit` newest of the tenant's sessions that fulfil `where` and in which each phrase was said. */
type SessionSearch = { tenantId: TenantId; phrases: readonly string[]; where: RawBuilder<unknown>; limit: number }

/** How many of the newest sessions tell how common the phrases are. */
const SAMPLED = 64
/** Where so many of those are found, going through the newest sessions fills a page sooner than asking the index. */
const COMMON = 3
/** So many for each row that is asked for, half as many again as the sample promises. */
const WALKED_PER_ROW = (1.5 * SAMPLED) / COMMON
/**
 * Rounded up to one of these, each of which makes a statement of its own; not fewer than the first, which are gone through whatever is
 * sought if there are no more, and not more than the last: what was said often of late need not have been before.
 */
const WALKED = [1_000, 1_700, 3_500, 7_000]
const WALKED_MOST = 20_000

/**
 * Which sessions they are, as a query for their ids; it is to be asked in one statement with what is shown of them.
 *
 * Two ways lead there, and neither suits all words. What is said all the time is found in the newest sessions, where the index
 * would first name each turn in which it was ever said. What is rare is found by the index alone. So a sample of the newest
 * decides, and where going through them fills no page, the index is asked. The order in which things are looked up is said by
 * limits and offsets: it must not depend on a guess at how often somebody said something. Either way goes newest first and reads
 * no further than to the last row of the page: `recent` as it is written, for to sort it would be to read all of it.
 */
export function searchedSessions({ tenantId, phrases, where, limit }: SessionSearch): RawBuilder<unknown> {
  // The longest is the rarest, as a rule.
  const sought = phrases.toSorted((a, b) => b.length - a.length)
  const said = sought.map((phrase) => turnOf(tenantId, phrase))
  const walked = WALKED.find((rows) => rows >= limit * WALKED_PER_ROW) ?? WALKED_MOST
  const eachSaid = sql.join(
    said.map((turn, i) => sql`cross join lateral (${turn}) ${sql.ref(`turn${i}`)}`),
    sql` `,
  )
  const newestFirst = (rows: RawBuilder<unknown>) => sql`order by created_at desc, id desc limit ${rows}`
  const fewerThan = (count: number) =>
    sql`(select count(*) < ${sql.lit(count)} from (select from recent limit ${sql.lit(count)}) newest)`
  return sql`
    with recent as materialized (
      select id, created_at from voice_sessions where ${where} ${newestFirst(sql.lit(walked))}),
    sample as materialized (${sampled(said, fewerThan(Math.min(...WALKED)))}),
    near as materialized (
      select id from recent voice_sessions ${eachSaid}
       where (select is_near from sample) limit ${limit}),
    far as materialized (
      select id from (
             select distinct on (created_at, session_id) created_at, session_id from (${indexed(tenantId, sought)}) turns
              order by created_at desc, session_id desc) named
       cross join lateral (select id from voice_sessions where ${where} and id = named.session_id offset 0) voice_sessions
             ${said.length === 1 ? sql`` : eachSaid}
       where (select count(*) < ${limit} from near) and not ((select is_near from sample) and ${fewerThan(walked)})
       order by named.created_at desc, named.session_id desc limit ${limit})
    select id from near union all select id from far`
}

/** One turn of `voice_sessions.id` in which a phrase was said. By its limit it is looked for session by session. */
function turnOf(tenantId: TenantId, phrase: string): RawBuilder<unknown> {
  return sql`
    select true as is_said from transcript_turns turn
     where turn.tenant_id = ${tenantId} and turn.session_id = voice_sessions.id and ${matches(phrase)} limit 1`
}

/**
 * `is_near`: whether to go through the newest sessions, as they promise to fill a page or are few; `rarest`: which phrase was said
 * in the fewest, from 0. By its offset each phrase is looked for once, not once for each count.
 */
function sampled(said: RawBuilder<unknown>[], areFew: RawBuilder<unknown>): RawBuilder<unknown> {
  const found = said.map((turn, i) => sql`(${turn}) as ${sql.ref(`is_said${i}`)}`)
  const isSaid = said.map((_, i) => sql.ref(`is_said${i}`))
  const counts = sql.join(isSaid.map((name) => sql`count(${name})`))
  return sql`
    select count(*) filter (where ${sql.join(isSaid, sql` and `)}) >= ${sql.lit(COMMON)} or ${areFew} as is_near,
           array_position(array[${counts}], least(${counts})) - 1 as rarest
      from (select ${sql.join(found)} from (select id from recent limit ${sql.lit(SAMPLED)}) voice_sessions offset 0) sampled`
}

/**
 * The sessions in which the rarest phrase was said and when they were made, which older turns do not know, by the index over tenants
 * and words. The tenant is named as that index has it, and not also as the key has it, by which all that was ever said to the tenant
 * would be read.
 */
function indexed(tenantId: TenantId, phrases: string[]): RawBuilder<unknown> {
  const createdAt = sql`
    (select created_at from voice_sessions session where session.tenant_id = ${tenantId} and session.id = turn.session_id)`
  const found = phrases.map(
    (phrase, i) => sql`
      select turn.session_id, coalesce(turn.session_created_at, ${createdAt}) as created_at from transcript_turns turn
       where array[turn.tenant_id] @> array[${tenantId}]::text[] and ${matches(phrase)}
         and (select rarest from sample) = ${sql.lit(i)}`,
  )
  return sql.join(found, sql` union all `)
}

/** Whether no index has a phrase: it is looked for in all that was ever said to the tenant, which takes seconds of millions of turns. */
export function isPartOfWords(phrase: string): boolean {
  return WITHOUT_BLANKS.test(phrase) || /\p{Script=Hangul}/u.test(phrase)
}

/**
 * The phrase is parsed once, and not where the plan can guess by it: for a frequent one it would make room for thousands of rows. Writing
 * without blanks is one word to the index, from one mark to the next, and a Korean noun is one with what follows it: what is part of such a
 * word is looked for in the texts of the tenant.
 */
function matches(phrase: string): RawBuilder<boolean> {
  if (isPartOfWords(phrase)) return sql`turn.text ilike ${`%${phrase.replaceAll(/[\\%_]/g, '\\$&')}%`}`
  return sql`turn.search @@ (select phraseto_tsquery('simple', ${phrase}))`
}
