import type { CallApp } from '../harness/call-app.ts'
import { sign } from '../harness/carrier-signature.ts'
import { ACCOUNT } from '../harness/served-app.ts'
import { type ApiDocument, operationAt } from '../interface/described-api.ts'
import type { Caller } from './callers.ts'
import { type FreshRows, numberOf } from './fresh-rows.ts'

/** A request that everybody who may make it is granted. */
export type SoundRequest = {
  method: string
  path: string
  headers: Record<string, string>
  body?: string | URLSearchParams
}

type Parts = { app: CallApp; api: ApiDocument; rows: FreshRows }

/** Whoever the examples of the descriptions speak of. */
const SOMEBODY = 'grace@acme.example'
const OF_CARRIER = /^POST \/api\/v1\/(incoming-call|call-status|call-resume)/

/** Makes a request to a route, for real rows of the tenant `acme`; what a caller does is done in their own name. */
export async function soundRequest({ app, api, rows }: Parts, route: string, caller: Caller): Promise<SoundRequest> {
  const [method = '', url = ''] = route.split(' ')
  const path = await rows.fill(route, url, caller)
  if (OF_CARRIER.test(route)) return { method, path, ...ofCarrier(app, path) }
  const operation = operationAt(api, route)
  if (!operation) throw new Error(`${route} is not described`)
  const [taken] = Object.entries(operation.requestBody?.content ?? {})
  if (!taken) return { method, path, headers: {} }
  const [type, { example }] = taken
  const body = (await rows.body(route, caller)) ?? example
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { method, path, headers: { 'content-type': type }, body: text.replaceAll(SOMEBODY, caller.name) }
}

/** Signed, of a call to a number that nobody has. */
function ofCarrier(app: CallApp, path: string) {
  const form = { CallSid: 'CA0', AccountSid: ACCOUNT.sid, From: numberOf(1), To: numberOf(2), CallStatus: 'ringing' }
  const signature = sign(app.served.app.publicUrl() + path, form, ACCOUNT.token)
  return { headers: { 'x-twilio-signature': signature }, body: new URLSearchParams(form) }
}
