import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '../kernel/clock.ts'
import { AppError } from '../kernel/errors.ts'
import { phoneNumberOf, shownNumber } from '../kernel/phone.ts'
import { type Form, formOf, takeForms } from '../platform/http/forms.ts'
import { errorResponses, Ok } from '../platform/http/schemas.ts'
import type { SignedRequest } from '../platform/telephony/port.ts'
import type { Carriers } from '../platform/telephony/registry.ts'
import type { CallReport } from '../records/call-record.ts'
import { isOver } from '../records/call-status.ts'
import { storable } from '../records/storable.ts'
import { MAX_ASKED_AGAIN } from './ask-again.ts'
import type { CallResume } from './call-resume.ts'
import type { CallStatusCallbacks, ToldStatus } from './call-status.ts'
import type { CarrierAnswer, Incoming } from './incoming.ts'
import type { Dialled } from './resumed-call.ts'
import { readStatusCallback } from './status-callback.ts'
import type { IncomingCall } from './take-incoming.ts'

type Deps = {
  clock: Clock
  incoming: Incoming
  resume: CallResume
  statuses: CallStatusCallbacks
  carriers: Carriers
  /** The public address of this service: what the carrier signed is read from it, never from a header. */
  publicUrl: () => string
}

/** Ids go into documents and addresses. */
const CALL_SID = /^[\w.:-]{1,64}$/
const MAX_PARTY_CHARS = 200
/** How often in a row a carrier was told to ask again. */
export const Again = Type.Integer({ minimum: 1, maximum: MAX_ASKED_AGAIN })

/** What carriers ask and tell: signed forms, answered by documents in the carrier's own language. */
export function incomingRoutes({
  clock,
  incoming,
  resume,
  statuses,
  carriers,
  publicUrl,
}: Deps): FastifyPluginAsyncTypebox {
  function signed(request: FastifyRequest): SignedRequest {
    return { url: publicUrl() + request.url, headers: request.headers, form: formOf(request).fields() }
  }

  function callIn(request: FastifyRequest, again: number): IncomingCall {
    const form = formOf(request)
    const from = partyIn(form, 'From')
    // Tasks, lists and other calls know the caller by that one spelling.
    const parties = { from: phoneNumberOf(from) ?? from, to: partyIn(form, 'To') }
    return { ...idsIn(form), ...parties, again, signed: signed(request) }
  }

  /** A carrier that asks is answered in any case. */
  async function noteEnd(told: ToldStatus): Promise<void> {
    await statuses.take(told).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'unauthorized') throw error
    })
  }

  function written({ provider, verbs }: CarrierAnswer) {
    return carriers[provider].document(verbs)
  }

  const twiml = { 200: { content: { 'text/xml': { schema: Type.String() } } }, ...errorResponses }
  const answer = { tags: ['callbacks'], consumes: ['application/x-www-form-urlencoded'], response: twiml }
  return async (app) => {
    takeForms(app)

    app.post(
      '/api/v1/incoming-call',
      {
        schema: {
          ...answer,
          summary: 'Answer a call that comes in',
          operationId: 'answerIncomingCall',
          // Numbers may be connected to an address with a query of their own.
          querystring: Type.Object({ again: Type.Optional(Type.String()) }, { additionalProperties: true }),
        },
      },
      async (request, reply) => {
        const { body, contentType } = written(await incoming.answer(callIn(request, timesIn(request.query.again))))
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/call-resume',
      {
        schema: {
          ...answer,
          summary: 'Say what comes next for a call',
          operationId: 'resumeCall',
          // So may the address that is asked where they fail.
          querystring: Type.Object({ again: Type.Optional(Again) }, { additionalProperties: true }),
        },
      },
      async (request, reply) => {
        const { again = 0 } = request.query
        const form = formOf(request)
        const isPlaced = form.get('Direction').startsWith('outbound')
        const parties = {
          direction: isPlaced ? 'outbound' : 'inbound',
          from: partyIn(form, 'From'),
          to: partyIn(form, 'To'),
        }
        const told = { dialled: dialledIn(form), isPlaced, callerId: shownNumber(parties) }
        const of = { ...idsIn(form), signed: signed(request) }
        const end = endIn(form, new Date(clock.now()))
        const unanswered = unansweredIn(form)
        // Who has been with others was put through first.
        if (end && told.dialled !== 'through') await noteEnd({ ...of, report: end })
        const next = unanswered
          ? await incoming.answer(callIn(request, timesIn(unanswered.searchParams.get('again'))))
          : await resume.next({ ...of, again, ...told })
        if (end && told.dialled === 'through') await noteEnd({ ...of, report: end })
        const { body, contentType } = written(next)
        return reply.type(contentType).send(body)
      },
    )

    app.post(
      '/api/v1/call-status',
      {
        schema: {
          tags: ['callbacks'],
          summary: 'Take what a carrier tells of a call or its stream',
          operationId: 'takeCallStatus',
          response: { 200: Type.Object({ ok: Ok }), ...errorResponses },
        },
      },
      async (request) => {
        const form = formOf(request)
        const isOfStream = form.get('StreamEvent') !== ''
        const told = isOfStream ? null : readStatusCallback(form.toObject(), new Date(clock.now()))
        const streamError = storable(form.get('StreamError').slice(0, MAX_PARTY_CHARS))
        await statuses.take({ ...idsIn(form), report: told?.report ?? null, streamError, signed: signed(request) })
        return { ok: true as const }
      },
    )
  }
}

/** What is no id is left empty, not refused: whether the request is the carrier's is settled first. */
export function idsIn(form: Form): { callSid: string; accountSid: string } {
  const callSid = form.get('CallSid')
  const accountSid = storable(form.get('AccountSid').slice(0, MAX_PARTY_CHARS))
  return { callSid: CALL_SID.test(callSid) ? callSid : '', accountSid }
}

/**
 * Where the carrier got no answer when it told of a call that comes in, as of a node that was lost: it asks here in place of there. Null
 * when that is not why it asks.
 */
function unansweredIn(form: Form): URL | null {
  const url = URL.parse(form.get('ErrorUrl'))
  return url?.pathname.endsWith('/incoming-call') ? url : null
}

/** How often in a row a carrier was told to ask again, by an address that numbers may be connected to with a query of their own. */
function timesIn(text: string | null | undefined): number {
  const times = Number(text)
  return Number.isInteger(times) && times > 0 ? Math.min(times, MAX_ASKED_AGAIN) : 0
}

/** What came of ringing somebody in the call's place; null when that is not why the carrier asks. */
function dialledIn(form: Form): Dialled | null {
  switch (form.get('DialCallStatus')) {
    case '':
      return null
    case 'completed':
      return 'through'
    // A carrier's word for a conference, however long it was and whether anybody else came to it.
    case 'answered':
      return 'room_over'
    case 'busy':
      return 'busy'
    case 'no-answer':
      return 'no_answer'
    default:
      return 'failed'
  }
}

/** The end of a call whose caller has hung up on others comes with what became of those; not every number tells of it otherwise. */
function endIn(form: Form, receivedAt: Date): CallReport | null {
  const report = readStatusCallback(form.toObject(), receivedAt)?.report
  return report?.status && isOver(report.status) ? report : null
}

function partyIn(form: Form, name: 'From' | 'To'): string {
  return storable(form.get(name).slice(0, MAX_PARTY_CHARS))
}
