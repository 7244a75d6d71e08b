import { queryOptions } from '@tanstack/react-query'
import type { paths } from '../../api/api-types.ts'
import { answerOf, api, forTenant } from '../../api/client.ts'
import type { ListPart } from '../../components/list-part.ts'
import { dialled, phoneText } from '../../components/text.ts'
import type { CallFilters, ConversationFilters } from './call-filters.ts'
import { madeWithin } from './call-span.ts'

type Answer<Path extends '/api/v1/call-logs/{call_sid}' | '/api/v1/voice-sessions' | '/api/v1/voice-sessions/{id}'> =
  paths[Path]['get']['responses'][200]['content']['application/json']

/** A call, as the carrier and the service told of it. */
export type CallLog = Answer<'/api/v1/call-logs/{call_sid}'>['call_log']

/** Who called whom. */
export function partiesText({ from, to }: Pick<CallLog, 'from' | 'to'>): string {
  return `${phoneText(from)} → ${phoneText(to)}`
}

/** What was said and done in it. */
export type VoiceSession = Answer<'/api/v1/voice-sessions/{id}'>['voice_session']

/** A conversation as lists show it, without what was said in it. */
export type Conversation = Answer<'/api/v1/voice-sessions'>['voice_sessions'][number]

type Query<Path extends '/api/v1/call-logs' | '/api/v1/voice-sessions'> = NonNullable<
  paths[Path]['get']['parameters']['query']
>

/** Of all calls of a tenant: what a new call makes out of date. */
export const callsKey = (tenantId: string) => ['calls', tenantId]

/** Whoever reads on in a long list gets more at once. */
const FURTHER_ROWS = 200

/** One page of the calls, newest first. What the address says wrongly the service refuses. */
export async function listCalls(
  tenantId: string,
  { first_day, last_day, since, until, from, to, ...filters }: CallFilters,
  cursor: string | undefined,
): Promise<ListPart<CallLog>> {
  const span = madeWithin({ first_day, last_day, since, until })
  const numbers = { from: dialled(from), to: dialled(to) }
  const query = { ...filters, ...numbers, ...span, ...further(cursor) } as Query<'/api/v1/call-logs'>
  const answer = await answerOf(api.GET('/api/v1/call-logs', { params: { query }, headers: forTenant(tenantId) }))
  return { rows: answer.call_logs, next: answer.next_cursor }
}

/** One page of the conversations, newest first. */
export async function listConversations(
  tenantId: string,
  { first_day, last_day, from, to, ...filters }: ConversationFilters,
  cursor: string | undefined,
): Promise<ListPart<Conversation>> {
  const span = madeWithin({ first_day, last_day })
  const numbers = { from: dialled(from), to: dialled(to) }
  const query = { ...filters, ...numbers, ...span, ...further(cursor) } as Query<'/api/v1/voice-sessions'>
  const answer = await answerOf(api.GET('/api/v1/voice-sessions', { params: { query }, headers: forTenant(tenantId) }))
  return { rows: answer.voice_sessions, next: answer.next_cursor }
}

function further(cursor: string | undefined): object {
  return cursor === undefined ? {} : { cursor, limit: FURTHER_ROWS }
}

/** A call by the id that the carrier gave it. */
export const callQuery = (tenantId: string, callSid: string) =>
  queryOptions({
    queryKey: [...callsKey(tenantId), callSid],
    queryFn: async () => {
      const params = { path: { call_sid: callSid } }
      const answer = await answerOf(api.GET('/api/v1/call-logs/{call_sid}', { params, headers: forTenant(tenantId) }))
      return answer.call_log
    },
  })

/** What a campaign is called for which calls were placed. */
export const campaignNameQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: [...callsKey(tenantId), 'campaign name', id],
    queryFn: async () => {
      const asked = { params: { path: { id } }, headers: forTenant(tenantId) }
      return (await answerOf(api.GET('/api/v1/campaigns/{id}', asked))).campaign.name
    },
  })

/** What was said in a call. */
export const voiceSessionQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: [...callsKey(tenantId), 'session', id],
    queryFn: async () => {
      const params = { path: { id } }
      const answer = await answerOf(api.GET('/api/v1/voice-sessions/{id}', { params, headers: forTenant(tenantId) }))
      return answer.voice_session
    },
  })

/** A call to be placed. What is empty the service chooses. */
export type NewCall = { to: string; agent_key: string; from: string; greeting: string; consent: boolean }

/** Places a call, one for a key however often it is asked. Returns its id; null for one that the carrier did not confirm in time. */
export async function placeCall(
  tenantId: string,
  { to, agent_key, from, greeting, consent }: NewCall,
  key: string,
): Promise<string | null> {
  const body = {
    to: dialled(to),
    agent_key: agent_key || null,
    from: dialled(from.trim()) || null,
    greeting: greeting.trim() || null,
    ...(consent && { metadata: { consent } }),
  }
  const headers = { ...forTenant(tenantId), 'idempotency-key': key }
  return (await answerOf(api.POST('/api/v1/make-call', { body, headers }))).call_sid
}

/** Gives up a call that was placed and that nobody has answered yet. */
export async function cancelCall(tenantId: string, callSid: string): Promise<CallLog> {
  const asked = { params: { path: { call_sid: callSid } }, headers: forTenant(tenantId) }
  return (await answerOf(api.POST('/api/v1/call-logs/{call_sid}/cancel', asked))).call_log
}

/** What a person thinks of a call. Scores are from 0 to 1. */
export type Verdict = {
  score: number
  criteria: { name: string; score: number; reason: string | null }[]
  summary: string | null
}

/** Has the chat model score a call now, or writes down what a person thinks of it. Returns the score that it was given. */
export async function scoreCall(tenantId: string, id: string, verdict?: Verdict): Promise<number> {
  const asked = { params: { path: { id } }, body: verdict ?? {}, headers: forTenant(tenantId) }
  return (await answerOf(api.POST('/api/v1/voice-sessions/{id}/evaluations', asked))).evaluation.score
}

/** Erases for good what was said in a call. */
export async function eraseSession(tenantId: string, id: string): Promise<void> {
  const asked = { params: { path: { id } }, headers: forTenant(tenantId) }
  await answerOf(api.DELETE('/api/v1/voice-sessions/{id}', asked))
}
