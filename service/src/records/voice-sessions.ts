import { AtATime } from '../kernel/at-a-time.ts'
import { AppError, invalidRequest } from '../kernel/errors.ts'
import type { TenantId } from '../kernel/ids.ts'
import type { PageRequest } from '../kernel/pages.ts'
import type { JsonPage } from '../platform/db/json-page.ts'
import { isUuid } from '../platform/db/newest-first.ts'
import type { Db } from '../platform/db/schema.ts'
import type { SessionId } from './call-values.ts'
import { isPartOfWords } from './session-search-store.ts'
import { listActionsOfCall, type SupervisorAction } from './supervisor-action-store.ts'
import { type FunctionCallRow, listFunctionCalls, listTurns, type TurnRow } from './transcript-store.ts'
import { findVoiceSession, listVoiceSessions, type SessionFilter, type VoiceSessionRow } from './voice-session-store.ts'

/** A session with all that was said and done in it, and to it. */
export type WholeSession = {
  session: VoiceSessionRow
  turns: TurnRow[]
  calls: FunctionCallRow[]
  actions: SupervisorAction[]
}

/** What sessions are looked for by: `q` is in the words of a searcher. */
export type SessionQuery = Omit<SessionFilter, 'phrases'> & { q?: string | undefined }

/** The conversations that tenants have had. */
export type VoiceSessions = {
  /**
   * Newest first, as the API shows them. Of `q` each word, and each phrase in double quotes, must have been said somewhere in the conversation; what
   * has neither letter nor digit is no word, and a search without a word finds nothing.
   *
   * @throws AppError `invalid_request` for more than ten of them; `rate_limited` while too many look for parts of words.
   */
  list(tenantId: TenantId, query: SessionQuery, page: PageRequest): Promise<JsonPage>
  /** @throws AppError `not_found` when the tenant has no such session. */
  get(tenantId: TenantId, sessionId: string): Promise<WholeSession>
}

/** Each reads all that was ever said to its tenant; of what a database has all else needs the larger part. */
const PARTS_AT_A_TIME = {
  ...{ ofTenant: 2, inAll: 4 },
  tooMany: 'Too many searches for parts of words are under way: ask again once one is answered.',
}

export function makeVoiceSessions({ db }: { db: Db }): VoiceSessions {
  const parts = new AtATime(PARTS_AT_A_TIME)
  return {
    async list(tenantId, { q, ...filter }, page) {
      const phrases = q === undefined ? undefined : phrasesOf(q)
      if (phrases?.length === 0) return { json: '[]', count: 0, nextCursor: null }
      const found = () => listVoiceSessions(db, tenantId, { ...filter, phrases }, page)
      return phrases?.some(isPartOfWords) ? parts.run(tenantId, found) : found()
    },
    async get(tenantId, sessionId) {
      const session = isUuid(sessionId) ? await findVoiceSession(db, tenantId, sessionId as SessionId) : null
      if (!session) throw new AppError('not_found', 'There is no such voice session.')
      const { id, call_sid: callSid } = session
      return {
        session,
        turns: await listTurns(db, tenantId, id),
        calls: await listFunctionCalls(db, tenantId, id),
        actions: await listActionsOfCall(db, tenantId, callSid),
      }
    },
  }
}

/** Each of them is one more question to the database. */
const MAX_PHRASES = 10

/** `refund "next week"` asks for the word refund and for the phrase next week. @throws AppError `invalid_request` for too many. */
function phrasesOf(q: string): string[] {
  const found = [...q.matchAll(/"([^"]*)"|[^\s"]+/g)].map(([word, phrase]) => phrase ?? word)
  const phrases = [...new Set(found.filter((text) => /[\p{L}\p{N}]/u.test(text)))]
  if (phrases.length <= MAX_PHRASES) return phrases
  const message = `has more than ${MAX_PHRASES} words: put what was said together into double quotes`
  throw invalidRequest([{ path: '/query/q', message }])
}
