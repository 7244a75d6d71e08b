import type { Answer } from '../../api/answers.ts'
import { answerOf, api, fileOf, forTenant } from '../../api/client.ts'
import { asFailure } from '../../api/failure.ts'
import type { ListPart } from '../../components/list-part.ts'
import { dialled } from '../../components/text.ts'

/** A number that must not be called. */
export type Entry = Answer<'/api/v1/dnc/{phone}', 'get'>['entry']

/** What came of a list, or of a part of one. */
export type Imported = Omit<Answer<'/api/v1/dnc/import', 'post'>, 'ok'>

/** Whether a number may be called, and what speaks against it. */
export type DialCheck = Omit<Answer<'/api/v1/dial-check', 'post'>, 'ok'>

/** Of the whole list of a tenant. */
export const listKey = (tenantId: string) => ['do-not-call', tenantId]

/** One page of the numbers, newest first; with a number, its entry alone. */
export async function listEntries(
  tenantId: string,
  phone: string | undefined,
  cursor: string | undefined,
): Promise<ListPart<Entry>> {
  const headers = forTenant(tenantId)
  if (phone !== undefined) return { rows: await entriesOf(tenantId, phone), next: null }
  const answer = await answerOf(api.GET('/api/v1/dnc', { params: { query: { cursor } }, headers }))
  return { rows: answer.entries, next: answer.next_cursor }
}

async function entriesOf(tenantId: string, phone: string): Promise<Entry[]> {
  const asked = { params: { path: { phone: dialled(phone) } }, headers: forTenant(tenantId) }
  try {
    return [(await answerOf(api.GET('/api/v1/dnc/{phone}', asked))).entry]
  } catch (error) {
    if (asFailure(error).status === 404) return []
    throw error
  }
}

/** Lists a number. */
export function addEntry(tenantId: string, phone: string, reason: string) {
  const body = { phone: dialled(phone), source: 'dashboard', ...(reason !== '' && { reason }) }
  return answerOf(api.POST('/api/v1/dnc', { body, headers: forTenant(tenantId) }))
}

/** Lets a number be called again. */
export function removeEntry(tenantId: string, phone: string) {
  return answerOf(api.DELETE('/api/v1/dnc/{phone}', { params: { path: { phone } }, headers: forTenant(tenantId) }))
}

/** Lists the numbers of a CSV of 2 MiB at most. */
export async function importEntries(tenantId: string, csv: string): Promise<Imported> {
  const headers = { ...forTenant(tenantId), 'content-type': 'text/csv' }
  return answerOf(api.POST('/api/v1/dnc/import', { body: csv, bodySerializer: (text: string) => text, headers }))
}

/** The whole list as CSV. */
export function exportedEntries(tenantId: string): Promise<Blob> {
  return fileOf('/api/v1/dnc/export', tenantId)
}

/** A call of which somebody wants to know whether it may be placed. */
export type CheckedCall = { to: string; consent: boolean }

/** Asks whether a number may be called now, without calling it. */
export function checkDial(tenantId: string, { to, consent }: CheckedCall): Promise<DialCheck> {
  const body = { to: dialled(to.trim()), ...(consent && { metadata: { consent } }) }
  return answerOf(api.POST('/api/v1/dial-check', { body, headers: forTenant(tenantId) }))
}
